// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mpitrace/mpitrace/cmd/internal/usage"
	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/internal/config"
	"github.com/mpitrace/mpitrace/internal/symbol"
	"github.com/mpitrace/mpitrace/internal/terminal"
	"github.com/mpitrace/mpitrace/internal/trace"
	"github.com/mpitrace/mpitrace/mpi"
)

// filesArgs wants at least one file or directory.
func filesArgs(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usage.Errorf("no files given; name trace files (trace.*), their directory or a merged file")
	}
	return nil
}

// input is how a verb opens the trace that its arguments name.
type input struct {
	run   string
	jobs  int
	quiet bool // the verb's own output says what is wrong with the trace
	sites bool // the verb shows call sites
}

func (in *input) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&in.run, "run", "", "read the run whose id begins with `ID` (default the newest)")
	cmd.Flags().IntVarP(&in.jobs, "jobs", "j", 0, "use `N` cores (default all)")
}

// open opens the trace and says on standard error what is wrong with it. The
// caller closes it.
func (in *input) open(cmd *cobra.Command, args []string) (*openTrace, error) {
	return in.openWith(cmd, args, trace.Options{})
}

func (in *input) openWith(cmd *cobra.Command, args []string, o trace.Options) (*openTrace, error) {
	if in.jobs < 0 {
		return nil, usage.Errorf("-j %d: want a number of cores, or 0 for all", in.jobs)
	}
	o.Run, o.Jobs = in.run, in.jobs
	t, err := trace.Open(args, o)
	if err != nil {
		return nil, err
	}
	opened := &openTrace{Trace: t, stderr: cmd.ErrOrStderr(), said: map[trace.Problem]bool{}}
	if in.quiet {
		opened.stderr = io.Discard
	}
	opened.sayProblems()
	if in.sites && !t.Merged() {
		// A merged file has its call sites, and may be from another machine.
		for _, line := range symbol.Resolve(t.Definitions()) {
			warn(cmd.ErrOrStderr(), line)
		}
	}
	return opened, nil
}

// openTrace is a trace whose problems are told once each: those found by
// opening at once, those found by reading when it is closed.
type openTrace struct {
	*trace.Trace
	stderr io.Writer
	said   map[trace.Problem]bool
}

// Close says what reading found, and closes the trace.
func (t *openTrace) Close() error {
	t.sayProblems()
	return t.Trace.Close()
}

func (t *openTrace) sayProblems() {
	var news []trace.Problem
	for _, p := range t.Problems() {
		if !t.said[p] {
			t.said[p] = true
			news = append(news, p)
		}
	}
	for _, line := range trace.Summarise(news) {
		warn(t.stderr, line)
	}
}

// warn writes one line of warning.
func warn(w io.Writer, line string) {
	fmt.Fprintf(w, "mpitrace-view: warning: %s\n", terminal.Clean(line))
}

// selection is the part of a trace that the user asked for.
type selection struct {
	ranks, window, functions, comm string
}

// The flags of a selection; a verb has those that it can honour.

func (s *selection) ranksFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.ranks, "ranks", "", "only these `RANKS`, as in 0,2-5,8-")
}

func (s *selection) timeFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.window, "time", "", "only what happened from A to B since the run's start, as in 1.5s:2s, 20ms: or :300us (`A:B`)")
}

func (s *selection) funcFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.functions, "func", "", "only these functions: names, patterns and families, as in 'p2p,MPI_All*,-MPI_Iprobe' (`LIST`)")
}

func (s *selection) commFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.comm, "comm", "", "only calls on the communicator with this `NAME` or number")
}

// parsed is a selection that has been understood.
type parsed struct {
	ranks     trace.RankSet
	window    trace.Window
	functions config.Filter
	comm      string
}

// parse reads the flags; mistakes are usage errors.
func (s *selection) parse() (p parsed, err error) {
	if p.ranks, err = trace.ParseRanks(s.ranks); err != nil {
		return p, usage.Errorf("--ranks: %w", err)
	}
	if p.window, err = trace.ParseWindow(s.window); err != nil {
		return p, usage.Errorf("--time: %w", err)
	}
	if s.functions != "" {
		if p.functions, err = config.ParseFilter(s.functions); err != nil {
			return p, usage.Errorf("--func: %w", err)
		}
	}
	p.comm = s.comm
	return p, nil
}

// of says what is selected of a trace. Ranks or a communicator that the trace
// does not have are usage errors.
func (p parsed) of(t *trace.Trace) (trace.Selection, error) {
	selected := trace.Selection{Ranks: p.ranks, Window: p.window}
	if !p.ranks.All() {
		some := false
		for _, r := range t.Ranks() {
			some = some || p.ranks.Has(r.Number())
		}
		if !some {
			return selected, usage.Errorf("--ranks %s: the trace has none of them; it has %s", p.ranks, ranksOf(t))
		}
	}
	comms, err := p.comms(t)
	if err != nil {
		return selected, err
	}
	selected.Keep = keepCalls(p.functions, comms)
	return selected, nil
}

// comms returns the communicators that --comm means, nil for all.
func (p parsed) comms(t *trace.Trace) (map[format.ID]bool, error) {
	if p.comm == "" {
		return nil, nil
	}
	ids := map[format.ID]bool{}
	var names []string
	for i := range t.Definitions().Comms {
		c := &t.Definitions().Comms[i]
		if c.Name == p.comm || fmt.Sprint(c.ID) == p.comm {
			ids[c.ID] = true
		}
		if len(names) < 8 {
			names = append(names, t.CommName(c.ID))
		} else if len(names) == 8 {
			names = append(names, "…")
		}
	}
	if len(ids) == 0 {
		return nil, usage.Errorf("--comm %s: the trace has no such communicator; it has %s", p.comm, strings.Join(names, ", "))
	}
	return ids, nil
}

// keepCalls makes the test that calls of these functions on these
// communicators pass, nil if all do.
func keepCalls(functions config.Filter, comms map[format.ID]bool) func(int32, *format.Sig) bool {
	all := mpi.All()
	wanted := make([]bool, len(all)+1)
	everything := comms == nil
	for i := range all {
		wanted[all[i].ID] = functions.Selects(&all[i])
		everything = everything && wanted[all[i].ID]
	}
	if everything {
		return nil
	}
	return func(_ int32, s *format.Sig) bool {
		return int(s.Func) < len(wanted) && wanted[s.Func] && (comms == nil || comms[s.Comm])
	}
}

// ranksOf lists the ranks that a trace has.
func ranksOf(t *trace.Trace) string {
	var ranks []int32
	for _, r := range t.Ranks() {
		ranks = append(ranks, r.Number())
	}
	return trace.RanksOf(ranks).String()
}
