// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"bufio"
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/mpitrace/mpitrace/internal/config"
	"github.com/mpitrace/mpitrace/mpi"
)

// Subject is what is examined.
type Subject struct {
	Program string   // a path, or a name to look up in PATH; "" for the machine alone
	Library string   // libmpitrace.so; "" if it was not found
	Environ []string // NAME=VALUE
}

// Examine looks at everything that can be seen before the program runs. The
// only error is a program that cannot be read.
func Examine(s Subject) (*Report, error) {
	r := &Report{Program: s.Program}
	lookup := func(name string) string {
		for _, e := range s.Environ {
			if v, ok := strings.CutPrefix(e, name+"="); ok {
				return v
			}
		}
		return ""
	}
	if s.Program != "" {
		if err := r.program(s.Program, s.Library, NewLoader(lookup)); err != nil {
			return nil, err
		}
	}
	r.library(s.Library)
	c, problems := config.Parse(s.Environ)
	for _, p := range problems {
		r.add("settings", Warning, "%v", p)
	}
	r.clock("/proc/cpuinfo", "/sys/devices/system/clocksource/clocksource0/current_clocksource")
	r.output(c.Output.Path(config.Place{Host: hostname(), PID: os.Getpid(), Job: config.JobID(s.Environ)}))
	r.rings(c.RingDir, c.Buffer)
	r.limits()
	r.finish()
	return r, nil
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return name
}

// program looks at the program's file and all that is loaded with it.
func (r *Report) program(name, library string, loader *Loader) error {
	path, err := exec.LookPath(name)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		// A library, or a program without the x bit, can be looked at too.
		if _, statErr := os.Stat(name); statErr != nil {
			return fmt.Errorf("%s: not found", name)
		}
		path = name
	}
	if interpreter, ok := script(path); ok {
		r.add("program", Note, "%s is a script, run by %s: what that loads while it runs is recorded too", name, interpreter)
		if path, err = exec.LookPath(interpreter); err != nil {
			return fmt.Errorf("%s: its interpreter %s: not found", name, interpreter)
		}
	}
	f, err := elf.Open(path)
	if err != nil {
		var format *elf.FormatError
		if errors.As(err, &format) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("%s: neither an ELF program nor a script", path)
		}
		return fmt.Errorf("%s: %w", path, err)
	}
	defer f.Close()
	objects, err := loader.Closure(path)
	if err != nil {
		return err
	}

	kind, dynamic := linkage(f)
	r.add("program", OK, "%s: %s, %s", path, strings.ToLower(strings.TrimPrefix(f.Machine.String(), "EM_")), kind)
	r.machine(f)
	r.privileged(path, dynamic)
	if !dynamic {
		r.static(path, f)
		return nil
	}
	for _, o := range objects {
		if o.Path == "" {
			level := Error
			if o.Preload {
				level = Warning
			}
			c := r.add("program", level, "%s: not found, needed by %s", o.Name, neededBy(o, objects))
			c.Hint = "is LD_LIBRARY_PATH as it is when the program runs?"
		}
	}
	r.linked(objects, library)
	r.bindings(objects)
	r.tools(objects, library)
	r.blind(objects, f)
	return nil
}

func neededBy(o *Object, objects []*Object) string {
	if o.Preload {
		return "LD_PRELOAD"
	}
	for _, p := range objects {
		if slices.Contains(p.Needed, o.Name) {
			return p.Path
		}
	}
	return "the program"
}

// script returns the interpreter of a script.
func script(path string) (string, bool) {
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	line, err := bufio.NewReaderSize(f, 256).ReadSlice('\n')
	if err != nil && len(line) == 0 {
		return "", false
	}
	rest, ok := bytes.CutPrefix(line, []byte("#!"))
	words := strings.Fields(string(rest))
	if !ok || len(words) == 0 {
		return "", false
	}
	if filepath.Base(words[0]) == "env" {
		for _, w := range words[1:] {
			if !strings.HasPrefix(w, "-") && !strings.Contains(w, "=") {
				return w, true
			}
		}
	}
	return words[0], true
}

// linkage says how a program is linked, and whether a loader will run.
func linkage(f *elf.File) (string, bool) {
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		b := make([]byte, min(p.Filesz, 4096))
		if _, err := p.ReadAt(b, 0); err != nil {
			return "dynamically linked", true
		}
		return "dynamically linked, loader " + string(bytes.TrimRight(b, "\x00")), true
	}
	if f.Type == elf.ET_DYN {
		if needed, _ := f.ImportedLibraries(); len(needed) > 0 {
			return "a shared library", true
		}
	}
	return "statically linked", false
}

