// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	viewer "github.com/mpitrace/mpitrace/cmd/mpitrace-view/command"
	recorder "github.com/mpitrace/mpitrace/cmd/mpitrace/command"
	"github.com/mpitrace/mpitrace/internal/config"
)

// What is committed is what the commands say.
func TestFresh(t *testing.T) {
	want, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	got, err := existing()
	if err != nil {
		t.Fatal(err)
	}
	for path := range want {
		if d := cmp.Diff(strings.Split(string(got[path]), "\n"), strings.Split(string(want[path]), "\n")); d != "" {
			t.Errorf("%s is not fresh, run make generate (-file +command):\n%s", path, d)
		}
	}
	for path := range got {
		if _, ok := want[path]; !ok {
			t.Errorf("%s belongs to no command", path)
		}
	}
}

// Each page has the sections that a reader looks for.
func TestSections(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range files {
		if !strings.HasPrefix(path, "man/") {
			continue
		}
		for _, section := range []string{".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH OPTIONS"} {
			if !strings.Contains(string(content), section) {
				t.Errorf("%s has no %s", path, section)
			}
		}
	}
	if page := string(files["man/mpitrace-run.1"]); !strings.Contains(page, "MPITRACE_RING_DIR") {
		t.Error("mpitrace-run.1 does not tell the settings")
	}
}

// The shells accept the completions.
func TestCompletionsAreShell(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("%s is not installed", shell)
			continue
		}
		files, err := filepath.Glob(filepath.Join(tree, "completions", shell, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if out, err := exec.Command(path, "-n", file).CombinedOutput(); err != nil {
				t.Errorf("%s -n %s: %v\n%s", shell, file, err, out)
			}
		}
	}
}

// The README's tables name every verb and every setting, with its default.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(tree, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(readme)
	for _, root := range []*cobra.Command{recorder.New(), viewer.New()} {
		for _, verb := range root.Commands() {
			if want := "| `" + verb.CommandPath(); verb.Name() != "help" && verb.Name() != "completion" && !strings.Contains(text, want) {
				t.Errorf("README.md has no row %s", want)
			}
		}
	}
	for _, s := range config.Settings() {
		if want := "| `" + s.Name + "` | `" + s.Default + "` |"; !strings.Contains(text, want) {
			t.Errorf("README.md has no row %s", want)
		}
	}
}
