// SPDX-License-Identifier: Apache-2.0

//go:build linux && cgo

package main

import (
	"bufio"
	"cmp"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/mpi"
)

// sites numbers the places that MPI is called from, and tells calls of the
// program from those that the layers of the MPI library make on their own. It
// reads /proc/self/maps rather than asking the loader, whose lock a waiting
// thread of the program may hold.
type sites struct {
	to      *format.Writer
	known   map[siteKey]siteAnswer
	ids     map[uint64]format.ID
	modules []*module // by start
}

type siteKey struct {
	address uint64
	fn      mpi.FuncID
}

type siteAnswer struct {
	id   format.ID
	keep bool
}

// module is a mapped range of code.
type module struct {
	format.Module
	offset  uint64 // in the file, of what is mapped at Start
	layer   layer
	read    bool // the file was looked at
	defined bool
	symbols []elf.Symbol // of a Fortran layer, by address in the file
}

// layer is what part a module plays in an MPI call.
type layer uint8

const (
	layerProgram layer = iota
	layerLibrary       // MPI itself: what it calls is no call of the program
	layerFortran       // a Fortran binding: calls the function it stands for, and helpers
)

func newSites() *sites {
	return &sites{known: make(map[siteKey]siteAnswer), ids: make(map[uint64]format.ID)}
}

// number is tracebuf.Env.Site.
func (s *sites) number(address uint64, fn *mpi.Func) (format.ID, bool) {
	key := siteKey{address, fn.ID}
	a, ok := s.known[key]
	if !ok {
		a = s.look(address, fn)
		s.known[key] = a
	}
	return a.id, a.keep
}

func (s *sites) look(address uint64, fn *mpi.Func) siteAnswer {
	m := s.module(address)
	if m != nil {
		m.look()
		switch m.layer {
		case layerLibrary:
			return siteAnswer{}
		case layerFortran:
			if !m.standsFor(address, fn) {
				return siteAnswer{}
			}
		}
	}
	id, ok := s.ids[address]
	if !ok {
		id = format.ID(len(s.ids) + 1)
		s.ids[address] = id
		site := format.Site{ID: id, Address: address}
		if m != nil {
			if !m.defined {
				m.defined = true
				m.ID = format.ID(1 + s.defined())
				s.to.Module(m.Module)
			}
			site.Module = m.ID
		}
		s.to.Site(site)
	}
	return siteAnswer{id, true}
}

// defined counts the modules that have an id.
func (s *sites) defined() int {
	n := 0
	for _, m := range s.modules {
		if m.ID != 0 {
			n++
		}
	}
	return n
}

func (s *sites) module(address uint64) *module {
	for range 2 {
		i, ok := slices.BinarySearchFunc(s.modules, address, func(m *module, a uint64) int { return cmp.Compare(m.Start, a) })
		if !ok {
			i--
		}
		if i >= 0 && address < s.modules[i].End {
			return s.modules[i]
		}
		s.read()
	}
	return nil
}

// read looks at what is mapped now; modules that are known stay.
func (s *sites) read() {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if m := parseMapping(lines.Text()); m != nil && !s.knows(m.Start) {
			s.modules = append(s.modules, m)
		}
	}
	slices.SortFunc(s.modules, func(a, b *module) int { return cmp.Compare(a.Start, b.Start) })
}

func (s *sites) knows(start uint64) bool {
	return slices.ContainsFunc(s.modules, func(m *module) bool { return m.Start == start })
}

// parseMapping reads a line of /proc/self/maps; nil if it is no code of a file.
func parseMapping(line string) *module {
	// START-END PERMISSIONS OFFSET DEVICE INODE PATH
	words := strings.Fields(line)
	slash := strings.IndexByte(line, '/')
	if len(words) < 6 || slash < 0 || !strings.Contains(words[1], "x") {
		return nil
	}
	first, last, _ := strings.Cut(words[0], "-")
	start, err1 := strconv.ParseUint(first, 16, 64)
	end, err2 := strconv.ParseUint(last, 16, 64)
	offset, err3 := strconv.ParseUint(words[2], 16, 64)
	if err1 != nil || err2 != nil || err3 != nil {
		return nil
	}
	path := strings.TrimSuffix(line[slash:], " (deleted)")
	return &module{Module: format.Module{Path: path, Start: start, End: end, Base: start - offset}, offset: offset}
}

