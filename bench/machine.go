// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// machine describes what the figures were measured on.
func machine(mpis []string) string {
	parts := []string{fmt.Sprintf("%s, %d processors", processor(), runtime.NumCPU())}
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil && strings.Contains(string(b), "hypervisor") {
		parts = append(parts, "virtual machine")
	}
	parts = append(parts, distribution())
	if out, err := exec.Command("uname", "-r").Output(); err == nil {
		parts = append(parts, "Linux "+strings.TrimSpace(string(out)))
	}
	parts = append(parts, runtime.Version())
	for _, mpi := range mpis {
		parts = append(parts, version(mpi))
	}
	return strings.Join(parts, "; ")
}

func processor() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err == nil {
		for _, line := range strings.Split(string(b), "\n") {
			if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "model name" {
				return strings.TrimSpace(value)
			}
		}
	}
	return runtime.GOARCH
}

func distribution() string {
	b, err := os.ReadFile("/etc/os-release")
	if err == nil {
		for _, line := range strings.Split(string(b), "\n") {
			if value, ok := strings.CutPrefix(line, "PRETTY_NAME="); ok {
				return strings.Trim(value, `"`)
			}
		}
	}
	return runtime.GOOS
}

// version is an MPI's name and version, from its launcher.
func version(mpi string) string {
	out, err := exec.Command("mpirun."+mpi, "--version").Output()
	if err != nil {
		return mpi
	}
	for _, line := range strings.Split(string(out), "\n") {
		words := strings.Fields(line)
		for i, w := range words {
			if w[0] >= '0' && w[0] <= '9' && strings.Contains(w, ".") && (strings.Contains(words[0], "mpirun") || words[max(i-1, 0)] == "Version:") {
				return map[string]string{"openmpi": "Open MPI", "mpich": "MPICH"}[mpi] + " " + w
			}
		}
	}
	return mpi
}
