// SPDX-License-Identifier: Apache-2.0

package config

import (
	"os/exec"
	"strings"
	"testing"
)

// The defaults are strings of the table; each must be a value that its own
// setting takes, in the form in which it is written back.
func TestDefaultsParse(t *testing.T) {
	c := Default()
	for i, v := range c.Values() {
		s := Settings()[i]
		if err := s.Check(s.Default); err != nil {
			t.Errorf("%s: default %q: %v", s.Name, s.Default, err)
		}
		if !v.Default || v.Value != s.Default {
			t.Errorf("%s: default is %q, the table says %q", s.Name, v.Value, s.Default)
		}
	}
}

func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Settings() {
		if !strings.HasPrefix(s.Name, Prefix) || strings.ToUpper(s.Name) != s.Name {
			t.Errorf("%s: not a name of ours", s.Name)
		}
		if seen[s.Name] || isOther(s.Name) {
			t.Errorf("%s: twice", s.Name)
		}
		seen[s.Name] = true
		if s.Syntax == "" || s.Brief == "" || s.Help == "" || strings.HasSuffix(s.Help, ".") {
			t.Errorf("%s: syntax %q, help %q", s.Name, s.Syntax, s.Help)
		}
		if got, ok := Lookup(s.Name); !ok || got.Name != s.Name {
			t.Errorf("%s: not found", s.Name)
		}
	}
	if s, _ := Lookup("MPITRACE_RING_DIR"); s.Option() != "ring-dir" {
		t.Errorf("option of MPITRACE_RING_DIR: %q", s.Option())
	}
}

func TestParse(t *testing.T) {
	c, problems := Parse([]string{
		"PATH=/bin",
		"MPITRACE_OUTPUT=/scratch/%j/%h.%r.%p",
		"MPITRACE_BUFFER=512k",
		"MPITRACE_MODE=ring",
		"MPITRACE_RING_DIR=/tmp",
		"MPITRACE_FILTER=p2p,-MPI_Iprobe",
		"MPITRACE_ENABLE=off",
		"MPITRACE_PCONTROL=ipm",
		"MPITRACE_QUIET=1",
		"MPITRACE_LIB=/x/libmpitrace.so",
		"MPITRACE_QUIET=0", // the first one holds
	})
	if len(problems) != 0 {
		t.Fatal(problems)
	}
	if c.Output.String() != "/scratch/%j/%h.%r.%p" || c.Buffer != 512<<10 || c.Mode != Ring || c.RingDir != "/tmp" ||
		c.Filter.String() != "p2p,-MPI_Iprobe" || c.Enable || c.Pcontrol != PcontrolIPM || !c.Quiet {
		t.Errorf("%+v", c)
	}
	for _, v := range c.Values() {
		if v.Default {
			t.Errorf("%s is the default", v.Name)
		}
	}
}

