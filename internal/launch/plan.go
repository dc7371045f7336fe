// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/mpitrace/mpitrace/internal/config"
)

// Plan is a command line that has been put under the recorder.
type Plan struct {
	Launcher Launcher
	Path     string   // the executable file of Args[0]
	Args     []string // the command line
	Environ  []string // its environment
	// Added are the variables of Environ that are not from the caller's
	// environment. With a launcher there are none unless it is Slurm, which
	// hands its own environment on.
	Added []string
}

// NotFoundError says that a program of the command line cannot be run.
type NotFoundError struct {
	Program string
	Err     error
}

func (e *NotFoundError) Error() string {
	if errors.Is(e.Err, exec.ErrNotFound) || errors.Is(e.Err, os.ErrNotExist) {
		return fmt.Sprintf("%s: command not found", e.Program)
	}
	return fmt.Sprintf("%s: cannot be run: %v", e.Program, e.Err)
}

func (e *NotFoundError) Unwrap() error { return e.Err }

// Prepare puts command under the recorder: library is preloaded into the
// ranks, behind what is preloaded already, and they get settings
// (NAME=VALUE), which take precedence over those in environ. The settings in
// environ are handed to the ranks too: a launcher may not do so by itself.
func Prepare(command, environ, settings []string, library string, probe Prober) (*Plan, error) {
	if len(command) == 0 {
		return nil, errors.New("no command")
	}
	plan := &Plan{Args: slices.Clone(command), Environ: slices.Clone(environ)}
	var err error
	if plan.Path, err = find(command[0]); err != nil {
		return nil, err
	}
	settings = inherit(settings, environ)
	at := position(command)
	if at >= 0 {
		path, err := find(command[at])
		if err != nil {
			return nil, err
		}
		if plan.Launcher, err = identify(path, probe); err != nil {
			return nil, err
		}
	}

	head, rest := slices.Clone(plan.Args[:at+1]), slices.Clone(plan.Args[at+1:])
	preload := join(value(environ, "LD_PRELOAD"), library)
	switch plan.Launcher {
	case None:
		plan.set("LD_PRELOAD", preload)
		for _, s := range settings {
			name, v, _ := strings.Cut(s, "=")
			plan.set(name, v)
		}
		return plan, nil
	case OpenMPI:
		plan.Args = head
		for i, part := range split(rest) {
			if i > 0 {
				plan.Args = append(plan.Args, ":")
			}
			part, given := openMPIPreload(part, library)
			if !given {
				plan.Args = append(plan.Args, "-x", "LD_PRELOAD="+preload)
			}
			for _, s := range settings {
				plan.Args = append(plan.Args, "-x", s)
			}
			plan.Args = append(plan.Args, part...)
		}
	case Hydra:
		rest, given := hydraPreload(rest, library)
		var options []string
		if !given {
			options = append(options, "-genv", "LD_PRELOAD", preload)
		}
		for _, s := range settings {
			name, v, _ := strings.Cut(s, "=")
			options = append(options, "-genv", name, v)
		}
		plan.Args = slices.Concat(head, options, rest)
	case Slurm:
		// A value may hold a comma, which --export cannot: the settings go
		// into srun's environment, and --export names them.
		var names []string
		for _, s := range settings {
			name, v, _ := strings.Cut(s, "=")
			plan.set(name, v)
			names = append(names, name)
		}
		base := value(environ, "SLURM_EXPORT_ENV")
		plan.Args = slices.Concat(head, slurmExport(rest, base, preload, library, names))
	}
	return plan, nil
}

// set puts NAME=value into the plan's environment.
func (p *Plan) set(name, value string) {
	p.Environ = slices.DeleteFunc(p.Environ, func(e string) bool { return strings.HasPrefix(e, name+"=") })
	p.Environ = append(p.Environ, name+"="+value)
	p.Added = append(p.Added, name+"="+value)
}

// String is the command line as one would type it in a shell.
func (p *Plan) String() string {
	var words []string
	for _, e := range p.Added {
		name, v, _ := strings.Cut(e, "=")
		words = append(words, name+"="+Quote(v))
	}
	for _, a := range p.Args {
		words = append(words, Quote(a))
	}
	return strings.Join(words, " ")
}

