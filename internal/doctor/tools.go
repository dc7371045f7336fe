// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"path/filepath"
	"strings"
)

// others are tools that wrap MPI, by the names of their libraries and by
// symbols that only they define.
var others = []struct {
	name     string
	prefixes []string // of the library's file name
	symbol   string
}{
	{"Extrae", []string{"libmpitracef.", "libcaliper_extrae", "libompitrace", "libptmpitrace"}, "Extrae_init"},
	{"IBM mpitrace", nil, "summary_start"},
	{"Score-P", []string{"libscorep"}, "SCOREP_InitMeasurement"},
	{"TAU", []string{"libTAU"}, "Tau_start"},
	{"Darshan", []string{"libdarshan"}, "darshan_core_initialize"},
	{"mpiP", []string{"libmpiP"}, "mpiPi_init"},
	{"IPM", []string{"libipm"}, "ipm_init"},
	{"EZTrace", []string{"libeztrace"}, "eztrace_core_init"},
	{"VampirTrace", []string{"libvt-mpi", "libvt.", "libVT"}, "VT_initialize"},
	{"Caliper", []string{"libcaliper"}, "cali_init"},
	{"DLB", []string{"libdlb"}, "DLB_Init"},
	{"MUST", []string{"libmust", "libpnmpi"}, "PNMPI_Init"},
	{"Pilgrim", []string{"libpilgrim"}, ""},
	{"DUMPI", []string{"libdumpi"}, "libdumpi_init"},
	{"Recorder", []string{"librecorder"}, "recorder_init"},
	{"HPCToolkit", []string{"libhpcrun", "libhpctoolkit"}, "hpcrun_init"},
	{"MPE", []string{"liblmpe", "libmpe"}, "MPE_Init_log"},
	{"ROCm Systems Profiler", []string{"librocprof-sys", "libomnitrace"}, ""},
}

// known returns the name of the tool that a library belongs to, or "".
func known(o *Object) string {
	base := filepath.Base(o.Name)
	for _, tool := range others {
		if tool.symbol != "" && o.Defines[tool.symbol] {
			return tool.name
		}
		for _, p := range tool.prefixes {
			if strings.HasPrefix(base, p) {
				return tool.name
			}
		}
	}
	return ""
}

// isOurs tells whether a library is the recorder's.
func isOurs(o *Object) bool {
	for name := range o.Defines {
		if strings.HasPrefix(name, "mpitrace_") {
			return true
		}
	}
	return false
}

// wrapsMPI tells whether a library defines MPI functions for a profiling
// interface: some, but not the library's own startup.
func wrapsMPI(o *Object) bool {
	for _, name := range []string{"MPI_Send", "MPI_Init", "MPI_Barrier", "MPI_Finalize", "MPI_File_open", "mpi_init_", "PMPI_Send"} {
		if o.Defines[name] {
			return true
		}
	}
	return false
}

// bindingLayer tells whether a library belongs to the MPI itself: the layers
// of other languages define names of MPI too.
func bindingLayer(o *Object) bool {
	base := filepath.Base(o.Name)
	for _, p := range []string{"libmpi_", "libmpichfort", "libmpifort", "libmpichf90", "libmpichcxx", "libmpicxx", "libpmpi", "libopen_mpi", "libmpi.", "libmpich."} {
		if strings.HasPrefix(base, p) {
			return true
		}
	}
	return false
}

// tools finds other tools that wrap MPI, and other libraries of our name.
func (r *Report) tools(objects []*Object, library string) {
	found := false
	for _, o := range objects[1:] {
		name := known(o)
		if o.Path == "" || isOurs(o) || name == "" && (bindingLayer(o) || !wrapsMPI(o) || r.MPI != nil && o.Path == r.MPI.Path) {
			continue
		}
		found = true
		if name == "" {
			name = "an unknown tool"
		}
		where := "linked to the program"
		if o.Preload {
			where = "in LD_PRELOAD"
		}
		c := r.add("tools", Warning, "%s is in the way: %s (%s)", name, o.Path, where)
		switch {
		case strings.HasPrefix(filepath.Base(o.Name), "libmpitrace."):
			c.Text = name + " has a library of the same name: " + o.Path + " (" + where + ")"
			c.Hint = "preload ours by its absolute path: " + library
		default:
			c.Hint = "both see every call, and each is part of the times that the other measures: remove it to compare runs"
		}
	}
	for _, o := range objects {
		if isOurs(o) && o.Path != "" {
			r.add("tools", Note, "the recorder is loaded already: %s", o.Path)
		}
	}
	if !found {
		r.add("tools", OK, "no other tool that wraps MPI")
	}
}