// Each of these gets one line, and the default holds.
func TestProblems(t *testing.T) {
	for _, tt := range []struct{ entry, want string }{
		{"MPITRACE_BUFER=4M", "MPITRACE_BUFER is not a setting, did you mean MPITRACE_BUFFER; ignored"},
		{"MPITRACE_=1", "MPITRACE_ is not a setting; ignored"},
		{"MPITRACE_BANANAS", "MPITRACE_BANANAS is not a setting; ignored"},
		{"MPITRACE_BUFFER=lots", `MPITRACE_BUFFER="lots": not a size (want a number, with k, M or G: 4M); using 4M`},
		{"MPITRACE_BUFFER=-1", `MPITRACE_BUFFER="-1": not a size (want a number, with k, M or G: 4M); using 4M`},
		{"MPITRACE_BUFFER=1", `MPITRACE_BUFFER="1": out of range (want 64k to 4G); using 4M`},
		{"MPITRACE_BUFFER=9000000000G", `MPITRACE_BUFFER="9000000000G": out of range (want 64k to 4G); using 4M`},
		{"MPITRACE_BUFFER=99999999999999999999", `MPITRACE_BUFFER="99999999999999999999": out of range (want 64k to 4G); using 4M`},
		{"MPITRACE_BUFFER=M", `MPITRACE_BUFFER="M": not a size (want a number, with k, M or G: 4M); using 4M`},
		{"MPITRACE_MODE=flight", `MPITRACE_MODE="flight": not a mode (want stream or ring); using stream`},
		{"MPITRACE_RING_DIR=shm", `MPITRACE_RING_DIR="shm": not an absolute path; using /dev/shm`},
		{"MPITRACE_ENABLE=2", `MPITRACE_ENABLE="2": neither 0 nor 1; using 1`},
		{"MPITRACE_QUIET=very", `MPITRACE_QUIET="very": neither 0 nor 1; using 0`},
		{"MPITRACE_PCONTROL=3", `MPITRACE_PCONTROL="3": not a convention (want levels or ipm); using levels`},
		{"MPITRACE_OUTPUT=trace.%x", `MPITRACE_OUTPUT="trace.%x": "%x" is not a placeholder (want %r, %h, %p, %j or %%); using trace.%r`},
		{"MPITRACE_OUTPUT=%r%", `MPITRACE_OUTPUT="%r%": ends in a single % (write %% for a percent sign); using trace.%r`},
		{"MPITRACE_FILTER=p2p,MPI_Bananas", `MPITRACE_FILTER="p2p,MPI_Bananas": "MPI_Bananas" is no MPI function and no family; using all`},
		{"MPITRACE_FILTER=p2p,,io", `MPITRACE_FILTER="p2p,,io": an empty name in the list (want function names, patterns and families: p2p,-MPI_Iprobe); using all`},
	} {
		c, problems := Parse([]string{tt.entry, "MPITRACE_QUIET="})
		if len(problems) != 1 || problems[0].Error() != tt.want {
			t.Errorf("%s:\n got %v\nwant %s", tt.entry, problems, tt.want)
		}
		for _, v := range c.Values() {
			if !v.Default {
				t.Errorf("%s: %s is %q", tt.entry, v.Name, v.Value)
			}
		}
	}
}

func TestSizes(t *testing.T) {
	for _, tt := range []struct {
		text string
		n    int64
		back string
	}{
		{"65536", 65536, "64k"},
		{"64k", 65536, "64k"},
		{"64K", 65536, "64k"},
		{"1m", 1 << 20, "1M"},
		{"4G", 4 << 30, "4G"},
		{"100000", 100000, "100000"},
	} {
		n, err := parseSize(tt.text, minBuffer, maxBuffer)
		if err != nil || n != tt.n || formatSize(n) != tt.back {
			t.Errorf("%s: %d, %v, written back as %s", tt.text, n, err, formatSize(n))
		}
	}
}

// The recorder carries this package into every traced process.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Skipf("go list: %v", err)
	}
	for _, path := range strings.Fields(string(out)) {
		switch path {
		case "github.com/mpitrace/mpitrace/internal/config", "github.com/mpitrace/mpitrace/mpi":
		default:
			t.Errorf("imports %s", path)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"MPITRACE_OUTPUT=trace.%r\nMPITRACE_BUFFER=4M",
		"MPITRACE_FILTER=-*,p2p,MPI_?send",
		"MPITRACE_OUTPUT=a/%%/%h",
		"MPITRACE_BUFER=1\nMPITRACE_",
		"MPITRACE_BUFFER=18446744073709551615G",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, environment string) {
		c, problems := Parse(strings.Split(environment, "\n"))
		for _, p := range problems {
			if s := p.Error(); s == "" || strings.HasSuffix(s, ".") {
				t.Errorf("message %q", s)
			}
		}
		// What holds can be written down and read again: it is kept in traces
		// and handed to the ranks by mpitrace run.
		var again []string
		for _, v := range c.Values() {
			again = append(again, v.Name+"="+v.Value)
		}
		c2, problems := Parse(again)
		if len(problems) != 0 {
			t.Fatalf("%q: %v", again, problems)
		}
		for i, v := range c2.Values() {
			if v != c.Values()[i] {
				t.Errorf("%v became %v", c.Values()[i], v)
			}
		}
		if c.Buffer < minBuffer || c.Buffer > maxBuffer {
			t.Errorf("buffer of %d bytes", c.Buffer)
		}
		if c.Output.Path(Place{Rank: 1, Host: "h"}) == "" {
			t.Error("no output")
		}
	})
}