// Quote returns word as a shell takes it.
func Quote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("%+,-./:=@_", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func find(program string) (string, error) {
	path, err := exec.LookPath(program)
	// A program found through a relative PATH entry is what a shell runs too.
	if err != nil && !errors.Is(err, exec.ErrDot) {
		var reason *exec.Error
		if errors.As(err, &reason) {
			err = reason.Err
		}
		return "", &NotFoundError{program, err}
	}
	return path, nil
}

// inherit adds the recorder's settings of environ that settings does not have.
func inherit(settings, environ []string) []string {
	all := slices.Clone(settings)
	for _, e := range environ {
		name, _, _ := strings.Cut(e, "=")
		if _, ok := config.Lookup(name); ok && value(all, name) == "" {
			all = append(all, e)
		}
	}
	return all
}

func value(environ []string, name string) string {
	for _, e := range environ {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}

// join appends library to a list of libraries to preload, once.
func join(list, library string) string {
	// The loader takes spaces and colons alike.
	libraries := strings.FieldsFunc(list, func(r rune) bool { return r == ':' || r == ' ' })
	if !slices.Contains(libraries, library) {
		libraries = append(libraries, library)
	}
	return strings.Join(libraries, ":")
}

// split cuts a command line of several programs at its colons: to Open MPI, -x
// counts for one of them.
func split(args []string) [][]string {
	var parts [][]string
	for {
		i := slices.Index(args, ":")
		if i < 0 {
			return append(parts, args)
		}
		parts = append(parts, args[:i])
		args = args[i+1:]
	}
}

// openMPIPreload appends library to the -x LD_PRELOAD=… of mpirun's own
// options, and tells whether there was one.
func openMPIPreload(args []string, library string) ([]string, bool) {
	args = slices.Clone(args)
	given := false
	for i := 0; i+1 < len(args); i++ {
		if args[i] != "-x" && args[i] != "--x" {
			continue
		}
		if v, ok := strings.CutPrefix(args[i+1], "LD_PRELOAD="); ok {
			args[i+1] = "LD_PRELOAD=" + join(v, library)
			given = true
		}
		i++
	}
	return args, given
}

// hydraPreload appends library to the -genv LD_PRELOAD … and -env LD_PRELOAD …
// of mpiexec's own options, and tells whether there was a global one.
func hydraPreload(args []string, library string) ([]string, bool) {
	args = slices.Clone(args)
	given := false
	for i := 0; i+2 < len(args); i++ {
		switch args[i] {
		case "-genv", "--genv", "-env", "--env":
		default:
			continue
		}
		if args[i+1] == "LD_PRELOAD" {
			args[i+2] = join(args[i+2], library)
			given = given || strings.HasSuffix(args[i], "genv")
		}
		i += 2
	}
	return args, given
}

// slurmValues are srun's one-letter options that take a value.
const slurmValues = "AbBcCdDeGiJLmMnNopqrStTwWx"

// slurmExport puts the library and the names of the settings into srun's
// --export; base is what holds without that option.
func slurmExport(args []string, base, preload, library string, names []string) []string {
	args = slices.Clone(args)
	if base == "" {
		base = "ALL"
	}
	for i := 0; i < len(args); i++ {
		a := args[i]
		if v, ok := strings.CutPrefix(a, "--export="); ok {
			args[i] = "--export=" + export(v, preload, library, names)
			return args
		}
		if a == "--export" && i+1 < len(args) {
			args[i+1] = export(args[i+1], preload, library, names)
			return args
		}
		if len(a) == 2 && a[0] == '-' && strings.IndexByte(slurmValues, a[1]) >= 0 {
			i++
			continue
		}
		if !strings.HasPrefix(a, "-") {
			// The program, unless it is the value of a long option.
			if _, err := find(a); err == nil {
				break
			}
		}
	}
	return slices.Insert(args, 0, "--export="+export(base, preload, library, names))
}

func export(list, preload, library string, names []string) string {
	var words []string
	given, all := false, false
	for _, w := range strings.Split(list, ",") {
		switch v, ok := strings.CutPrefix(w, "LD_PRELOAD="); {
		case w == "" || strings.EqualFold(w, "NONE") || strings.EqualFold(w, "NIL"):
			continue
		case ok:
			w = "LD_PRELOAD=" + join(v, library)
			given = true
		case strings.EqualFold(w, "ALL"):
			all = true
		}
		words = append(words, w)
	}
	if !given {
		words = append(words, "LD_PRELOAD="+preload)
	}
	if !all {
		words = append(words, names...)
	}
	return strings.Join(words, ",")
}