// look reads what is needed of the module's file, once: few modules call MPI.
func (m *module) look() {
	if m.read {
		return
	}
	m.read = true
	m.layer = layerOf(m.Path)
	f, err := elf.Open(m.Path)
	if err != nil {
		return
	}
	defer f.Close()
	const page = 4096
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && p.Off&^(page-1) == m.offset {
			m.Base = m.Start - p.Vaddr&^(page-1)
		}
	}
	m.BuildID = buildID(f)
	if m.layer == layerFortran {
		m.symbols, _ = f.DynamicSymbols()
		m.symbols = slices.DeleteFunc(m.symbols, func(y elf.Symbol) bool {
			return elf.ST_TYPE(y.Info) != elf.STT_FUNC || y.Value == 0
		})
		slices.SortFunc(m.symbols, func(a, b elf.Symbol) int { return cmp.Compare(a.Value, b.Value) })
	}
}

// buildID is the GNU build id, in hexadecimal.
func buildID(f *elf.File) string {
	section := f.Section(".note.gnu.build-id")
	if section == nil || section.Size > 1024 {
		return ""
	}
	b, err := section.Data()
	if err != nil || len(b) < 16 {
		return ""
	}
	// Name size, description size, type, "GNU\0", description.
	n := int(f.ByteOrder.Uint32(b[4:]))
	if n < 0 || 16+n > len(b) {
		return ""
	}
	return fmt.Sprintf("%x", b[16:16+n])
}

func layerOf(path string) layer {
	name := filepath.Base(path)
	has := func(prefixes ...string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
	}
	switch {
	case has("libmpi_mpifh.", "libmpi_usempi", "libmpichfort.", "libmpifort."):
		return layerFortran
	case has("libmpi.so", "libmpich.so", "libmpi_abi", "libpmpi", "libopen-pal.", "libopen-rte.", "libopen_mpi.", "libmpitrace."),
		has("mca_") && strings.Contains(path, "openmpi"):
		return layerLibrary
	}
	return layerProgram
}

// standsFor tells whether the Fortran entry point around a return address is
// the one of fn, and not one that needs fn as a helper.
func (m *module) standsFor(address uint64, fn *mpi.Func) bool {
	at := address - m.Base
	i, _ := slices.BinarySearchFunc(m.symbols, at, func(y elf.Symbol, a uint64) int { return cmp.Compare(y.Value, a) })
	if i == 0 {
		return true // nothing is known about it
	}
	start := m.symbols[i-1].Value
	if size := m.symbols[i-1].Size; size != 0 && at > start+size {
		return true
	}
	want := strings.ToLower(strings.TrimPrefix(fn.Name, "MPI_"))
	named := false
	for i--; i >= 0 && m.symbols[i].Value == start; i-- {
		name, ok := entryPoint(m.symbols[i].Name)
		if !ok {
			continue
		}
		named = true
		if name == want || name+"_c" == want {
			return true
		}
	}
	return !named
}

// entryPoint is the function that a Fortran symbol stands for: "send" for
// mpi_send__, PMPI_SEND, ompi_send_f, mpi_send_f08ts_, MPIR_Send_cdesc, ….
func entryPoint(symbol string) (string, bool) {
	name := strings.ToLower(symbol)
	for _, prefix := range []string{"pompi_", "ompi_", "pmpir_", "mpir_", "pmpi_", "mpi_"} {
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		rest = strings.TrimRight(rest, "_")
		for _, suffix := range []string{"_large", "_cdesc", "_f08ts", "_f08", "_f"} {
			rest = strings.TrimSuffix(rest, suffix)
		}
		return rest, rest != ""
	}
	return "", false
}
