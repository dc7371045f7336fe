// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Object is one ELF file of a program: the program itself, or a library that
// is loaded with it.
type Object struct {
	Name    string // as it is asked for: "libmpi.so.40"
	Path    string // where it was found, "" if it was not
	Soname  string
	Needed  []string
	Defines map[string]bool // names of its dynamic symbols that are defined
	Imports map[string]bool // names of those that are not
	Preload bool            // asked for by LD_PRELOAD, not by the program

	rpath, runpath []string
	parent         *Object // who asked for it first
}

// Loader finds libraries as the dynamic loader does.
type Loader struct {
	Preload     []string // LD_PRELOAD
	LibraryPath []string // LD_LIBRARY_PATH
	Cache       Cache
	Root        string // "" for the running system; a test's folder
}

// NewLoader returns the loader of an environment on this machine.
func NewLoader(environ func(string) string) *Loader {
	split := func(list, separators string) []string {
		return strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(separators, r) })
	}
	l := &Loader{
		Preload:     split(environ("LD_PRELOAD"), ": "),
		LibraryPath: split(environ("LD_LIBRARY_PATH"), ":;"),
	}
	// Without a cache, the default folders remain.
	if b, err := os.ReadFile("/etc/ld.so.cache"); err == nil {
		l.Cache, _ = ParseCache(b)
	}
	return l
}

// Closure returns the program at path and everything that is loaded with it,
// in the order in which the loader looks symbols up. Libraries that cannot be
// found have no Path.
func (l *Loader) Closure(path string) ([]*Object, error) {
	program, class, machine, err := readObject(path)
	if err != nil {
		return nil, err
	}
	program.Name = path
	objects := []*Object{program}
	known := map[string]*Object{}
	load := func(name string, parent *Object, preload bool) {
		if known[name] != nil {
			return
		}
		o := &Object{Name: name, Preload: preload, parent: parent}
		if found := l.find(name, parent, class, machine); found != nil {
			found.Name, found.Preload, found.parent = name, preload, parent
			o = found
			if o.Soname != "" && known[o.Soname] != nil {
				known[name] = known[o.Soname]
				return
			}
		}
		known[name] = o
		if o.Soname != "" {
			known[o.Soname] = o
		}
		objects = append(objects, o)
	}
	for _, name := range l.Preload {
		load(name, program, true)
	}
	for i := 0; i < len(objects); i++ {
		for _, name := range objects[i].Needed {
			load(name, objects[i], false)
		}
	}
	return objects, nil
}

// find looks for a library that parent needs, for a class and machine.
func (l *Loader) find(name string, parent *Object, class elf.Class, machine elf.Machine) *Object {
	try := func(path string) *Object {
		o, c, m, err := readObject(l.Root + path)
		if err != nil || c != class || m != machine {
			return nil
		}
		return o
	}
	if strings.Contains(name, "/") {
		return try(name)
	}
	for _, dir := range l.searchPath(parent) {
		if o := try(filepath.Join(dir, name)); o != nil {
			return o
		}
	}
	for _, path := range l.Cache[name] {
		if o := try(path); o != nil {
			return o
		}
	}
	for _, dir := range defaultDirs(machine) {
		if o := try(filepath.Join(dir, name)); o != nil {
			return o
		}
	}
	return nil
}

// searchPath is where the loader looks before its cache: DT_RPATH of the
// object and of those that made it be loaded (unless the object has a
// DT_RUNPATH), LD_LIBRARY_PATH, DT_RUNPATH of the object alone.
func (l *Loader) searchPath(o *Object) []string {
	var dirs []string
	if len(o.runpath) == 0 {
		for p := o; p != nil; p = p.parent {
			if len(p.runpath) == 0 {
				dirs = append(dirs, p.rpath...)
			}
		}
	}
	dirs = append(dirs, l.LibraryPath...)
	return append(dirs, o.runpath...)
}

func defaultDirs(machine elf.Machine) []string {
	triplet := map[elf.Machine]string{elf.EM_X86_64: "x86_64-linux-gnu", elf.EM_AARCH64: "aarch64-linux-gnu"}[machine]
	dirs := []string{"/lib64", "/usr/lib64", "/lib", "/usr/lib"}
	if triplet != "" {
		dirs = slices.Insert(dirs, 0, "/lib/"+triplet, "/usr/lib/"+triplet)
	}
	return dirs
}

