// SPDX-License-Identifier: Apache-2.0

package command

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/mpitrace/mpitrace/cmd/internal/usage"
	"github.com/mpitrace/mpitrace/internal/dump"
)

type dumpOptions struct {
	input     input
	selection selection
	output    output
}

func newDump() *cobra.Command {
	o := dumpOptions{input: input{sites: true}}
	cmd := &cobra.Command{
		Use:   "dump [options] FILE|DIR...",
		Short: "Print every call, as JSON lines, CSV or text",
		Long: `dump prints the calls of a trace, one a line, in the order of time over all ranks.

jsonl: one JSON object a line. Times are nanoseconds since the run's start, sizes
are bytes. "peer" is the rank in the call's communicator, "world_peer" the rank in
MPI_COMM_WORLD; a receive has the source, tag and bytes that it got. Of ranks and
tags, -1 is MPI_ANY_SOURCE or MPI_ANY_TAG, -2 MPI_PROC_NULL, -3 MPI_ROOT. "end" is
null for a call that never returned, "match" is null where no match is known.
Communicators, datatypes, windows, files and operations are given by name, those
without a name by number. Keys that do not apply are absent.

csv: the same in columns, with a line of column names first.

text: everything that is in the files, as it is in them: the text twin of the
file format, in which a rank file has its own ticks and numbers. It cannot be
limited to a part.`,
		Example: `  mpitrace-view dump trace.* | head
  mpitrace-view dump --func 'p2p' --ranks 0-3 --time 1s:1.1s merged.mpt
  mpitrace-view dump --format csv -o calls.csv merged.mpt`,
		Args:                  filesArgs,
		RunE:                  o.run,
		DisableFlagsInUseLine: true,
	}
	o.input.flags(cmd)
	o.selection.ranksFlag(cmd)
	o.selection.timeFlag(cmd)
	o.selection.funcFlag(cmd)
	o.selection.commFlag(cmd)
	o.output.flags(cmd, "jsonl", "csv", "text")
	return cmd
}

func (o *dumpOptions) run(cmd *cobra.Command, args []string) error {
	if err := o.output.check(); err != nil {
		return err
	}
	selected, err := o.selection.parse()
	if err != nil {
		return err
	}
	text := o.output.format == "text"
	if text && o.selection != (selection{}) {
		return usage.Errorf("--format text writes whole files: --ranks, --time, --func and --comm do not go with it")
	}
	o.input.sites = !text
	t, err := o.input.open(cmd, args)
	if err != nil {
		return err
	}
	defer t.Close()
	part, err := selected.of(t.Trace)
	if err != nil {
		return err
	}
	return o.output.write(cmd, func(w io.Writer) error {
		switch o.output.format {
		case "csv":
			return dump.CSV(w, t.Trace, part)
		case "text":
			return t.WriteText(w)
		}
		return dump.JSONLines(w, t.Trace, part)
	})
}
