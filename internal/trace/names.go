// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"fmt"
	"path"
	"path/filepath"

	"github.com/mpitrace/mpitrace/format"
)

// SiteName says in a word where a call site is: "halo.c:42", or without source
// lines "exchange+0x1c", or without symbols "app+0x4f2c". It is "" for 0 and for
// a site that nothing is known of.
func (t *Trace) SiteName(id format.ID) string {
	s := t.Site(id)
	switch {
	case s == nil:
		return ""
	case s.File != "" && s.Line > 0:
		return fmt.Sprintf("%s:%d", path.Base(filepath.ToSlash(s.File)), s.Line)
	case s.Function != "":
		return s.Function
	}
	if m := t.Module(s.Module); m != nil {
		return fmt.Sprintf("%s+%#x", path.Base(m.Path), s.Address-m.Base)
	}
	if s.Address == 0 {
		return ""
	}
	return fmt.Sprintf("%#x", s.Address)
}