// machine compares the program with what the library is made for.
func (r *Report) machine(f *elf.File) {
	native := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[runtime.GOARCH]
	if f.Class != elf.ELFCLASS64 || f.Machine != native {
		r.add("program", Error, "it is for %v, %v: the library is 64-bit %v, and the loader will refuse it", f.Machine, f.Class, native)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			b := make([]byte, min(p.Filesz, 4096))
			if _, err := p.ReadAt(b, 0); err == nil && bytes.Contains(b, []byte("musl")) {
				r.add("program", Error, "it is linked to musl: the library needs glibc")
			}
		}
	}
	if f.Section(".go.buildinfo") != nil && f.Section(".dynamic") != nil {
		r.add("program", Warning, "it contains a Go runtime, and the recorder brings a second one: the recorder falls back to its plain writer")
	}
}

// privileged finds programs for which the loader ignores LD_PRELOAD.
func (r *Report) privileged(path string, dynamic bool) {
	if !dynamic {
		return
	}
	info, err := os.Stat(path)
	if err != nil {
		return
	}
	why := ""
	switch {
	case info.Mode()&os.ModeSetuid != 0:
		why = "is setuid"
	case info.Mode()&os.ModeSetgid != 0:
		why = "is setgid"
	default:
		if n, err := unix.Getxattr(path, "security.capability", nil); err == nil && n > 0 {
			why = "has file capabilities"
		}
	}
	if why != "" {
		c := r.add("program", Error, "%s %s: the loader ignores LD_PRELOAD", path, why)
		c.Hint = "trace a copy without that"
	}
}

// static looks into a statically linked program.
func (r *Report) static(path string, f *elf.File) {
	symbols, err := f.Symbols()
	if err != nil || len(symbols) == 0 {
		c := r.add("mpi", Error, "it is statically linked and has no symbols: LD_PRELOAD has no effect, and whether libmpitrace.a is in it cannot be told")
		c.Hint = "link it with libmpitrace.a in front of the MPI library, and do not strip it before asking"
		return
	}
	defined := map[string]bool{}
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF {
			defined[s.Name] = true
		}
	}
	ours := false
	for name := range defined {
		if strings.HasPrefix(name, "mpitrace_") {
			ours = true
		}
	}
	usesMPI := defined["PMPI_Init"] || defined["MPI_Init"] || defined["PMPI_Init_thread"]
	if usesMPI {
		l := identify(path, func(name string) bool { return defined[name] }, f)
		l.Static = true
		r.MPI = l
		r.add("mpi", OK, "%s %s, linked statically, ABI %s", l.Family, l.Version, l.ABI)
	}
	switch {
	case !usesMPI:
		r.add("mpi", Error, "it is statically linked and contains no MPI")
	case ours:
		r.add("mpi", OK, "libmpitrace.a is linked in")
	default:
		c := r.add("mpi", Error, "it is statically linked without libmpitrace.a: LD_PRELOAD has no effect")
		c.Hint = "link again with libmpitrace.a in front of the MPI library: cc app.o -lmpitrace -l:libmpich.a (the other order links, and records nothing)"
	}
}

// linked says which MPI the program uses.
func (r *Report) linked(objects []*Object, library string) {
	for _, o := range objects {
		if o.Path == "" || !o.Defines["PMPI_Init"] && !o.Defines["MPI_Init"] || isOurs(o) || known(o) != "" {
			continue
		}
		f, err := elf.Open(o.Path)
		if err != nil {
			continue
		}
		l := identify(o.Path, func(name string) bool { return anyDefines(objects, name) }, f)
		f.Close()
		l.Soname = o.Soname
		if r.MPI != nil {
			c := r.add("mpi", Warning, "a second MPI library is loaded: %s", o.Path)
			c.Hint = "programs with two MPIs rarely run; only calls into the first are recorded"
			continue
		}
		r.MPI = l
		r.add("mpi", OK, "%s (%s)", strings.TrimSpace(l.Family+" "+l.Version), o.Path)
		switch l.ABI {
		case "opaque":
			r.add("abi", Warning, "not recognised: calls are counted and timed, their arguments are not read")
		default:
			r.add("abi", OK, "%s: all arguments are recorded", l.ABI)
		}
	}
	if r.MPI != nil {
		r.coverage(objects[0])
		return
	}
	if anyImports(objects, "dlopen") {
		c := r.add("mpi", Warning, "none among the libraries that it is linked to; it can load more with dlopen, as mpi4py does")
		c.Hint = "give the extension or plug-in that is linked to MPI: mpitrace doctor .../MPI.*.so"
		return
	}
	r.add("mpi", Error, "it is not linked to MPI: there is nothing to record")
}

