// SPDX-License-Identifier: Apache-2.0

package config

import (
	"path/filepath"
	"testing"
)

func TestOutput(t *testing.T) {
	place := Place{Rank: 7, Host: "node/3", PID: 4711, Job: "99"}
	for _, tt := range []struct{ pattern, effective, path, glob string }{
		{"trace.%r", "trace.%r", "trace.7", "trace.*"},
		{"run", "run.%r", "run.7", "run.*"},
		{"out/", "out/trace.%r", "out/trace.7", "out/trace.*"},
		{"/s/%j/%h-%p", "/s/%j/%h-%p", "/s/99/node_3-4711", "/s/*/*-*"},
		{"100%%.%r", "100%%.%r", "100%.7", "100%.*"},
		{"[x]*.%r", "[x]*.%r", "[x]*.7", `\[x]\*.*`},
		{"%h", "%h.%r", "node_3.7", "*.*"},
	} {
		o, err := ParseOutput(tt.pattern)
		if err != nil || o.String() != tt.effective {
			t.Errorf("%s: %q, %v", tt.pattern, o.String(), err)
			continue
		}
		if got := o.Path(place); got != tt.path {
			t.Errorf("%s: path %q, want %q", tt.pattern, got, tt.path)
		}
		if got := o.Glob(); got != tt.glob {
			t.Errorf("%s: glob %q, want %q", tt.pattern, got, tt.glob)
		}
		if ok, err := filepath.Match(o.Glob(), o.Path(place)); !ok || err != nil {
			t.Errorf("%s: the glob does not match the path: %v", tt.pattern, err)
		}
	}
	o, err := ParseOutput("%j.%r")
	if err != nil {
		t.Fatal(err)
	}
	if got := o.Path(Place{}); got != "nojob.0" {
		t.Errorf("without a job: %q", got)
	}
}

func TestJobID(t *testing.T) {
	for _, tt := range []struct {
		environ []string
		want    string
	}{
		{nil, ""},
		{[]string{"PBS_JOBID=12.server", "HOME=/"}, "12.server"},
		{[]string{"JOB_ID=1", "SLURM_JOB_ID=2"}, "2"},
		{[]string{"SLURM_JOB_ID=", "JOB_ID=1"}, "1"},
	} {
		if got := JobID(tt.environ); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.environ, got, tt.want)
		}
	}
}
