// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Launcher is who starts the ranks.
type Launcher uint8

// The launchers.
const (
	None    Launcher = iota // the command is the program itself
	OpenMPI                 // mpirun, mpiexec, orterun, prterun of Open MPI
	Hydra                   // mpirun, mpiexec, mpiexec.hydra of MPICH, Intel MPI, MVAPICH
	Slurm                   // srun
)

// String is the launcher's name in messages.
func (l Launcher) String() string {
	switch l {
	case OpenMPI:
		return "Open MPI"
	case Hydra:
		return "Hydra (MPICH, Intel MPI)"
	case Slurm:
		return "Slurm"
	}
	return "none"
}

// launcherNames are the programs that may be launchers; what stands behind a
// dot or a dash (mpirun.openmpi, mpiexec-4.1) is a distribution's suffix.
var launcherNames = []string{"mpirun", "mpiexec", "orterun", "prterun", "srun"}

// wrappers are programs that start the command given to them.
var wrappers = []string{
	"chrt", "env", "ionice", "nice", "nohup", "numactl", "perf", "setsid", "stdbuf", "strace", "taskset", "time", "timeout", "xvfb-run",
}

func isLauncherName(word string) bool {
	base := filepath.Base(word)
	for _, name := range launcherNames {
		if rest, ok := strings.CutPrefix(base, name); ok && (rest == "" || rest[0] == '.' || rest[0] == '-') {
			return true
		}
	}
	return false
}

// position returns where in the command the launcher's name is, or -1: it is
// the first word, or stands behind a wrapper such as time or env.
func position(command []string) int {
	if isLauncherName(command[0]) {
		return 0
	}
	if slices.Contains(wrappers, filepath.Base(command[0])) {
		if i := slices.IndexFunc(command[1:], isLauncherName); i >= 0 {
			return 1 + i
		}
	}
	return -1
}

// Prober returns what "PATH --version" prints.
type Prober func(path string) (string, error)

// Probe is the Prober that runs the launcher.
func Probe(path string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	// Some launchers print their version and exit with an error.
	if len(out) > 0 {
		return string(out), nil
	}
	return "", err
}

// identify finds out whose launcher path is.
func identify(path string, probe Prober) (Launcher, error) {
	base := filepath.Base(path)
	switch {
	case base == "srun":
		return Slurm, nil
	case strings.HasPrefix(base, "orterun"), strings.HasPrefix(base, "prterun"):
		return OpenMPI, nil
	}
	text, err := probe(path)
	if err != nil {
		return None, fmt.Errorf("%s --version: %w", path, err)
	}
	for _, known := range []struct {
		word     string
		launcher Launcher
	}{
		{"Open MPI", OpenMPI},
		{"OpenRTE", OpenMPI},
		{"PRRTE", OpenMPI},
		{"HYDRA", Hydra},
		{"Intel(R) MPI", Hydra},
		{"slurm", Slurm},
	} {
		if strings.Contains(strings.ToLower(text), strings.ToLower(known.word)) {
			return known.launcher, nil
		}
	}
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return None, fmt.Errorf("%s is no launcher that is known here (its --version says %q; known are Open MPI, MPICH and Intel MPI's Hydra, and Slurm)", path, first)
}