// coverage names the MPI functions of the program that have no row.
func (r *Report) coverage(program *Object) {
	var calls int
	var unknown []string
	for name := range program.Imports {
		if !strings.HasPrefix(name, "MPI_") && !strings.HasPrefix(name, "PMPI_") {
			continue
		}
		calls++
		if mpi.ByName(strings.TrimPrefix(name, "P")) == nil {
			unknown = append(unknown, name)
		}
	}
	if calls > 0 {
		r.add("mpi", OK, "it calls %d different MPI functions itself", calls)
	}
	if len(unknown) > 0 {
		sort.Strings(unknown)
		r.add("mpi", Warning, "not recorded, because not in the table: %s", strings.Join(unknown, ", "))
	}
}

func anyDefines(objects []*Object, name string) bool {
	return slices.ContainsFunc(objects, func(o *Object) bool { return o.Defines[name] && !isOurs(o) })
}

func anyImports(objects []*Object, name string) bool {
	return slices.ContainsFunc(objects, func(o *Object) bool { return o.Imports[name] })
}

// identify tells which MPI a file is. defined tells whether a symbol is
// defined in the file or in what is loaded with it.
func identify(path string, defined func(string) bool, f *elf.File) *Library {
	l := &Library{Family: "unknown", ABI: "opaque", Path: path}
	base := filepath.Base(path)
	switch {
	case strings.HasPrefix(base, "libmpi_abi"):
		l.Family, l.ABI = "MPI ABI", "abi"
	case defined("ompi_mpi_comm_world"):
		l.Family, l.ABI = "Open MPI", "openmpi"
	case defined("MPII_Version_string") || defined("MPIR_Version_string") || defined("MPIR_F_MPI_BOTTOM"):
		l.Family, l.ABI = "MPICH", "mpich"
	}
	for _, name := range []string{"ompi_version_string", "MPII_Version_string", "MPIR_Version_string"} {
		if l.Version == "" {
			l.Version = stringOf(f, name)
		}
	}
	return l
}

// stringOf returns the C string that a symbol of f names.
func stringOf(f *elf.File, name string) string {
	symbols, _ := f.DynamicSymbols()
	static, _ := f.Symbols()
	for _, s := range append(symbols, static...) {
		if s.Name != name || int(s.Section) >= len(f.Sections) || s.Section == elf.SHN_UNDEF {
			continue
		}
		section := f.Sections[s.Section]
		b := make([]byte, min(s.Size, 256))
		if s.Value < section.Addr {
			return ""
		}
		if _, err := section.ReadAt(b, int64(s.Value-section.Addr)); err != nil {
			return ""
		}
		text, _, _ := strings.Cut(string(b), "\x00")
		return text
	}
	return ""
}

// bindings says which languages' layers are loaded.
func (r *Report) bindings(objects []*Object) {
	var names []string
	for _, o := range objects {
		for _, layer := range []struct{ prefix, name string }{
			{"libmpi_mpifh", "Fortran mpif.h"},
			{"libmpi_usempi_", "Fortran use mpi"},
			{"libmpi_usempif08", "Fortran mpi_f08"},
			{"libmpichfort", "Fortran"},
			{"libmpifort", "Fortran"},
			{"libmpichf90", "Fortran"},
			{"libmpi_cxx", "C++"},
			{"libmpichcxx", "C++"},
			{"libmpicxx", "C++"},
		} {
			if strings.HasPrefix(filepath.Base(o.Name), layer.prefix) && !slices.Contains(names, layer.name) {
				names = append(names, layer.name)
			}
		}
	}
	if len(names) > 0 {
		r.add("bindings", OK, "C, %s: each call is recorded once, at the C level", strings.Join(names, ", "))
	}
}

// blind says what will not be seen although all is well.
func (r *Report) blind(objects []*Object, f *elf.File) {
	if flags, _ := f.DynValue(elf.DT_FLAGS_1); len(flags) > 0 && flags[0]&uint64(elf.DF_1_NODEFLIB) != 0 {
		r.add("unseen", Note, "it does not search the default folders for libraries")
	}
	if anyImports(objects[:1], "dlopen") || anyImports(objects[:1], "dlmopen") {
		r.add("unseen", Note, "it uses dlopen: MPI calls of plug-ins that it opens with RTLD_DEEPBIND, and of functions that it looks up in a handle, are not seen under LD_PRELOAD")
	}
}
