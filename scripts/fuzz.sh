#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs each fuzz target of the tree for a while: scripts/fuzz.sh 30s
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-30s}
go=${GO:-go}

for package in $("$go" list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./...); do
	dir=$("$go" list -f '{{.Dir}}' "$package")
	targets=$(grep -hos '^func Fuzz[A-Za-z0-9_]*' "$dir"/*_test.go | sed 's/^func //' || true)
	for target in $targets; do
		echo "== $package $target"
		"$go" test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 100x "$package"
	done
done
