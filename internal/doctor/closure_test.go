// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The loader of this machine is the judge: both must find the same files for
// programs that are everywhere.
func TestClosureAgreesWithTheLoader(t *testing.T) {
	loader := "/lib64/ld-linux-x86-64.so.2"
	if _, err := os.Stat(loader); err != nil {
		t.Skipf("no loader to compare with: %v", err)
	}
	line := regexp.MustCompile(`(?m)=> (/\S+) \(`)
	compared := 0
	for _, program := range []string{"/bin/bash", "/usr/bin/gcc", "/usr/bin/mpirun.openmpi", "/usr/bin/mpirun.mpich", "/usr/bin/git", "/usr/bin/python3"} {
		out, err := exec.Command(loader, "--list", program).Output()
		if err != nil {
			continue
		}
		var want []string
		for _, m := range line.FindAllSubmatch(out, -1) {
			want = append(want, real(string(m[1])))
		}
		objects, err := NewLoader(os.Getenv).Closure(program)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, o := range objects[1:] {
			// The loader does not list itself as found.
			if filepath.Base(o.Name) != filepath.Base(loader) {
				got = append(got, real(o.Path))
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-loader +closure):\n%s", program, d)
		}
		compared++
	}
	if compared == 0 {
		t.Skip("no program to compare with")
	}
}

func real(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	return path
}

func TestClosureErrors(t *testing.T) {
	l := NewLoader(func(string) string { return "" })
	if _, err := l.Closure("/no/such/file"); !os.IsNotExist(err) {
		t.Errorf("no such file: %v", err)
	}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Closure(text); err == nil {
		t.Error("a text file has a closure")
	}
}

func FuzzParseCache(f *testing.F) {
	if b, err := os.ReadFile("/etc/ld.so.cache"); err == nil && len(b) < 1<<20 {
		f.Add(b)
	}
	f.Add([]byte(cacheMagic))
	f.Add(append([]byte(cacheMagic), make([]byte, 100)...))
	f.Add([]byte(oldCacheMagic + "\x00\x00" + cacheMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		cache, err := ParseCache(b)
		if err == nil && cache == nil {
			t.Error("neither a cache nor an error")
		}
		for name, paths := range cache {
			if name == "" || len(paths) == 0 || slices.Contains(paths, "") {
				t.Errorf("%q: %q", name, paths)
			}
		}
	})
}
