#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# All linters, each said by name. Those that are not installed are named and
# left out; golangci-lint is built from tools.mod.
#
# shellcheck disable=SC2317 # the steps are called through their names
set -uo pipefail
cd "$(dirname "$0")/.." || exit
go=${GO:-go}
failed=0

step() {
	local name=$1
	shift
	echo "lint: $name" >&2
	"$@" || { echo "lint: $name failed" >&2; failed=1; }
}

formatted() {
	local files
	files=$(git ls-files '*.go' | xargs gofmt -l) || return 1
	[ -z "$files" ] || { printf 'not gofmt-ed: %s\n' "$files" >&2; return 1; }
}

licensed() {
	local missing
	missing=$(git ls-files '*.go' '*.c' '*.h' '*.f90' '*.f' '*.cc' '*.sh' |
		xargs grep -L -e 'SPDX-License-Identifier: Apache-2.0' -e 'DO NOT EDIT') || true
	[ -z "$missing" ] || { printf 'no SPDX line: %s\n' "$missing" >&2; return 1; }
}

optional() {
	local tool=$1
	shift
	if command -v "$tool" >/dev/null; then
		step "$tool" "$tool" "$@"
	else
		echo "lint: $tool is not installed, left out" >&2
	fi
}

step gofmt formatted
step "license lines" licensed
step vet "$go" vet ./...
step golangci-lint "$go" tool -modfile=tools.mod golangci-lint run
mapfile -t c_files < <(git ls-files '*.c' '*.h' '*.cc' | xargs -r grep -L 'DO NOT EDIT')
[ ${#c_files[@]} = 0 ] || optional clang-format --dry-run -Werror "${c_files[@]}"
mapfile -t shell_files < <(git ls-files '*.sh' .ci/run)
optional shellcheck "${shell_files[@]}"
exit $failed
