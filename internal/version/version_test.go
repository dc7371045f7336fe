// SPDX-License-Identifier: Apache-2.0

package version

import (
	"os"
	"regexp"
	"testing"
)

// The newest section of the changelog is this version's.
func TestChangelogAgrees(t *testing.T) {
	text, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^## \[(\d+\.\d+\.\d+)\]`).FindSubmatch(text)
	if m == nil {
		t.Fatal("CHANGELOG.md has no section of a version")
	}
	if got := string(m[1]); got != Version {
		t.Errorf("CHANGELOG.md's newest version is %s, version.Version is %s", got, Version)
	}
}
