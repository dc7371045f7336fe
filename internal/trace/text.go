// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"io"

	"github.com/mpitrace/mpitrace/format"
)

// WriteText writes the files that the trace is read from as their text twin:
// times and ids are as they are in the files. The error is w's.
func (t *Trace) WriteText(w io.Writer) error {
	var readers []*format.Reader
	for _, s := range t.sources {
		readers = append(readers, s.reader)
	}
	return format.WriteText(w, readers...)
}
