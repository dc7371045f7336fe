// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/internal/human"
	"github.com/mpitrace/mpitrace/internal/merge"
	"github.com/mpitrace/mpitrace/internal/terminal"
	"github.com/mpitrace/mpitrace/internal/trace"
)

type mergeOptions struct {
	input  input
	output string
}

func newMerge() *cobra.Command {
	o := mergeOptions{input: input{sites: true}}
	cmd := &cobra.Command{
		Use:   "merge [options] FILE|DIR...",
		Short: "Put the files of a run's ranks into one",
		Long: `merge puts the trace files of a run's ranks on one clock and writes them into one
file, which every other command reads faster, and which needs neither the
program nor its libraries any more: call sites are resolved to functions and
source lines while merging.

Whatever can be read is merged. Missing ranks, files that were cut off, damaged
blocks, files of other runs and files that are no traces are told on standard
error. Of several runs the newest is taken.`,
		Example: `  mpitrace-view merge trace.*
  mpitrace-view merge -o run42.mpt --run 3fa8 results/`,
		Args:                  filesArgs,
		RunE:                  o.run,
		DisableFlagsInUseLine: true,
	}
	o.input.flags(cmd)
	cmd.Flags().StringVarP(&o.output, "output", "o", "merged.mpt", "write to `FILE`, - for standard output")
	return cmd
}

func (o *mergeOptions) run(cmd *cobra.Command, args []string) error {
	begun := time.Now()
	t, err := o.input.openWith(cmd, args, trace.Options{RankFiles: true})
	if err != nil {
		return err
	}
	defer t.Close()
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	bar := newProgress(cmd.ErrOrStderr(), "merging", t.Calls())
	options := merge.Options{Jobs: o.input.jobs, Progress: bar.add}
	var stats format.Stats
	if o.output == "-" {
		stats, err = merge.Write(ctx, t.Trace, onlyWriter{cmd.OutOrStdout()}, options)
	} else {
		stats, err = merge.File(ctx, t.Trace, o.output, options)
	}
	bar.done()
	switch {
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("interrupted; %s was not written", o.output)
	case err != nil:
		return err
	}
	t.sayProblems()
	if o.output == "-" {
		return nil
	}
	return o.report(cmd.OutOrStdout(), t.Trace, stats, time.Since(begun))
}

// onlyWriter hides everything of a writer but Write: standard output is not
// closed.
type onlyWriter struct{ io.Writer }

// report says what was found and what to type next.
func (o *mergeOptions) report(w io.Writer, t *trace.Trace, stats format.Stats, took time.Duration) error {
	d := t.Definitions()
	span := t.Span()
	ranks := human.Plural(uint64(len(t.Ranks())), "rank")
	if int(d.Run.Size) != len(t.Ranks()) {
		ranks = fmt.Sprintf("%d of %s", len(t.Ranks()), human.Plural(uint64(d.Run.Size), "rank"))
	}
	var from int64
	for _, f := range t.Files() {
		from += f.Size
	}
	var libraries grouping[string]
	for _, r := range t.Ranks() {
		if p := r.Process(); p.Library != "" {
			libraries.add(p.Library, r.Number())
		}
	}
	var lines []string
	add := func(name, form string, args ...any) {
		lines = append(lines, fmt.Sprintf("  %-9s ", name)+terminal.Clean(fmt.Sprintf(form, args...)))
	}
	lines = append(lines, terminal.Clean(o.output+": run "+trace.RunID(d.Run.ID)[:8]+commandOf(d.Run.Command)))
	add("ranks", "%s on %s", ranks, human.Plural(uint64(len(t.Hosts())), "host"))
	add("calls", "%s in %s", human.Separated(stats.Calls), human.Duration(span.Length()))
	if len(libraries.order) > 0 {
		add("MPI", "%s", strings.Join(libraries.order, "; "))
	}
	perCall := 0.0
	if stats.Calls > 0 {
		perCall = float64(stats.Bytes) / float64(stats.Calls)
	}
	add("size", "%s from %s in %s, %.2f bytes a call", human.Bytes(stats.Bytes), human.Bytes(from), human.Plural(uint64(len(t.Files())), "file"), perCall)
	add("took", "%s, %s calls a second", human.Duration(took.Nanoseconds()), human.Count(uint64(float64(stats.Calls)/max(took.Seconds(), 1e-9))))
	if n := len(trace.Summarise(t.Problems())); n == 0 {
		add("problems", "none")
	} else {
		add("problems", "%s, see above", human.Plural(uint64(n), "warning"))
	}
	lines = append(lines, "next:")
	for _, verb := range []string{"report", "timeline", "info"} {
		lines = append(lines, "  mpitrace-view "+verb+" "+quoteArgument(o.output))
	}
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}

// commandOf is the program's name for a line that names a run.
func commandOf(command []string) string {
	if len(command) == 0 {
		return ""
	}
	return " of " + filepath.Base(command[0])
}

// quoteArgument writes a file name so that a shell takes it as one word.
func quoteArgument(s string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("_-./,:+@%", c)
	}
	if s != "" && strings.IndexFunc(s, func(c rune) bool { return !plain(c) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(terminal.Clean(s), "'", `'\''`) + "'"
}

// progress is a bar on a terminal, and nothing elsewhere.
type progress struct {
	bars *mpb.Progress
	bar  *mpb.Bar
}

func newProgress(w io.Writer, what string, calls uint64) *progress {
	if !terminal.Is(w) || calls == 0 {
		return &progress{}
	}
	p := &progress{bars: mpb.New(mpb.WithOutput(w), mpb.WithWidth(48))}
	p.bar = p.bars.AddBar(int64(calls), mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name(what), decor.Percentage(decor.WCSyncSpace)),
		mpb.AppendDecorators(decor.CountersNoUnit("%d / %d calls"), decor.Name("  "), decor.AverageETA(decor.ET_STYLE_GO)))
	return p
}

func (p *progress) add(calls uint64) {
	if p.bar != nil {
		p.bar.IncrInt64(int64(calls))
	}
}

// done takes the bar away.
func (p *progress) done() {
	if p.bar != nil {
		p.bar.Abort(true)
		p.bars.Wait()
	}
}
