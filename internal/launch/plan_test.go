// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const library = "/opt/lib/libmpitrace.so"

// programs makes a folder of executables and puts it in front of PATH.
func programs(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return dir
}

// saying is a Prober for a launcher that prints text.
func saying(text string) Prober {
	return func(string) (string, error) { return text, nil }
}

func TestPrepare(t *testing.T) {
	programs(t, "mpirun", "mpirun.openmpi", "mpiexec.hydra", "prterun", "srun", "app")
	openMPI := saying("mpirun (Open MPI) 4.1.4\n\nReport bugs to …")
	hydra := saying("HYDRA build details:\n    Version: 4.0.2")
	for _, tt := range []struct {
		name     string
		command  []string
		environ  []string
		settings []string
		probe    Prober
		launcher Launcher
		args     []string
		added    []string
	}{
		{
			name: "program", command: []string{"app", "-x", "1"}, settings: []string{"MPITRACE_MODE=ring"},
			launcher: None, args: []string{"app", "-x", "1"},
			added: []string{"LD_PRELOAD=" + library, "MPITRACE_MODE=ring"},
		},
		{
			name: "program with a preload of its own", command: []string{"app"}, environ: []string{"LD_PRELOAD=/a.so /b.so"},
			launcher: None, args: []string{"app"},
			added: []string{"LD_PRELOAD=/a.so:/b.so:" + library},
		},
		{
			name: "preloaded already", command: []string{"app"}, environ: []string{"LD_PRELOAD=" + library},
			launcher: None, args: []string{"app"},
			added: []string{"LD_PRELOAD=" + library},
		},
		{
			name: "Open MPI", command: []string{"mpirun", "-n", "4", "./app"}, probe: openMPI,
			environ: []string{"MPITRACE_BUFFER=1M", "MPITRACE_MODE=stream"}, settings: []string{"MPITRACE_MODE=ring"},
			launcher: OpenMPI,
			args: []string{"mpirun", "-x", "LD_PRELOAD=" + library, "-x", "MPITRACE_MODE=ring", "-x", "MPITRACE_BUFFER=1M",
				"-n", "4", "./app"},
		},
		{
			name: "Open MPI, preload exported", command: []string{"mpirun", "-x", "A", "-x", "LD_PRELOAD=/a.so", "./app"}, probe: openMPI,
			launcher: OpenMPI,
			args:     []string{"mpirun", "-x", "A", "-x", "LD_PRELOAD=/a.so:" + library, "./app"},
		},
		{
			name: "Open MPI, preload in the environment", command: []string{"mpirun", "./app"}, probe: openMPI,
			environ:  []string{"LD_PRELOAD=/a.so"},
			launcher: OpenMPI,
			args:     []string{"mpirun", "-x", "LD_PRELOAD=/a.so:" + library, "./app"},
		},
		{
			name: "Open MPI, several programs", command: []string{"mpirun", "-n", "1", "./a", ":", "-x", "LD_PRELOAD=/a.so", "./b"}, probe: openMPI,
			launcher: OpenMPI, settings: []string{"MPITRACE_MODE=ring"},
			args: []string{"mpirun", "-x", "LD_PRELOAD=" + library, "-x", "MPITRACE_MODE=ring", "-n", "1", "./a", ":",
				"-x", "MPITRACE_MODE=ring", "-x", "LD_PRELOAD=/a.so:" + library, "./b"},
		},
		{
			name: "PRRTE", command: []string{"prterun", "./app"}, launcher: OpenMPI,
			args: []string{"prterun", "-x", "LD_PRELOAD=" + library, "./app"},
		},
		{
			name: "Hydra", command: []string{"mpiexec.hydra", "-n", "4", "./app"}, probe: hydra, settings: []string{"MPITRACE_FILTER=p2p,-MPI_Iprobe"},
			launcher: Hydra,
			args: []string{"mpiexec.hydra", "-genv", "LD_PRELOAD", library, "-genv", "MPITRACE_FILTER", "p2p,-MPI_Iprobe",
				"-n", "4", "./app"},
		},
		{
			name: "Hydra, preload of one program", probe: hydra,
			command:  []string{"mpiexec.hydra", "-n", "1", "-env", "LD_PRELOAD", "/a.so", "./a", ":", "-n", "1", "./b"},
			launcher: Hydra,
			args: []string{"mpiexec.hydra", "-genv", "LD_PRELOAD", library,
				"-n", "1", "-env", "LD_PRELOAD", "/a.so:" + library, "./a", ":", "-n", "1", "./b"},
		},
		{
			name: "Hydra, preload of all", command: []string{"mpirun", "-genv", "LD_PRELOAD", "/a.so", "./app"},
			probe: saying("Intel(R) MPI Library for Linux* OS, Version 2021.13"), launcher: Hydra,
			args: []string{"mpirun", "-genv", "LD_PRELOAD", "/a.so:" + library, "./app"},
		},
		{
			name: "Slurm", command: []string{"srun", "-n", "4", "app"}, settings: []string{"MPITRACE_FILTER=p2p,io"},
			launcher: Slurm,
			args:     []string{"srun", "--export=ALL,LD_PRELOAD=" + library, "-n", "4", "app"},
			added:    []string{"MPITRACE_FILTER=p2p,io"},
		},
		{
			name: "Slurm, exporting little", command: []string{"srun", "-p", "app", "--export=PATH,LD_PRELOAD=/a.so", "app"},
			settings: []string{"MPITRACE_MODE=ring"}, launcher: Slurm,
			args:  []string{"srun", "-p", "app", "--export=PATH,LD_PRELOAD=/a.so:" + library + ",MPITRACE_MODE", "app"},
			added: []string{"MPITRACE_MODE=ring"},
		},
		{
			name: "Slurm, exporting nothing", command: []string{"srun", "--export", "NONE", "app", "--export=mine"}, launcher: Slurm,
			args: []string{"srun", "--export", "LD_PRELOAD=" + library, "app", "--export=mine"},
		},
		{
			name: "Slurm, the program's --export", command: []string{"srun", "app", "--export=mine"}, launcher: Slurm,
			environ: []string{"SLURM_EXPORT_ENV=HOME"},
			args:    []string{"srun", "--export=HOME,LD_PRELOAD=" + library, "app", "--export=mine"},
		},
		{
			name: "behind a wrapper", command: []string{"env", "A=1", "mpirun.openmpi", "./app"}, probe: openMPI, launcher: OpenMPI,
			args: []string{"env", "A=1", "mpirun.openmpi", "-x", "LD_PRELOAD=" + library, "./app"},
		},
		{
			name: "a program with a launcher as argument", command: []string{"app", "mpirun"}, launcher: None,
			args: []string{"app", "mpirun"}, added: []string{"LD_PRELOAD=" + library},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plan, err := Prepare(tt.command, tt.environ, tt.settings, library, tt.probe)
			if err != nil {
				t.Fatal(err)
			}
			if plan.Launcher != tt.launcher {
				t.Errorf("launcher %v, want %v", plan.Launcher, tt.launcher)
			}
			if d := cmp.Diff(tt.args, plan.Args); d != "" {
				t.Errorf("arguments (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.added, plan.Added); d != "" {
				t.Errorf("environment (-want +got):\n%s", d)
			}
			if plan.Launcher != None && value(plan.Environ, "LD_PRELOAD") != value(tt.environ, "LD_PRELOAD") {
				t.Errorf("the launcher itself is preloaded: %v", plan.Environ)
			}
		})
	}
}

