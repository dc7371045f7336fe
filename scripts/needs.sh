#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Sees to what a make target needs: scripts/needs.sh build|mpi|lint
#
# On Debian and Ubuntu, as root, missing packages are installed. Elsewhere they
# are named, and the script stops with exit code 1. Go is never installed: it
# only checks that the one found is new enough.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'needs: %s\n' "$*" >&2; }

check_go() {
	local want have toolchain
	want=$(awk '$1 == "go" { print $2; exit }' go.mod)
	if ! command -v "${GO:-go}" >/dev/null; then
		say "go is not in PATH; mpitrace needs Go $want or newer: get it from https://go.dev/dl/"
		say "hint: tar -C /usr/local -xzf go*.tar.gz && export PATH=\$PATH:/usr/local/go/bin"
		exit 1
	fi
	have=$(GOTOOLCHAIN=local "${GO:-go}" env GOVERSION)
	have=${have#go}
	have=${have%% *}
	toolchain=$("${GO:-go}" env GOTOOLCHAIN)
	if [ "$(printf '%s\n%s\n' "$want" "$have" | sort -V | head -n 1)" != "$want" ]; then
		# From 1.21 on, the go command can fetch the version that go.mod asks for.
		if [ "$toolchain" != local ] && [ "$(printf '1.21\n%s\n' "$have" | sort -V | head -n 1)" = 1.21 ] &&
			"${GO:-go}" version >/dev/null 2>&1; then
			return
		fi
		say "Go $have is too old; mpitrace needs Go $want or newer: get it from https://go.dev/dl/"
		exit 1
	fi
}

# commands lists what each purpose needs, as COMMAND:PACKAGE, Debian's names.
commands() {
	case $1 in
	build) echo gcc:gcc make:make objcopy:binutils ;;
	mpi)
		commands build
		echo g++:g++ gfortran:gfortran \
			mpicc.openmpi:libopenmpi-dev mpirun.openmpi:openmpi-bin \
			mpicc.mpich:libmpich-dev mpirun.mpich:mpich pkg-config:pkg-config
		;;
	lint)
		commands build
		echo shellcheck:shellcheck clang-format:clang-format
		;;
	*)
		say "usage: scripts/needs.sh build|mpi|lint"
		exit 2
		;;
	esac
}

main() {
	check_go
	local missing=() pair wanted
	wanted=$(commands "${1:-build}")
	for pair in $wanted; do
		command -v "${pair%%:*}" >/dev/null || missing+=("${pair#*:}")
	done
	# A compiler without the C library's headers is of no use.
	if [ ! -e /usr/include/stdio.h ] && command -v apt-get >/dev/null; then
		missing+=(libc6-dev)
	fi
	[ ${#missing[@]} -gt 0 ] || return 0

	if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
		say "installing ${missing[*]}"
		export DEBIAN_FRONTEND=noninteractive
		apt-get -qq update
		apt-get -qq install -y --no-install-recommends "${missing[@]}" >/dev/null
		for pair in $wanted; do
			if ! command -v "${pair%%:*}" >/dev/null; then
				say "${pair%%:*} is still missing after installing ${pair#*:}"
				exit 1
			fi
		done
		return 0
	fi
	say "missing: ${missing[*]} (Debian's package names)"
	if command -v apt-get >/dev/null; then
		say "hint: as root, apt-get install ${missing[*]}"
	fi
	exit 1
}

main "$@"
