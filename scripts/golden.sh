#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs the tests that have expected outputs with -update, which rewrites them.
# Look at git diff afterwards.
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
git grep -l --untracked 'flag\.Bool("update"' -- '*_test.go' | xargs -r -n 1 dirname | sort -u | while read -r dir; do
	"$go" test "./$dir" -update
done
