// SPDX-License-Identifier: Apache-2.0

// Package command is mpitrace's command tree: one file a verb
// (command_VERB.go), each with its own options struct and a constructor.
//
// A verb writes data to cmd.OutOrStdout() and everything else to
// cmd.ErrOrStderr(), and keeps no global state, so that tests run it in
// process and the manual is made from New. Only run leaves the process behind:
// it becomes the program, or ends as the program ended.
package command

import (
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mpitrace/mpitrace/cmd/internal/usage"
	"github.com/mpitrace/mpitrace/internal/launch"
	"github.com/mpitrace/mpitrace/internal/version"
)

// Exit codes of mpitrace. run exits as the command that it started.
const (
	ExitOK       = 0
	ExitFindings = 1 // doctor found something that prevents recording
	ExitUsage    = 2 // the command line is wrong
	ExitInput    = 3 // a file is missing or cannot be read

	ExitCannotRun = 126 // run: the command cannot be executed
	ExitNotFound  = 127 // run: there is no such command
)

// New makes the whole command tree.
func New() *cobra.Command {
	root := &cobra.Command{
		Use:   "mpitrace",
		Short: "Record every MPI call of a program, without recompiling it",
		Long: `mpitrace starts MPI programs under the recorder, libmpitrace.so, which leaves one
trace file per rank; mpitrace-view reads them.

Exit status: 0 all well, 1 there are findings, 2 wrong usage, 3 bad input;
run exits as the command that it started.`,
		Example: `  mpitrace run -- mpirun -n 4 ./app
  mpitrace doctor ./app`,
		Version:           version.Version,
		Args:              cobra.NoArgs,
		SilenceUsage:      true,
		SilenceErrors:     true,
		DisableAutoGenTag: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	root.SetVersionTemplate("mpitrace {{.Version}}\n")
	root.AddCommand(newRun(), newDoctor(), newLib(), newFunctions())
	usage.Watch(root)
	return root
}

// Run runs the command line args (without the program's name) and returns the
// exit code.
func Run(args []string, stdout, stderr io.Writer) int {
	root := New()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteC()
	var ended ended
	var missing *launch.NotFoundError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &ended):
		return ended.code
	case errors.Is(err, errFindings):
		return ExitFindings
	case errors.Is(err, syscall.EPIPE):
		return ExitOK // whoever reads the output has seen enough
	}
	fmt.Fprintf(stderr, "mpitrace: %v\n", err)
	var h hinted
	if errors.As(err, &h) {
		fmt.Fprintf(stderr, "mpitrace: hint: %s\n", h.hint)
	}
	switch {
	case errors.As(err, &missing) && errors.Is(missing.Err, syscall.EACCES):
		return ExitCannotRun
	case errors.As(err, &missing):
		return ExitNotFound
	case usage.Is(err):
		fmt.Fprintf(stderr, "mpitrace: try %q\n", cmd.CommandPath()+" --help")
		return ExitUsage
	}
	return ExitInput
}

// errFindings is what a verb returns that worked and has printed findings.
var errFindings = errors.New("there are findings")

// ended is what run returns when its command has ended: nothing is to be said.
type ended struct{ code int }

func (e ended) Error() string { return fmt.Sprintf("exit status %d", e.code) }

// hinted is an error with a line that says what to do about it.
type hinted struct {
	error
	hint string
}

func (h hinted) Unwrap() error { return h.error }
