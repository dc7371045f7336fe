// SPDX-License-Identifier: Apache-2.0

package command

import (
	"encoding/json"
	"os"

	"github.com/spf13/cobra"

	"github.com/mpitrace/mpitrace/cmd/internal/usage"
	"github.com/mpitrace/mpitrace/internal/doctor"
)

type doctorOptions struct {
	format string
	output string
}

func newDoctor() *cobra.Command {
	var o doctorOptions
	cmd := &cobra.Command{
		Use:   "doctor [options] [PROGRAM]",
		Short: "Say what will and will not be recorded of a program, and why",
		Long: `doctor looks at a program and at the machine without running either: which MPI
the program uses and how it is linked, whether another tool stands in the way,
what will not be seen and why, the clock, the output folder and the memory for
rings. Without PROGRAM, it looks at the machine only.

Exit status: 0 if the program will be recorded, 1 if something prevents that,
2 for wrong usage, 3 if PROGRAM cannot be read.`,
		Example: `  mpitrace doctor ./app
  mpitrace doctor --format json ./app`,
		Args:                  cobra.MaximumNArgs(1),
		RunE:                  o.run,
		DisableFlagsInUseLine: true,
	}
	cmd.Flags().StringVar(&o.format, "format", "text", "`text|json`")
	cmd.Flags().StringVarP(&o.output, "output", "o", "-", "write the report to `FILE`, - for standard output")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (o *doctorOptions) run(cmd *cobra.Command, args []string) error {
	if o.format != "text" && o.format != "json" {
		return usage.Errorf("--format %s: not a format (want text or json)", o.format)
	}
	subject := doctor.Subject{Environ: os.Environ()}
	if len(args) > 0 {
		subject.Program = args[0]
	}
	// Without the library there is still something to say; the report has it.
	subject.Library, _ = libraryFile()
	report, err := doctor.Examine(subject)
	if err != nil {
		return err
	}
	w, done, err := openOutput(cmd, o.output)
	if err != nil {
		return err
	}
	if o.format == "json" {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		err = e.Encode(report)
	} else {
		err = report.Text(w)
	}
	if err := done(err); err != nil {
		return err
	}
	if !report.Records {
		return errFindings
	}
	return nil
}
