// SPDX-License-Identifier: Apache-2.0

package command

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/mpitrace/mpitrace/cmd/internal/usage"
	"github.com/mpitrace/mpitrace/internal/config"
	"github.com/mpitrace/mpitrace/mpi"
)

type functionsOptions struct {
	format string
	family string
	output string
}

// coverage is one function as functions lists it. Its JSON keys and the
// columns of the CSV form are stable.
type coverage struct {
	Name    string   `json:"name"`
	ID      uint16   `json:"id"`
	Family  string   `json:"family"`
	Roles   []string `json:"roles"`
	Records []string `json:"records"`
	// Reason is why the function is not recorded, "" for one that is.
	Reason string `json:"reason,omitempty"`
}

func newFunctions() *cobra.Command {
	var o functionsOptions
	cmd := &cobra.Command{
		Use:   "functions [options] [PATTERN...]",
		Short: "List the MPI functions that are recorded, and what of each",
		Long: `functions lists every MPI function that the recorder knows: its name, its number
in trace files, its family (the word that MPITRACE_FILTER takes), its roles, and
what is recorded of a call besides its begin, end, call site and error code.
PATTERN takes * and ?, and limits the list.`,
		Example: `  mpitrace functions --family p2p
  mpitrace functions 'MPI_Comm_*'
  mpitrace functions --format json`,
		RunE:                  o.run,
		DisableFlagsInUseLine: true,
	}
	cmd.Flags().StringVar(&o.format, "format", "text", "`text|json|csv`")
	cmd.Flags().StringVar(&o.family, "family", "", "only the functions of this `FAMILY`")
	cmd.Flags().StringVarP(&o.output, "output", "o", "-", "write the list to `FILE`, - for standard output")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"text", "json", "csv"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("family", cobra.FixedCompletions(families(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func families() []string {
	var names []string
	for f := mpi.FamilyNone + 1; f < mpi.NumFamilies; f++ {
		names = append(names, f.String())
	}
	return names
}

func (o *functionsOptions) run(cmd *cobra.Command, patterns []string) error {
	write, ok := map[string]func(io.Writer, []coverage) error{"text": writeFunctions, "json": writeFunctionsJSON, "csv": writeFunctionsCSV}[o.format]
	if !ok {
		return usage.Errorf("--format %s: not a format (want text, json or csv)", o.format)
	}
	if o.family != "" {
		if _, err := mpi.ParseFamily(o.family); err != nil {
			return usage.Errorf("--family %s: %w", o.family, err)
		}
	}
	var list []coverage
	for i := range mpi.All() {
		fn := &mpi.All()[i]
		if o.family != "" && fn.Family.String() != o.family {
			continue
		}
		if len(patterns) > 0 && !slices.ContainsFunc(patterns, func(p string) bool { return config.MatchName(p, fn.Name) }) {
			continue
		}
		list = append(list, cover(fn))
	}
	slices.SortFunc(list, func(a, b coverage) int { return strings.Compare(a.Name, b.Name) })
	w, done, err := openOutput(cmd, o.output)
	if err != nil {
		return err
	}
	return done(write(w, list))
}

// cover says what is recorded of a function's calls.
func cover(fn *mpi.Func) coverage {
	c := coverage{Name: fn.Name, ID: uint16(fn.ID), Family: fn.Family.String(), Roles: []string{}, Records: []string{}}
	if s := fn.Role.String(); s != "" {
		c.Roles = strings.Fields(s)
	}
	if fn.Is(mpi.RoleLeaveAlone) {
		c.Reason = "converts handles for other languages, which call it on their own"
		return c
	}
	for i := range fn.Params {
		word, ok := recorded[fn.Params[i].Kind]
		if ok && !slices.Contains(c.Records, word) {
			c.Records = append(c.Records, word)
		}
	}
	if fn.IsAny(mpi.RoleReceives|mpi.RoleProbes|mpi.RoleMatches) && !fn.Is(mpi.RoleStarts) {
		c.Records = append(c.Records, "source-got", "tag-got")
	}
	if slices.Contains(c.Records, "count") && slices.Contains(c.Records, "datatype") {
		c.Records = append(c.Records, "bytes")
	}
	if fn.Is(mpi.RoleCompletes) {
		c.Records = append(c.Records, "completed-requests")
	}
	return c
}

// recorded are the kinds of arguments that are kept, and what they are called
// in dumps.
var recorded = map[mpi.Kind]string{
	mpi.KindComm:     "comm",
	mpi.KindRank:     "peer",
	mpi.KindRoot:     "root",
	mpi.KindTag:      "tag",
	mpi.KindCount:    "count",
	mpi.KindDatatype: "datatype",
	mpi.KindOp:       "op",
	mpi.KindRequest:  "request",
	mpi.KindWin:      "win",
	mpi.KindFile:     "file",
}

func writeFunctions(w io.Writer, list []coverage) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "FUNCTION\tID\tFAMILY\tROLES\tRECORDED")
	recorded := 0
	for _, c := range list {
		what := strings.Join(c.Records, " ")
		if c.Reason != "" {
			what = "(not recorded: " + c.Reason + ")"
		} else {
			recorded++
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\n", c.Name, c.ID, c.Family, strings.Join(c.Roles, " "), what)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%d functions, %d recorded\n", len(list), recorded)
	return err
}

func writeFunctionsJSON(w io.Writer, list []coverage) error {
	if list == nil {
		list = []coverage{}
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(list)
}

func writeFunctionsCSV(w io.Writer, list []coverage) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"name", "id", "family", "roles", "records", "reason"})
	for _, f := range list {
		_ = c.Write([]string{f.Name, strconv.Itoa(int(f.ID)), f.Family, strings.Join(f.Roles, " "), strings.Join(f.Records, " "), f.Reason})
	}
	c.Flush()
	return c.Error()
}