func TestPrepareErrors(t *testing.T) {
	dir := programs(t, "mpirun")
	if err := os.WriteFile(filepath.Join(dir, "plain"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		command []string
		want    string
	}{
		{[]string{"no-such-program"}, "no-such-program: command not found"},
		{[]string{"/no/such/program"}, "/no/such/program: command not found"},
		{[]string{filepath.Join(dir, "plain")}, filepath.Join(dir, "plain") + ": cannot be run: permission denied"},
		{[]string{"env", "srun-not-here", "app"}, "srun-not-here: command not found"},
		{[]string{"mpirun", "app"}, filepath.Join(dir, "mpirun") + ` is no launcher that is known here (its --version says "toolbox 1"; ` +
			`known are Open MPI, MPICH and Intel MPI's Hydra, and Slurm)`},
	} {
		_, err := Prepare(tt.command, nil, nil, library, saying("toolbox 1\nmore"))
		if err == nil {
			t.Errorf("%v: no error", tt.command)
			continue
		}
		if got := err.Error(); got != tt.want {
			t.Errorf("%v:\n got %s\nwant %s", tt.command, got, tt.want)
		}
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"a-b_c=1":  "a-b_c=1",
		"":         "''",
		"trace.%r": "trace.%r",
		"a b":      "'a b'",
		"it's":     `'it'\''s'`,
		"*":        "'*'",
	} {
		if got := Quote(in); got != want {
			t.Errorf("Quote(%q) = %s, want %s", in, got, want)
		}
	}
}
