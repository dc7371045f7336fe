// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Output is the pattern of the ranks' file names. The zero Output is not valid.
type Output struct {
	pattern string
}

// ParseOutput reads a pattern. One that tells no ranks apart gets .%r at its
// end, one that ends in / gets trace.%r.
func ParseOutput(s string) (Output, error) {
	if s == "" {
		return Output{}, errors.New("empty")
	}
	if strings.IndexByte(s, 0) >= 0 {
		return Output{}, errors.New("not a path: it holds a NUL byte")
	}
	distinct := false
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			continue
		}
		i++
		if i == len(s) {
			return Output{}, errors.New("ends in a single % (write %% for a percent sign)")
		}
		switch s[i] {
		case 'r', 'p':
			distinct = true
		case 'h', 'j', '%':
		default:
			return Output{}, fmt.Errorf("%q is not a placeholder (want %%r, %%h, %%p, %%j or %%%%)", s[i-1:i+1])
		}
	}
	switch {
	case strings.HasSuffix(s, "/"):
		s += "trace.%r"
	case !distinct:
		s += ".%r"
	}
	return Output{s}, nil
}

// String is the pattern.
func (o Output) String() string { return o.pattern }

// Place is what the placeholders of an Output stand for.
type Place struct {
	Rank int    // in MPI_COMM_WORLD
	Host string // the node's name
	PID  int
	Job  string // the batch job's id, "" outside of a batch system
}

// Path returns the file name at a place. Slashes in the host's and the job's
// name become underscores; without a job, %j is "nojob".
func (o Output) Path(p Place) string {
	var b strings.Builder
	s := o.pattern
	for i := 0; i < len(s); i++ {
		if s[i] != '%' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'r':
			b.WriteString(strconv.Itoa(p.Rank))
		case 'p':
			b.WriteString(strconv.Itoa(p.PID))
		case 'h':
			b.WriteString(strings.ReplaceAll(p.Host, "/", "_"))
		case 'j':
			job := p.Job
			if job == "" {
				job = "nojob"
			}
			b.WriteString(strings.ReplaceAll(job, "/", "_"))
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// Glob returns a pattern for filepath.Glob that the files of all ranks match,
// whatever their host and process ids are.
func (o Output) Glob() string {
	var b strings.Builder
	s := o.pattern
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '%' && i+1 < len(s) && s[i+1] == '%':
			b.WriteByte('%')
			i++
		case c == '%' && i+1 < len(s):
			b.WriteByte('*')
			i++
		case c == '*' || c == '?' || c == '[' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// jobVariables hold the job's id under the batch systems, most specific first.
var jobVariables = [...]string{
	"SLURM_JOB_ID",
	"PBS_JOBID",
	"LSB_JOBID",
	"FLUX_JOB_ID",
	"OAR_JOB_ID",
	"COBALT_JOBID",
	"PJM_JOBID",
	"JOB_ID", // Grid Engine
}

// JobID returns the batch job's id from an environment of NAME=VALUE strings,
// or "".
func JobID(environ []string) string {
	for _, name := range jobVariables {
		for _, entry := range environ {
			if value, ok := strings.CutPrefix(entry, name+"="); ok && value != "" {
				return value
			}
		}
	}
	return ""
}
