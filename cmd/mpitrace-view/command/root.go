// SPDX-License-Identifier: Apache-2.0

// Package command is mpitrace-view's command tree: one file a verb
// (command_VERB.go), each with its own options struct, a constructor
// newVERB() *cobra.Command, and a run method that returns an error.
//
// A verb writes data to cmd.OutOrStdout() and everything else to
// cmd.ErrOrStderr(), never exits, and keeps no global state, so that tests run
// it in process and man pages and completions are made from New.
package command

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mpitrace/mpitrace/cmd/internal/usage"
	"github.com/mpitrace/mpitrace/internal/terminal"
	"github.com/mpitrace/mpitrace/internal/version"
)

// Exit codes of mpitrace-view.
const (
	ExitOK       = 0
	ExitFindings = 1 // the command worked, and found something (check, diff)
	ExitUsage    = 2 // the command line is wrong
	ExitInput    = 3 // a file cannot be read, is no trace, or cannot be written
)

// New makes the whole command tree.
func New() *cobra.Command {
	root := &cobra.Command{
		Use:   "mpitrace-view",
		Short: "Merge, analyse and show traces of MPI programs",
		Long: `mpitrace-view reads what libmpitrace recorded: the trace files that the ranks of
a run left behind, or the one file that "mpitrace-view merge" made of them.
Every verb takes rank files, a directory or a merged file alike.

Data goes to standard output, warnings and progress to standard error.
Exit status: 0 all well, 1 there are findings, 2 wrong usage, 3 bad input.`,
		Example: `  mpitrace-view merge trace.*
  mpitrace-view report merged.mpt
  mpitrace-view timeline merged.mpt`,
		Version:           version.Version,
		Args:              cobra.NoArgs,
		SilenceUsage:      true,
		SilenceErrors:     true,
		DisableAutoGenTag: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	root.SetVersionTemplate("mpitrace-view {{.Version}}\n")
	root.AddCommand(verbs()...)
	usage.Watch(root)
	return root
}

// verbs makes every verb, each in the file command_VERB.go.
func verbs() []*cobra.Command {
	return []*cobra.Command{
		newMerge(),
		newDump(),
		newInfo(),
		newReport(),
		newTimeline(),
	}
}

// Run runs the command line args (without the program's name) and returns the
// exit code.
func Run(args []string, stdout, stderr io.Writer) int {
	root := New()
	root.SetArgs(append([]string{}, args...)) // nil would be the process's own
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteC()
	var found findings
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &found):
		return ExitFindings
	case errors.Is(err, syscall.EPIPE):
		return ExitOK // whoever reads the output has seen enough
	}
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(stderr, "mpitrace-view: %s\n", terminal.Clean(strings.TrimSuffix(line, "\n")))
	}
	if usage.Is(err) {
		fmt.Fprintf(stderr, "mpitrace-view: try %q\n", cmd.CommandPath()+" --help")
		return ExitUsage
	}
	return ExitInput
}

// findings is what a verb returns that worked and has findings to report; it
// has printed them.
type findings struct{ count int }

func (f findings) Error() string { return fmt.Sprintf("%d findings", f.count) }