// readObject reads what matters here of an ELF file.
func readObject(path string) (*Object, elf.Class, elf.Machine, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, 0, err
	}
	defer f.Close()
	e, err := elf.NewFile(f)
	if err != nil {
		return nil, 0, 0, fmt.Errorf("%s: %w", path, err)
	}
	o := &Object{Path: path, Defines: map[string]bool{}, Imports: map[string]bool{}}
	origin := filepath.Dir(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		origin = filepath.Dir(real)
	}
	// A file without a dynamic section has none of these.
	o.Needed, _ = e.DynString(elf.DT_NEEDED)
	if names, _ := e.DynString(elf.DT_SONAME); len(names) > 0 {
		o.Soname = names[0]
	}
	o.rpath = expand(e, elf.DT_RPATH, origin)
	o.runpath = expand(e, elf.DT_RUNPATH, origin)
	symbols, _ := e.DynamicSymbols()
	for _, s := range symbols {
		switch {
		case s.Section == elf.SHN_UNDEF:
			o.Imports[s.Name] = true
		case elf.ST_TYPE(s.Info) == elf.STT_FUNC || elf.ST_TYPE(s.Info) == elf.STT_OBJECT || elf.ST_TYPE(s.Info) == elf.STT_GNU_IFUNC:
			o.Defines[s.Name] = true
		}
	}
	return o, e.Class, e.Machine, nil
}

// expand returns the folders of DT_RPATH or DT_RUNPATH.
func expand(e *elf.File, tag elf.DynTag, origin string) []string {
	lists, _ := e.DynString(tag)
	var dirs []string
	lib := "lib"
	if e.Class == elf.ELFCLASS64 {
		lib = "lib64"
	}
	platform := map[elf.Machine]string{elf.EM_X86_64: "x86_64", elf.EM_AARCH64: "aarch64"}[e.Machine]
	replacer := strings.NewReplacer("${ORIGIN}", origin, "$ORIGIN", origin, "${LIB}", lib, "$LIB", lib,
		"${PLATFORM}", platform, "$PLATFORM", platform)
	for _, list := range lists {
		for _, dir := range strings.Split(list, ":") {
			if dir != "" {
				dirs = append(dirs, replacer.Replace(dir))
			}
		}
	}
	return dirs
}

// Cache is the loader's cache: where libraries are, by name, best first.
type Cache map[string][]string

const (
	cacheMagic    = "glibc-ld.so.cache1.1"
	oldCacheMagic = "ld.so-1.7.0"
	cacheHead     = 48
	cacheEntry    = 24
)

// ParseCache reads /etc/ld.so.cache in glibc's format, also where an older one
// stands in front of it.
func ParseCache(b []byte) (Cache, error) {
	at := 0
	if bytes.HasPrefix(b, []byte(oldCacheMagic)) {
		if at = bytes.Index(b, []byte(cacheMagic)); at < 0 {
			return nil, fmt.Errorf("the loader's cache has only a format older than glibc 2.2")
		}
	}
	b = b[at:]
	if len(b) < cacheHead || !bytes.HasPrefix(b, []byte(cacheMagic)) {
		return nil, fmt.Errorf("the loader's cache does not begin with %q", cacheMagic)
	}
	n := int(binary.LittleEndian.Uint32(b[20:]))
	if n > (len(b)-cacheHead)/cacheEntry {
		return nil, fmt.Errorf("the loader's cache ends within its %d entries", n)
	}
	text := func(offset uint32) string {
		if int64(offset) >= int64(len(b)) {
			return ""
		}
		s := b[offset:]
		if i := bytes.IndexByte(s, 0); i >= 0 {
			return string(s[:i])
		}
		return ""
	}
	cache := Cache{}
	for i := range n {
		entry := b[cacheHead+i*cacheEntry:]
		name, path := text(binary.LittleEndian.Uint32(entry[4:])), text(binary.LittleEndian.Uint32(entry[8:]))
		if name != "" && path != "" {
			cache[name] = append(cache[name], path)
		}
	}
	return cache, nil
}
