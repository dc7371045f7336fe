// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mpitrace/mpitrace/cmd/internal/usage"
	"github.com/mpitrace/mpitrace/internal/config"
	"github.com/mpitrace/mpitrace/internal/launch"
)

type runOptions struct {
	dryRun bool
	values map[string]*string // by variable
}

func newRun() *cobra.Command {
	o := runOptions{values: map[string]*string{}}
	cmd := &cobra.Command{
		Use:   "run [options] [--] COMMAND [ARGUMENT...]",
		Short: "Start a command line under the recorder",
		Long: `run starts COMMAND, which is a launcher's command line (mpirun, mpiexec and
prterun of Open MPI, mpirun and mpiexec of MPICH and Intel MPI, srun of Slurm)
or the program itself. The recorder's library is preloaded into the ranks only,
behind what is preloaded already, and never into the launcher. Standard input
and output, signals and the exit status are the command's.

A launcher is waited for; then run says on standard error what was written, and
what to type next. A program is started in place of this one, so that run can
also stand between a launcher and the program.

Each option sets a variable of the recorder, which can be set in the environment
as well:

` + settingsHelp() + `
Exit status: the command's; 127 if there is no such command, 126 if it cannot be
executed, 2 for wrong usage, 3 if the recorder's library is missing.`,
		Example: `  mpitrace run -- mpirun -n 4 ./app
  mpitrace run --filter p2p,-MPI_Iprobe -- srun -n 128 ./app
  mpitrace run --mode ring --buffer 16M -- mpiexec -n 4 ./app
  mpirun -n 4 mpitrace run ./app`,
		RunE:                  o.run,
		DisableFlagsInUseLine: true,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		},
	}
	flags := cmd.Flags()
	// The program's own options are not ours.
	flags.SetInterspersed(false)
	flags.SortFlags = false
	for _, s := range config.Settings() {
		o.values[s.Name] = flags.String(s.Option(), "", fmt.Sprintf("%s (default %s)", s.Brief, s.Default))
		if s.Switch() {
			flags.Lookup(s.Option()).NoOptDefVal = "1"
		}
		if values := strings.Split(s.Syntax, "|"); len(values) > 1 {
			_ = cmd.RegisterFlagCompletionFunc(s.Option(), cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	flags.BoolVar(&o.dryRun, "dry-run", false, "print the command line that would be run, and do not run it")
	return cmd
}

// settingsHelp is the table of settings as text. Four blanks in front keep the
// manual page from filling its lines.
func settingsHelp() string {
	var b strings.Builder
	for _, s := range config.Settings() {
		fmt.Fprintf(&b, "    %s=%s (default %s)\n", s.Name, s.Syntax, s.Default)
		for _, line := range wrap(s.Help, 68) {
			fmt.Fprintf(&b, "        %s\n", line)
		}
	}
	return b.String()
}

// wrap breaks text into lines of at most width bytes where it can.
func wrap(text string, width int) []string {
	var lines []string
	for _, word := range strings.Fields(text) {
		if n := len(lines); n > 0 && len(lines[n-1])+1+len(word) <= width {
			lines[n-1] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

func (o *runOptions) run(cmd *cobra.Command, command []string) error {
	if len(command) == 0 {
		return usage.Errorf("no command to run")
	}
	settings, err := o.settings(cmd)
	if err != nil {
		return err
	}
	library, err := libraryFile()
	if err != nil {
		return err
	}
	environ := os.Environ()
	effective, _ := config.Parse(append(slices.Clone(settings), environ...))
	// Ranks may start in, or change to, folders of their own; the files are
	// wanted here.
	if settings, err = absoluteOutput(settings, &effective); err != nil {
		return err
	}
	plan, err := launch.Prepare(command, environ, settings, library, launch.Probe)
	if err != nil {
		return err
	}
	if o.dryRun {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), plan)
		return err
	}
	if plan.Launcher == launch.None {
		return plan.Exec()
	}
	started := time.Now()
	status, err := plan.Wait()
	if err != nil {
		return err
	}
	if !effective.Quiet {
		for _, line := range written(effective.Output, started) {
			fmt.Fprintf(cmd.ErrOrStderr(), "mpitrace: %s\n", line)
		}
	}
	if status.Signal != 0 {
		launch.Die(status.Signal)
		return ended{128 + int(status.Signal)}
	}
	if status.Code != 0 {
		return ended{status.Code}
	}
	return nil
}

// settings are the variables that the options set, as NAME=VALUE.
func (o *runOptions) settings(cmd *cobra.Command) ([]string, error) {
	var settings []string
	for _, s := range config.Settings() {
		if !cmd.Flags().Changed(s.Option()) {
			continue
		}
		v := *o.values[s.Name]
		if err := s.Check(v); err != nil {
			return nil, usage.Errorf("--%s=%s: %w", s.Option(), v, err)
		}
		settings = append(settings, s.Name+"="+v)
	}
	return settings, nil
}

// absoluteOutput makes the output's path independent of the ranks' working
// folders, in settings and in effective.
func absoluteOutput(settings []string, effective *config.Config) ([]string, error) {
	const name = "MPITRACE_OUTPUT"
	pattern := effective.Output.String()
	if !filepath.IsAbs(pattern) {
		dir, err := os.Getwd()
		if err != nil {
			return nil, fmt.Errorf("finding the working folder: %w", err)
		}
		pattern = filepath.Join(strings.ReplaceAll(dir, "%", "%%"), pattern)
	}
	output, err := config.ParseOutput(pattern)
	if err != nil {
		return nil, fmt.Errorf("output %s: %w", pattern, err)
	}
	effective.Output = output
	kept := []string{name + "=" + pattern}
	for _, s := range settings {
		if !strings.HasPrefix(s, name+"=") {
			kept = append(kept, s)
		}
	}
	return kept, nil
}
