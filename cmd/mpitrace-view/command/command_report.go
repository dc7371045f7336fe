// SPDX-License-Identifier: Apache-2.0

package command

import (
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mpitrace/mpitrace/cmd/internal/usage"
	"github.com/mpitrace/mpitrace/internal/analysis"
	"github.com/mpitrace/mpitrace/internal/analysis/report"
	"github.com/mpitrace/mpitrace/internal/terminal"
)

type reportOptions struct {
	input    input
	part     selection
	output   output
	top      int
	sort     string
	allRanks bool
	sections []string
	width    int
	color    terminal.Color
}

func newReport() *cobra.Command {
	o := reportOptions{input: input{sites: true}}
	cmd := &cobra.Command{
		Use:   "report [options] FILE|DIR...",
		Short: "Say where the time went: functions, ranks, call sites, message sizes, regions",
		Long: `report adds up how long which ranks were in which MPI functions, called from
where, and what they sent and received. What is missing from the trace, and what
recording it cost the program, is said first.

Application time is from the end of MPI_Init to the begin of MPI_Finalize, for
each rank. "app %" is a function's share of the application time of all ranks,
"MPI %" its share of the time in MPI, "imbalance" how much longer the rank with
the most time took than the mean of all ranks, and which rank that is. Median and
p99 are within 1 %, everything else is exact. A receive counts its bytes where
it completes: MPI_Waitall receives, MPI_Irecv does not.

--format json has all of it, with times in nanoseconds and sizes in bytes.
--format csv is the one table that --section names.`,
		Example: `  mpitrace-view report trace.*
  mpitrace-view report --sort imbalance --top 5 merged.mpt
  mpitrace-view report --time 1s:2s --ranks 0-3 merged.mpt
  mpitrace-view report --format csv --section sites -o sites.csv merged.mpt`,
		Args:                  filesArgs,
		RunE:                  o.run,
		DisableFlagsInUseLine: true,
	}
	o.input.flags(cmd)
	o.part.ranksFlag(cmd)
	o.part.timeFlag(cmd)
	o.part.funcFlag(cmd)
	o.part.commFlag(cmd)
	o.output.flags(cmd, "text", "json", "csv")
	flags := cmd.Flags()
	flags.IntVar(&o.top, "top", 20, "the first `N` functions, call sites and regions; 0 for all")
	flags.StringVar(&o.sort, "sort", string(report.Orders[0]), "sort functions and call sites by `KEY`: "+join(report.Orders))
	flags.BoolVar(&o.allRanks, "all-ranks", false, "list every rank, not only those that stand out")
	flags.StringSliceVar(&o.sections, "section", nil, "only these `SECTIONS`: "+join(report.Sections))
	flags.IntVar(&o.width, "width", 0, "fit the text into `N` columns (default the terminal's width, else 100)")
	flags.Var(&o.color, "color", "colour the text: auto, always or never")
	_ = cmd.RegisterFlagCompletionFunc("sort", completeOne(report.Orders))
	_ = cmd.RegisterFlagCompletionFunc("section", completeOne(report.Sections))
	return cmd
}

func (o *reportOptions) run(cmd *cobra.Command, args []string) error {
	if err := o.output.check(); err != nil {
		return err
	}
	order, sections, err := o.choices()
	if err != nil {
		return err
	}
	selected, err := o.part.parse()
	if err != nil {
		return err
	}
	o.input.quiet = o.output.format != "csv" // the report says itself what is wrong with the trace
	t, err := o.input.open(cmd, args)
	if err != nil {
		return err
	}
	defer t.Close()
	shown, err := selected.of(t.Trace)
	if err != nil {
		return err
	}
	bar := newProgress(cmd.ErrOrStderr(), "reading", t.Calls())
	profile := analysis.Read(t.Trace, shown, bar.add)
	bar.done()
	profile.Run.Restrictions = o.part.restrictions()
	return o.output.write(cmd, func(w io.Writer) error {
		switch o.output.format {
		case "json":
			e := json.NewEncoder(w)
			e.SetIndent("", "  ")
			return e.Encode(profile)
		case "csv":
			return report.CSV(w, profile, sections[0], order)
		}
		stdout := cmd.OutOrStdout()
		toFile := o.output.file != "-" && o.output.file != ""
		return report.Text(w, profile, report.Options{
			Width:    o.columns(stdout, toFile),
			Colors:   o.color.On(stdout) && (!toFile || o.color == terminal.ColorAlways),
			Top:      o.top,
			AllRanks: o.allRanks,
			Sort:     order,
			Sections: sections,
		})
	})
}

// columns is how wide the text may be.
func (o *reportOptions) columns(stdout io.Writer, toFile bool) int {
	const withoutTerminal = 100
	switch {
	case o.width > 0:
		return o.width
	case toFile:
		return withoutTerminal
	}
	return terminal.Width(stdout, withoutTerminal)
}

// choices checks the flags that choose among names.
func (o *reportOptions) choices() (report.Order, []report.Section, error) {
	order := report.Order(o.sort)
	if !slices.Contains(report.Orders, order) {
		return "", nil, usage.Errorf("--sort %s: want %s", o.sort, join(report.Orders))
	}
	if o.top < 0 {
		return "", nil, usage.Errorf("--top %d: want a number of rows, or 0 for all", o.top)
	}
	var sections []report.Section
	for _, name := range o.sections {
		section := report.Section(name)
		if !slices.Contains(report.Sections, section) {
			return "", nil, usage.Errorf("--section %s: want %s", name, join(report.Sections))
		}
		sections = append(sections, section)
	}
	switch {
	case o.output.format == "csv" && len(sections) != 1:
		return "", nil, usage.Errorf("--format csv is one table: choose it with --section (%s)", join(report.Sections))
	case o.output.format == "json" && len(sections) > 0:
		return "", nil, usage.Errorf("--format json has all sections: leave --section out")
	}
	return order, sections, nil
}

// restrictions says what was selected, in words.
func (s *selection) restrictions() []string {
	list := []string{}
	for _, r := range []struct{ what, value string }{
		{"ranks", s.ranks}, {"time", s.window}, {"functions", s.functions}, {"communicator", s.comm},
	} {
		if r.value != "" {
			list = append(list, r.what+" "+r.value)
		}
	}
	return list
}

// join lists names for help texts and messages.
func join[S ~string](names []S) string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = string(n)
	}
	return strings.Join(list, ", ")
}

// completeOne completes one of a few names.
func completeOne[S ~string](names []S) cobra.CompletionFunc {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = string(n)
	}
	return cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
}
