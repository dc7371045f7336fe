// SPDX-License-Identifier: Apache-2.0

// Manual writes the manual pages and the shell completions of both commands,
// from their command trees, into man/ and completions/ of the source tree.
// They are committed; a test compares.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	viewer "github.com/mpitrace/mpitrace/cmd/mpitrace-view/command"
	recorder "github.com/mpitrace/mpitrace/cmd/mpitrace/command"
	"github.com/mpitrace/mpitrace/internal/version"
)

//go:generate go run .

// tree is the source tree's root, seen from this folder, where go generate and
// go test run.
const tree = "../../.."

func main() {
	files, err := generate()
	if err == nil {
		err = write(files)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "manual: %v\n", err)
		os.Exit(1)
	}
}

// generate returns the contents of all files, by path in the source tree.
func generate() (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, root := range []*cobra.Command{recorder.New(), viewer.New()} {
		root.InitDefaultCompletionCmd()
		if err := manual(root, root, files); err != nil {
			return nil, err
		}
		name := root.Name()
		for _, shell := range []struct {
			path string
			gen  func(*bytes.Buffer) error
		}{
			{"completions/bash/" + name, func(b *bytes.Buffer) error { return root.GenBashCompletionV2(b, true) }},
			{"completions/zsh/_" + name, func(b *bytes.Buffer) error { return root.GenZshCompletion(b) }},
			{"completions/fish/" + name + ".fish", func(b *bytes.Buffer) error { return root.GenFishCompletion(b, true) }},
		} {
			var b bytes.Buffer
			if err := shell.gen(&b); err != nil {
				return nil, fmt.Errorf("%s: %w", shell.path, err)
			}
			files[shell.path] = b.Bytes()
		}
	}
	return files, nil
}

// manual adds the pages of cmd and of its verbs.
func manual(root, cmd *cobra.Command, files map[string][]byte) error {
	if !cmd.IsAvailableCommand() && cmd != root || cmd.Name() == "completion" || cmd.Name() == "help" {
		return nil
	}
	// The page has no date of its own: it must not differ from day to day.
	header := &doc.GenManHeader{
		Title:   strings.ToUpper(strings.ReplaceAll(cmd.CommandPath(), " ", "-")),
		Section: "1",
		Source:  "mpitrace " + version.Version,
		Manual:  "mpitrace",
		Date:    &time.Time{},
	}
	var b bytes.Buffer
	if err := doc.GenMan(cmd, header, &b); err != nil {
		return fmt.Errorf("manual page of %s: %w", cmd.CommandPath(), err)
	}
	page := bytes.Replace(b.Bytes(), []byte(`"Jan 0001"`), []byte(`""`), 1)
	files["man/"+strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1"] = page
	for _, verb := range cmd.Commands() {
		if err := manual(root, verb, files); err != nil {
			return err
		}
	}
	return nil
}

// write puts the files into the source tree, and takes away those that are
// none of them any more.
func write(files map[string][]byte) error {
	old, err := existing()
	if err != nil {
		return err
	}
	for path := range old {
		if _, ok := files[path]; !ok {
			if err := os.Remove(filepath.Join(tree, path)); err != nil {
				return err
			}
		}
	}
	for path, content := range files {
		path = filepath.Join(tree, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// existing returns the generated files that are in the source tree.
func existing() (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, pattern := range []string{"man/*.1", "completions/*/*"} {
		paths, err := filepath.Glob(filepath.Join(tree, pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			content, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			relative, err := filepath.Rel(tree, path)
			if err != nil {
				return nil, err
			}
			files[relative] = content
		}
	}
	return files, nil
}
