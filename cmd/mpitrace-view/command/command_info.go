// SPDX-License-Identifier: Apache-2.0

package command

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/internal/human"
	"github.com/mpitrace/mpitrace/internal/terminal"
	"github.com/mpitrace/mpitrace/internal/trace"
)

type infoOptions struct {
	input  input
	output output
}

func newInfo() *cobra.Command {
	var o infoOptions
	cmd := &cobra.Command{
		Use:   "info [options] FILE|DIR...",
		Short: "Say what a trace is: run, ranks, hosts, MPI, sizes, losses",
		Long: `info says which run a trace is of, where it ran and under which MPI, how it was
recorded, how large it is, how its clocks were put together, and what is missing.`,
		Example: `  mpitrace-view info trace.*
  mpitrace-view info --format json merged.mpt`,
		Args:                  filesArgs,
		RunE:                  o.run,
		DisableFlagsInUseLine: true,
	}
	o.input.flags(cmd)
	o.output.flags(cmd, "text", "json")
	return cmd
}

func (o *infoOptions) run(cmd *cobra.Command, args []string) error {
	if err := o.output.check(); err != nil {
		return err
	}
	t, err := o.input.open(cmd, args)
	if err != nil {
		return err
	}
	defer t.Close()
	info := describe(t.Trace)
	return o.output.write(cmd, func(w io.Writer) error {
		if o.output.format == "json" {
			e := json.NewEncoder(w)
			e.SetIndent("", "  ")
			return e.Encode(info)
		}
		return info.text(w)
	})
}

// info is what info says. Its JSON keys are stable; times are in nanoseconds,
// sizes in bytes.
type info struct {
	Run       string   `json:"run"`
	Start     int64    `json:"start"` // of the first call, since 1970
	Command   []string `json:"command,omitempty"`
	Job       string   `json:"job,omitempty"`
	Parent    string   `json:"traceparent,omitempty"`
	Tool      string   `json:"tool"`
	Merged    bool     `json:"merged"`
	WorldSize int32    `json:"world_size"`
	Ranks     int      `json:"ranks"` // that there are
	Threads   int      `json:"threads"`

	Calls        uint64  `json:"calls"`
	Begin        int64   `json:"begin"`
	End          int64   `json:"end"`
	Bytes        int64   `json:"bytes"`
	BytesPerCall float64 `json:"bytes_per_call"`

	Files       []infoFile        `json:"files"`
	Hosts       []infoHost        `json:"hosts"`
	MPI         []infoMPI         `json:"mpi"`
	Config      []infoSetting     `json:"config"`
	Clock       infoClock         `json:"clock"`
	Definitions map[string]int    `json:"definitions"`
	Drains      map[string]uint64 `json:"drains"`
	Problems    []trace.Problem   `json:"problems"`
}

type infoFile struct {
	Path     string `json:"path"`
	Bytes    int64  `json:"bytes"`
	Rank     *int32 `json:"rank"` // null for a merged file
	Calls    uint64 `json:"calls"`
	Complete bool   `json:"complete"`
}

type infoHost struct {
	Name    string `json:"name"`
	Ranks   string `json:"ranks"`
	Aligned bool   `json:"aligned"`
	Shift   int64  `json:"shift"`
}

// infoMPI is one MPI library and the ranks that were linked to it.
type infoMPI struct {
	Library     string `json:"library"`
	Path        string `json:"path,omitempty"`
	ABI         string `json:"abi"`
	Version     string `json:"version"`
	ThreadLevel string `json:"thread_level"`
	Executable  string `json:"executable"`
	Ranks       string `json:"ranks"`
}

// infoSetting is a setting of the recorder and the ranks that had it so.
type infoSetting struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	Default bool   `json:"default"`
	Ranks   string `json:"ranks"`
}

type infoClock struct {
	Source  []string `json:"source"`  // "tsc", …
	Points  int      `json:"points"`  // measurements of it
	Error   int64    `json:"error"`   // largest of them
	Aligned bool     `json:"aligned"` // between hosts
}

