// SPDX-License-Identifier: Apache-2.0

// Package lint holds the rules of the source tree that no compiler checks:
// who may import whom. It has tests only.
package lint

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/mpitrace/mpitrace"

// layers orders the rooms, lowest first. A package may import packages of its
// own layer and of those below. A folder stands for all packages under it; the
// longest match counts.
var layers = [][]string{
	{"mpi", "internal/version", "internal/terminal", "internal/human"},
	{"format", "internal/config"},
	{"tracebuf"},
	{"internal/trace", "internal/match", "internal/merge", "internal/symbol", "internal/tracegen"},
	{"internal/dump", "internal/analysis", "internal/timeline"},
	{"internal/export", "internal/web"},
	{"cmd", "bench", "internal/doctor", "internal/launch", "internal/e2e", "internal/lint", "scripts"},
}

// recorder is what enters traced processes: it may import the first layers up
// to tracebuf, and nothing may import it.
const (
	recorder       = "interpose"
	recorderLayers = 3
)

// outside says which modules of others only some rooms may import, and why.
var outside = []struct {
	module, why string
	rooms       []string
}{
	{"github.com/spf13/cobra", "only the commands parse command lines", []string{"cmd"}},
	{"go.opentelemetry.io", "its dependencies must not reach anything but its export", []string{"internal/export/otlp"}},
	{"github.com/klauspost/compress", "how columns are compressed is the file format's business", []string{"format"}},
}

type listed struct {
	ImportPath   string
	Imports      []string
	TestImports  []string
	XTestImports []string
	CgoFiles     []string
	Standard     bool
}

func list(t *testing.T, arguments ...string) []listed {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,TestImports,XTestImports,CgoFiles,Standard"}, arguments...)...)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Skipf("go list: %v", err)
	}
	var packages []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

// room is the package's path within the module, or "" for one of others.
func room(path string) string {
	if rest, ok := strings.CutPrefix(path, module+"/"); ok {
		return rest
	}
	return ""
}

func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

func layer(path string) int {
	for i, folders := range layers {
		for _, folder := range folders {
			if within(path, folder) {
				return i
			}
		}
	}
	return -1
}

func TestDirection(t *testing.T) {
	for _, p := range list(t, "./...") {
		from := room(p.ImportPath)
		highest := layer(from)
		if within(from, recorder) {
			highest = recorderLayers - 1
		} else if highest < 0 {
			t.Errorf("%s has no layer: add its folder to layers in internal/lint", from)
			continue
		}
		for _, imported := range p.Imports {
			to := room(imported)
			switch {
			case to == "":
			case within(to, recorder) && !within(from, recorder):
				t.Errorf("%s imports %s: nothing may import the recorder", from, to)
			case within(to, recorder):
			case layer(to) > highest:
				t.Errorf("%s imports %s, which is above it", from, to)
			}
		}
	}
}

func TestOutside(t *testing.T) {
	for _, p := range list(t, "./...") {
		from := room(p.ImportPath)
		for _, imported := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			for _, o := range outside {
				if within(imported, o.module) && !slices.ContainsFunc(o.rooms, func(r string) bool { return within(from, r) }) {
					t.Errorf("%s imports %s: %s", from, imported, o.why)
				}
			}
		}
	}
}

// The commands must run on machines other than the one that built them: no
// package that they are made of may need a C compiler or a C library.
func TestCommandsAreGoOnly(t *testing.T) {
	for _, p := range list(t, "-deps", "./cmd/...") {
		if !p.Standard && len(p.CgoFiles) > 0 {
			t.Errorf("the commands contain %s, which uses cgo in %v", p.ImportPath, p.CgoFiles)
		}
	}
}
