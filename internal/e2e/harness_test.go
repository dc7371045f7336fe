// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long a program may take: the machine may be busy.
const patience = 3 * time.Minute

// implementation is an MPI that is installed.
type implementation struct {
	name string // "openmpi", "mpich"
	abi  string // as Process.ABI
}

var implementations = []implementation{{"openmpi", "openmpi"}, {"mpich", "mpich"}}

func (m implementation) launcher() string { return "mpirun." + m.name }

// require skips the test, or fails it where everything must be there.
func require(t *testing.T, format string, arguments ...any) {
	t.Helper()
	if os.Getenv("MPITRACE_REQUIRE_MPI") == "1" {
		t.Fatalf(format, arguments...)
	}
	t.Skipf(format, arguments...)
}

// library is the path of the recorder under test: what MPITRACE_LIB names,
// else the one that make lib built.
func library(t *testing.T) string {
	t.Helper()
	path := os.Getenv("MPITRACE_LIB")
	if path == "" {
		path = root("lib", "libmpitrace.so")
	}
	if _, err := os.Stat(path); err != nil {
		require(t, "the recorder is not built (make lib): %v", err)
	}
	return path
}

// root is a path in the source tree.
func root(elements ...string) string {
	path, err := filepath.Abs(filepath.Join(append([]string{"..", ".."}, elements...)...))
	if err != nil {
		panic(err)
	}
	return path
}

// each runs a test with every MPI. It needs the recorder.
func each(t *testing.T, test func(t *testing.T, m implementation)) {
	library(t)
	for _, m := range implementations {
		t.Run(m.name, func(t *testing.T) {
			for _, tool := range []string{m.launcher(), "mpicc." + m.name} {
				if _, err := exec.LookPath(tool); err != nil {
					require(t, "%s is not installed", tool)
				}
			}
			test(t, m)
		})
	}
}

// scratch is a folder for what is built once for all tests.
var scratch string

func TestMain(m *testing.M) {
	os.Exit(withScratch(m))
}

func withScratch(m *testing.M) int {
	dir, err := os.MkdirTemp("", "mpitrace-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	scratch = dir
	return m.Run()
}

var built sync.Map // path of a program -> func() error

// compile builds a program of testdata/mpi and returns its path.
func compile(t *testing.T, m implementation, source string, flags ...string) string {
	t.Helper()
	compilers := map[string]string{".c": "mpicc.", ".cc": "mpicxx.", ".f": "mpif77.", ".f90": "mpif90."}
	compiler := compilers[filepath.Ext(source)] + m.name
	if _, err := exec.LookPath(compiler); err != nil {
		require(t, "%s is not installed", compiler)
	}
	name := m.name + "-" + source + strings.Join(flags, "")
	path := filepath.Join(scratch, strings.ReplaceAll(name, "/", "_"))
	once, _ := built.LoadOrStore(path, sync.OnceValue(func() error {
		arguments := []string{"-g", "-O1", "-o", path, root("testdata", "mpi", source)}
		if strings.HasSuffix(source, ".c") {
			arguments = append(arguments, "-D_GNU_SOURCE", "-Wno-stringop-overflow")
		}
		arguments = append(append(arguments, flags...), "-lm", "-lpthread")
		out, err := exec.Command(compiler, arguments...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s %s: %w\n%s", compiler, source, err, out)
		}
		return nil
	}))
	if err := once.(func() error)(); err != nil {
		t.Fatal(err)
	}
	return path
}

// job is a program to run under mpirun.
type job struct {
	ranks    int
	program  string // path
	args     []string
	settings []string // NAME=VALUE for the ranks
	preload  string   // "" runs without the recorder
	dir      string   // working folder; "" for a temporary one
	wrap     []string // a command in front of mpirun
}

// result is what a command did.
type result struct {
	out, errors string
	code        int
	dir         string
}

// run runs a job.
func (m implementation) run(t *testing.T, j job) result {
	t.Helper()
	var args []string
	set := func(name, value string) {
		if m.name == "openmpi" {
			args = append(args, "-x", name+"="+value)
		} else {
			args = append(args, "-genv", name, value)
		}
	}
	args = append(args, j.wrap...)
	args = append(args, m.launcher())
	if m.name == "openmpi" {
		args = append(args, "--oversubscribe")
	}
	if j.preload != "" {
		set("LD_PRELOAD", j.preload)
	}
	for _, s := range j.settings {
		name, value, _ := strings.Cut(s, "=")
		set(name, value)
	}
	args = append(args, "-n", fmt.Sprint(j.ranks), j.program)
	return command(t, j.dir, append(args, j.args...)...)
}

// command runs a command line in dir, and ends all of it when it takes too long.
func command(t *testing.T, dir string, args ...string) result {
	t.Helper()
	if dir == "" {
		dir = t.TempDir()
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = environ()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("%q took longer than %v\n%s%s", args, patience, out.String(), errs.String())
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%q: %v", args, err)
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode(), dir}
}

// environ is this process's environment without settings of the recorder,
// which are a test's to make, and with what Open MPI wants of root.
func environ() []string {
	var env []string
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "MPITRACE_") && !strings.HasPrefix(e, "LD_PRELOAD=") {
			env = append(env, e)
		}
	}
	return append(env, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1")
}

// ok fails the test unless the command succeeded.
func (r result) ok(t *testing.T) result {
	t.Helper()
	if r.code != 0 {
		t.Fatalf("exit code %d\n%s%s", r.code, r.out, r.errors)
	}
	return r
}

// traces are the trace files in the result's folder, by rank.
func (r result) traces(t *testing.T, ranks int) []string {
	t.Helper()
	var paths []string
	for i := range ranks {
		path := filepath.Join(r.dir, fmt.Sprintf("trace.%d", i))
		if _, err := os.Stat(path); err != nil {
			t.Fatalf("rank %d left no trace: %v\n%s", i, err, r.errors)
		}
		paths = append(paths, path)
	}
	return paths
}
