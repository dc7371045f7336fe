// SPDX-License-Identifier: Apache-2.0

package command

import (
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mpitrace/mpitrace/cmd/internal/usage"
	"github.com/mpitrace/mpitrace/internal/human"
	"github.com/mpitrace/mpitrace/internal/terminal"
	"github.com/mpitrace/mpitrace/internal/timeline"
	"github.com/mpitrace/mpitrace/internal/trace"
)

type timelineOptions struct {
	input   input
	part    selection
	output  output
	width   int
	height  int
	ascii   bool
	regions bool
	color   terminal.Color
}

func newTimeline() *cobra.Command {
	o := timelineOptions{input: input{sites: true}}
	cmd := &cobra.Command{
		Use:   "timeline [options] FILE|DIR...",
		Short: "Draw ranks over time, in the terminal or as SVG",
		Long: `timeline draws what the ranks did over time: a row for each rank (or for a few
neighbouring ones, if there are more ranks than lines), a column for each piece
of time. How high a column is filled says how much of its time was MPI, the
colour which kind of MPI function took most of it; above is computation.

Without colours a column is the letter of that kind of function: a capital if at
least half of the time was MPI, a small letter from a tenth on, a dot if it was
computation. A dash is time that was not recorded (MPI_Pcontrol), a blank is
before a rank's first call or after its last, and ! a call that never returned.`,
		Example: `  mpitrace-view timeline merged.mpt
  mpitrace-view timeline --time 1.5s:1.52s --ranks 0-7 merged.mpt
  mpitrace-view timeline --format svg -o timeline.svg merged.mpt`,
		Args:                  filesArgs,
		RunE:                  o.run,
		DisableFlagsInUseLine: true,
	}
	o.input.flags(cmd)
	o.part.ranksFlag(cmd)
	o.part.timeFlag(cmd)
	o.output.flags(cmd, "text", "svg")
	flags := cmd.Flags()
	flags.IntVar(&o.width, "width", 0, "draw `N` columns wide, or N pixels (default the terminal's width, else 80; 960 pixels)")
	flags.IntVar(&o.height, "height", 0, "draw at most `N` rows (default what the terminal holds, else 32)")
	flags.BoolVar(&o.regions, "regions", false, "draw the regions of the first rank above the ranks")
	flags.BoolVar(&o.ascii, "ascii", false, "use no characters but ASCII (default if the locale is not UTF-8)")
	flags.Var(&o.color, "color", "use colours: auto, always or never")
	return cmd
}

func (o *timelineOptions) run(cmd *cobra.Command, args []string) error {
	if err := o.output.check(); err != nil {
		return err
	}
	if o.width < 0 || o.height < 0 {
		return usage.Errorf("--width and --height are numbers of columns and rows")
	}
	selected, err := o.part.parse()
	if err != nil {
		return err
	}
	t, err := o.input.open(cmd, args)
	if err != nil {
		return err
	}
	defer t.Close()
	shown, err := selected.of(t.Trace)
	if err != nil {
		return err
	}
	draw := o.text
	if o.output.format == "svg" {
		draw = o.svg
	}
	return o.output.write(cmd, draw(cmd, t.Trace, shown))
}

// Around the rows a drawing needs so many lines: title, axis, legend, prompt.
const linesAround = 8

func (o *timelineOptions) text(cmd *cobra.Command, t *trace.Trace, s trace.Selection) func(io.Writer) error {
	const (
		width, height = 80, 32 // without a terminal
	)
	stdout := cmd.OutOrStdout()
	toFile := o.output.file != "-" && o.output.file != ""
	colors := timeline.NoColor
	if o.color.On(stdout) && (!toFile || o.color == terminal.ColorAlways) {
		colors = timeline.Basic
		if manyColors() {
			colors = timeline.Indexed
		}
	}
	columns, rows := o.width, o.height
	if columns == 0 {
		if columns = width; !toFile {
			columns = terminal.Width(stdout, width)
		}
	}
	room := height
	if !toFile {
		room = terminal.Height(stdout, height+linesAround) - linesAround
	}
	if o.regions {
		room -= 2
	}
	if rows == 0 {
		rows = max(4, room)
	}
	groups := timeline.GroupRanks(selectedRanks(t, s), rows)
	lines, gap := 1, 0
	switch {
	case colors == timeline.NoColor:
	case 3*len(groups) <= room:
		lines, gap = 2, 1
	case 2*len(groups) <= room:
		gap = 1
	}
	bar := newProgress(cmd.ErrOrStderr(), "reading", t.Calls())
	level := timeline.Read(t, s, groups, timeline.TextColumns(columns, groups), o.regions, bar.add)
	bar.done()
	return func(w io.Writer) error {
		return level.WriteText(w, timeline.TextOptions{
			Title:  title(t),
			Width:  columns,
			Lines:  lines,
			Gap:    gap,
			Colors: colors,
			ASCII:  o.ascii || !terminal.UTF8(),
		})
	}
}

func (o *timelineOptions) svg(cmd *cobra.Command, t *trace.Trace, s trace.Selection) func(io.Writer) error {
	width, rows := o.width, o.height
	if width == 0 {
		width = 960
	}
	if rows == 0 {
		rows = 64
	}
	groups := timeline.GroupRanks(selectedRanks(t, s), rows)
	bar := newProgress(cmd.ErrOrStderr(), "reading", t.Calls())
	level := timeline.Read(t, s, groups, timeline.SVGColumns(width, groups), o.regions, bar.add)
	bar.done()
	return func(w io.Writer) error {
		return level.WriteSVG(w, timeline.SVGOptions{Title: title(t), Width: width})
	}
}

// selectedRanks are the ranks that there are of those that are selected.
func selectedRanks(t *trace.Trace, s trace.Selection) (list []int32) {
	for _, r := range t.Ranks() {
		if s.Ranks.Has(r.Number()) {
			list = append(list, r.Number())
		}
	}
	return list
}

// manyColors tells whether the terminal says that it has 256 colours.
func manyColors() bool {
	switch term := os.Getenv("TERM"); {
	case os.Getenv("COLORTERM") != "":
		return true
	case strings.Contains(term, "256color"), strings.Contains(term, "kitty"), strings.Contains(term, "ghostty"), strings.Contains(term, "alacritty"):
		return true
	}
	return false
}

// title is the run in a few words: its command and how many ranks it had.
func title(t *trace.Trace) string {
	command := strings.Join(t.Run().Command, " ")
	if command == "" {
		command = "run " + trace.RunID(t.Run().ID)[:8]
	}
	return command + " · " + human.Plural(uint64(len(t.Ranks())), "rank")
}