func describe(t *trace.Trace) *info {
	d := t.Definitions()
	span := t.Span()
	x := &info{
		Run: trace.RunID(d.Run.ID), Start: d.Run.Start, Command: d.Run.Command, Job: d.Run.Job, Parent: d.Run.Parent, Tool: d.Run.Tool,
		Merged: t.Merged(), WorldSize: d.Run.Size, Ranks: len(t.Ranks()), Threads: len(d.Threads),
		Calls: t.Calls(), Begin: span.Begin, End: span.End,
		Files: []infoFile{}, Hosts: []infoHost{}, MPI: []infoMPI{}, Config: []infoSetting{},
		Drains: map[string]uint64{}, Problems: t.Problems(),
		Definitions: map[string]int{
			"communicators": len(d.Comms), "datatypes": len(d.Datatypes), "operations": len(d.Ops), "windows": len(d.Wins),
			"files": len(d.Files), "modules": len(d.Modules), "call_sites": len(d.Sites), "texts": len(d.Texts),
		},
	}
	if x.Problems == nil {
		x.Problems = []trace.Problem{}
	}
	for _, f := range t.Files() {
		file := infoFile{Path: f.Path, Bytes: f.Size, Calls: f.Calls, Complete: f.Whole}
		if f.Rank != format.NoRank {
			file.Rank = &f.Rank
		}
		x.Files = append(x.Files, file)
		x.Bytes += f.Size
	}
	if x.Calls > 0 {
		x.BytesPerCall = float64(x.Bytes) / float64(x.Calls)
	}
	x.Clock.Aligned = !t.Unaligned()
	for _, h := range t.Hosts() {
		x.Hosts = append(x.Hosts, infoHost{h.Name, trace.RanksOf(h.Ranks).String(), h.Aligned, h.Shift})
	}
	x.describeProcesses(t)
	for _, p := range d.Clock {
		x.Clock.Points++
		x.Clock.Error = max(x.Clock.Error, p.Error)
	}
	for _, s := range d.Summaries {
		x.Drains["all"] += s.Drains
		x.Drains["inline"] += s.InlineDrains
	}
	return x
}

// describeProcesses groups the ranks by what they have in common.
func (x *info) describeProcesses(t *trace.Trace) {
	libraries := grouping[infoMPI]{}
	settings := grouping[infoSetting]{}
	clocks := grouping[string]{}
	for _, r := range t.Ranks() {
		p := r.Process()
		libraries.add(infoMPI{Library: p.Library, Path: p.LibraryPath, ABI: p.ABI, Version: p.MPIVersion, ThreadLevel: p.ThreadLevel, Executable: p.Executable}, r.Number())
		for _, s := range p.Config {
			settings.add(infoSetting{Name: s.Name, Value: s.Value, Default: s.Default}, r.Number())
		}
		if p.Clock != "" {
			clocks.add(p.Clock, r.Number())
		}
	}
	for i, m := range libraries.order {
		m.Ranks = trace.RanksOf(libraries.ranks[i]).String()
		x.MPI = append(x.MPI, m)
	}
	for i, s := range settings.order {
		s.Ranks = trace.RanksOf(settings.ranks[i]).String()
		x.Config = append(x.Config, s)
	}
	x.Clock.Source = append([]string{}, clocks.order...)
}

// grouping collects the ranks that have something in common, in the order in
// which it first occurs.
type grouping[K comparable] struct {
	order []K
	ranks [][]int32
	at    map[K]int
}

func (g *grouping[K]) add(key K, rank int32) {
	i, ok := g.at[key]
	if !ok {
		if g.at == nil {
			g.at = map[K]int{}
		}
		i = len(g.order)
		g.at[key] = i
		g.order = append(g.order, key)
		g.ranks = append(g.ranks, nil)
	}
	g.ranks[i] = append(g.ranks[i], rank)
}

