#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Builds the recorder into the given folder (default: lib):
#
#   libmpitrace.so  for LD_PRELOAD, or linked as -lmpitrace before -lmpi
#   libmpitrace.a   for static links: cc app.o -lmpitrace -l:libmpich.a
#
# No MPI is needed. Go makes a C archive; its go.o starts the runtime from
# .init_array, so that section gets another name, which golang.c calls at
# MPI_Init; then everything is linked into one library that exports MPI only.
#
# usage: interpose/build.sh [FOLDER [shared|static]]
set -eu
cd "$(dirname "$0")/.."
out=${1:-lib} part=${2:-both}
: "${GO:=go}" "${CC:=cc}" "${OBJCOPY:=objcopy}" "${AR:=ar}" "${LD:=ld}" "${STRIP:=strip}"
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

# cgo does not know the headers of other folders: their hash makes it rebuild.
headers=$(cat tracebuf/*.h interpose/*.h | sha256sum | cut -c1-16)
export CGO_ENABLED=1
export CGO_CFLAGS="${CGO_CFLAGS:--O2 -g} -DMPIT_HEADERS=0x$headers"

# The archive of everything: Go and the recorder's C.
archive() { # FLAGS NAME
	mkdir "$work/$2"
	CGO_CFLAGS="$CGO_CFLAGS $1" "$GO" build -trimpath -buildmode=c-archive -ldflags='-s -w' -o "$work/$2.a" ./interpose
	(cd "$work/$2" && "$AR" x "../$2.a" && chmod u+rw ./*.o &&
		"$OBJCOPY" --rename-section .init_array=go_lazy_init go.o)
}

if [ "$part" != static ]; then
archive "-DMPIT_SHARED" shared
"$CC" -shared -o "$work/libmpitrace.so" "$work"/shared/*.o \
	-Wl,-soname,libmpitrace.so -Wl,-z,nodelete -Wl,-z,defs -Wl,-z,now -Wl,--build-id \
	-Wl,--version-script=interpose/exports.map -ldl -lpthread
mv "$work/libmpitrace.so" "$out/libmpitrace.so"
fi
[ "$part" != shared ] || exit 0

archive "-DMPIT_STATIC" static
# One object a function, so that each can be left out or replaced at link time:
# all are compiled at once, each into sections of its own, and taken apart.
"$CC" -std=gnu11 -O2 -fPIC -fvisibility=hidden -ftls-model=initial-exec -fno-strict-aliasing -ffunction-sections \
	-fno-reorder-blocks-and-partition -fno-asynchronous-unwind-tables -DMPIT_STATIC -DMPIT_ONE_EACH \
	-c -o "$work/all.o" interpose/static/all.c
sed -n 's/^	\[MPIT_ID_.*\] = "\(MPI_.*\)",$/\1/p' interpose/names_gen.c | while read -r f; do
	"$LD" -r --gc-sections -u "$f" -e "$f" -o "$work/static/wrap_$f.o" "$work/all.o"
	"$STRIP" --strip-unneeded "$work/static/wrap_$f.o"
done
rm -f "$out/libmpitrace.a"
"$AR" rcs "$out/libmpitrace.a" "$work"/static/*.o
