// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bufio"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mpitrace/mpitrace/cmd/internal/usage"
)

// output is where a verb's data goes and in which form.
type output struct {
	file    string
	format  string
	formats []string
}

// flags adds -o and --format; the first of formats is the default.
func (o *output) flags(cmd *cobra.Command, formats ...string) {
	o.formats = formats
	cmd.Flags().StringVarP(&o.file, "output", "o", "-", "write to `FILE`, - for standard output")
	cmd.Flags().StringVar(&o.format, "format", formats[0], "`"+strings.Join(formats, "|")+"`")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
}

// check finds out early whether --format is one of the verb's.
func (o *output) check() error {
	if !slices.Contains(o.formats, o.format) {
		return usage.Errorf("--format %s: not a format of this command; want %s", o.format, strings.Join(o.formats, ", "))
	}
	return nil
}

// write calls f with the place to write to, buffered. A file is whole only if
// write returns nil.
func (o *output) write(cmd *cobra.Command, f func(io.Writer) error) error {
	if o.file == "-" || o.file == "" {
		return buffered(cmd.OutOrStdout(), f)
	}
	file, err := os.Create(o.file)
	if err != nil {
		return err
	}
	err = buffered(file, f)
	if e := file.Close(); err == nil {
		err = e
	}
	return err
}

func buffered(w io.Writer, f func(io.Writer) error) error {
	b := bufio.NewWriterSize(w, 64<<10)
	if err := f(b); err != nil {
		return err
	}
	return b.Flush()
}