func (x *info) text(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name, form string, args ...any) {
		fmt.Fprintf(tw, "%s\t%s\n", name, terminal.Clean(fmt.Sprintf(form, args...)))
	}
	line("run", "%s", x.Run)
	line("begun", "%s", time.Unix(0, x.Start).UTC().Format("2006-01-02 15:04:05.000000000 UTC"))
	if len(x.Command) > 0 {
		line("command", "%s", strings.Join(x.Command, " "))
	}
	if x.Job != "" {
		line("job", "%s", x.Job)
	}
	line("recorded by", "%s", x.Tool)
	ranks := fmt.Sprint(x.Ranks)
	if int(x.WorldSize) != x.Ranks {
		ranks = fmt.Sprintf("%d of %d", x.Ranks, x.WorldSize)
	}
	line("ranks", "%s, %s that called MPI", ranks, human.Plural(uint64(x.Threads), "thread"))
	line("calls", "%s in %s", human.Separated(x.Calls), human.Duration(x.End-x.Begin))
	what := human.Plural(uint64(len(x.Files)), "rank file")
	if x.Merged {
		what = "merged file " + x.Files[0].Path
	}
	line("size", "%s in %s, %.2f bytes a call", human.Bytes(x.Bytes), what, x.BytesPerCall)
	for i, m := range x.MPI {
		if i == 8 {
			line("", "… %d more combinations; see --format json", len(x.MPI)-i)
			break
		}
		of := ""
		if len(x.MPI) > 1 {
			of = "ranks " + m.Ranks + ": "
		}
		line("MPI", "%s%s (MPI %s, %s ABI, %s)", of, m.Library, m.Version, m.ABI, m.ThreadLevel)
		line("program", "%s%s", of, m.Executable)
	}
	for i, h := range x.Hosts {
		if i == 16 {
			line("", "… %d more hosts; see --format json", len(x.Hosts)-i)
			break
		}
		name := "host"
		if i > 0 {
			name = ""
		}
		line(name, "%s: ranks %s", h.Name, h.Ranks)
	}
	aligned := "ranks share a clock"
	switch {
	case !x.Clock.Aligned:
		aligned = "hosts NOT aligned: only their times of day were known"
	case len(x.Hosts) > 1:
		aligned = "hosts aligned"
	}
	line("clock", "%s, %s, error at most %s; %s", strings.Join(x.Clock.Source, ", "), human.Plural(uint64(x.Clock.Points), "measurement"), human.Duration(x.Clock.Error), aligned)
	if n := x.Drains["all"]; n > 0 {
		line("drains", "%s, %s of them while a call waited", human.Separated(n), human.Separated(x.Drains["inline"]))
	}
	x.textConfig(line)
	counts := []string{}
	for _, k := range []struct{ key, one string }{
		{"communicators", "communicator"}, {"datatypes", "datatype"}, {"operations", "operation"}, {"windows", "window"},
		{"files", "file"}, {"call_sites", "call site"}, {"modules", "module"},
	} {
		if n := x.Definitions[k.key]; n > 0 {
			counts = append(counts, human.Plural(uint64(n), k.one))
		}
	}
	line("defined", "%s", strings.Join(counts, ", "))
	if len(x.Problems) == 0 {
		line("problems", "none")
	}
	for i, p := range trace.Summarise(x.Problems) {
		name := "problems"
		if i > 0 {
			name = ""
		}
		line(name, "%s", p)
	}
	return tw.Flush()
}

// textConfig lists the settings that are not as they are by default.
func (x *info) textConfig(line func(name, form string, args ...any)) {
	name := "settings"
	for _, s := range x.Config {
		if s.Default {
			continue
		}
		of := ""
		if s.Ranks != x.allRanks() {
			of = " (ranks " + s.Ranks + ")"
		}
		line(name, "%s=%s%s", s.Name, s.Value, of)
		name = ""
	}
	if name != "" {
		line(name, "all as by default")
	}
}

func (x *info) allRanks() string {
	if len(x.MPI) == 1 {
		return x.MPI[0].Ranks
	}
	return ""
}
