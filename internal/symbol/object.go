// SPDX-License-Identifier: Apache-2.0

package symbol

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// debugRoot is where distributions put debug information that was taken out of
// its files.
const debugRoot = "/usr/lib/debug"

// object is a module, and the file with its debug information.
type object struct {
	files   []*os.File
	image   *elf.File // the module itself; nil if only its debug file is there
	debug   *elf.File // what has its debug information; nil if there is none
	symbols []symbol  // by address
}

type symbol struct {
	name       string
	start, end uint64
}

// openObject opens the module at path, which must have the build id.
func openObject(path, buildID string) (*object, error) {
	if !filepath.IsAbs(path) {
		return nil, errors.New("its path is not known")
	}
	o := &object{}
	image, err := o.open(path)
	switch {
	case err == nil:
		if id := BuildID(image); buildID != "" && id != buildID {
			o.close()
			return nil, fmt.Errorf("the file has changed since the run (build id %s, was %s)", short(id), short(buildID))
		}
		o.image = image
		if image.Section(".debug_info") != nil || image.Section(".zdebug_info") != nil {
			o.debug = image
		} else {
			o.debug = o.findDebug(path, image, buildID)
		}
	case buildID != "":
		if o.debug = o.byBuildID(buildID); o.debug == nil {
			return nil, err
		}
	default:
		return nil, err
	}
	o.symbols = symbolsOf(o.image, o.debug)
	return o, nil
}

func short(id string) string {
	switch {
	case id == "":
		return "none"
	case len(id) > 12:
		return id[:12]
	}
	return id
}

func (o *object) open(path string) (*elf.File, error) {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, errors.New("there is no such file on this machine")
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	image, err := elf.NewFile(f)
	if err != nil {
		f.Close()
		return nil, err
	}
	o.files = append(o.files, f)
	return image, nil
}

func (o *object) close() {
	for _, f := range o.files {
		f.Close()
	}
}

// BuildID returns the file's GNU build id in hexadecimal, or "".
func BuildID(f *elf.File) string {
	for _, s := range f.Sections {
		if s.Type != elf.SHT_NOTE || s.Size > 1<<20 {
			continue
		}
		b, err := s.Data()
		if err != nil {
			continue
		}
		if id, ok := buildIDNote(b, f.ByteOrder); ok {
			return id
		}
	}
	return ""
}

// buildIDNote looks for the build id among ELF notes.
func buildIDNote(b []byte, order binary.ByteOrder) (string, bool) {
	const noteGNUBuildID = 3
	align := func(n uint32) uint64 { return (uint64(n) + 3) &^ 3 }
	for len(b) >= 12 {
		nameSize, size, kind := order.Uint32(b), order.Uint32(b[4:]), order.Uint32(b[8:])
		b = b[12:]
		if align(nameSize)+uint64(size) > uint64(len(b)) {
			return "", false
		}
		name := b[:nameSize]
		content := b[align(nameSize) : align(nameSize)+uint64(size)]
		if kind == noteGNUBuildID && string(name) == "GNU\x00" {
			return hex.EncodeToString(content), true
		}
		b = b[min(align(nameSize)+align(size), uint64(len(b))):]
	}
	return "", false
}

// findDebug finds the file with the debug information of image, by build id or
// by the name that image gives.
func (o *object) findDebug(path string, image *elf.File, buildID string) *elf.File {
	if buildID == "" {
		buildID = BuildID(image)
	}
	if f := o.byBuildID(buildID); f != nil {
		return f
	}
	section := image.Section(".gnu_debuglink")
	if section == nil || section.Size > 1<<16 {
		return nil
	}
	b, err := section.Data()
	if err != nil {
		return nil
	}
	end := bytes.IndexByte(b, 0)
	if end <= 0 || (end+4)&^3+4 > len(b) {
		return nil
	}
	name, sum := string(b[:end]), image.ByteOrder.Uint32(b[(end+4)&^3:])
	if strings.ContainsRune(name, '/') {
		return nil
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	dir := filepath.Dir(path)
	for _, candidate := range []string{filepath.Join(dir, name), filepath.Join(dir, ".debug", name), filepath.Join(debugRoot, dir, name)} {
		if candidate == path || !hasChecksum(candidate, sum) {
			continue
		}
		if f, err := o.open(candidate); err == nil {
			return f
		}
	}
	return nil
}

// byBuildID finds the debug file that belongs to a build id.
func (o *object) byBuildID(id string) *elf.File {
	if len(id) < 4 || strings.Trim(id, "0123456789abcdef") != "" {
		return nil
	}
	f, err := o.open(filepath.Join(debugRoot, ".build-id", id[:2], id[2:]+".debug"))
	if err != nil || BuildID(f) != id {
		return nil
	}
	return f
}

func hasChecksum(path string, sum uint32) bool {
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	h := crc32.NewIEEE()
	_, err = io.Copy(h, f)
	return err == nil && h.Sum32() == sum
}

// symbolsOf lists the functions of the files, by address.
func symbolsOf(files ...*elf.File) []symbol {
	var list []symbol
	for _, f := range files {
		if f == nil {
			continue
		}
		static, _ := f.Symbols()
		dynamic, _ := f.DynamicSymbols()
		for _, s := range append(static, dynamic...) {
			if kind := elf.ST_TYPE(s.Info); kind == elf.STT_FUNC && s.Section != elf.SHN_UNDEF && s.Name != "" {
				list = append(list, symbol{s.Name, s.Value, s.Value + s.Size})
			}
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].start < list[j].start })
	return list
}

// symbolise names the functions that the addresses are in, by symbol.
func (o *object) symbolise(addresses []uint64, locations []Location) {
	for i, a := range addresses {
		k := sort.Search(len(o.symbols), func(k int) bool { return o.symbols[k].start > a }) - 1
		if k < 0 {
			continue
		}
		s := o.symbols[k]
		// Of several names of one function the first one listed.
		for k > 0 && o.symbols[k-1].start == s.start {
			k--
			s = o.symbols[k]
		}
		if a < s.end || s.end == s.start {
			locations[i].Function = fmt.Sprintf("%s+%#x", prettySymbol(s.name), a+1-s.start)
		}
	}
}
