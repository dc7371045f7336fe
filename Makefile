# SPDX-License-Identifier: Apache-2.0

GO       ?= $(shell command -v go || echo /usr/local/go/bin/go)
CC       ?= gcc
PREFIX   ?= /usr/local
DESTDIR  ?=
FUZZTIME ?= 30s
NP       ?= 4
V        ?= 0

export GO CC
export PATH := $(dir $(GO)):$(PATH)

Q      := $(if $(filter 0,$(V)),@,)
TOOL   := $(GO) tool -modfile=tools.mod
INSTALL := install

# What the library is made of. Go finds out by itself what to compile anew, but
# not that a header in another folder has changed: interpose/build.sh sees to
# that, and must therefore run each time one of these is newer than the library.
LIB_SOURCES = $(shell find interpose tracebuf format mpi internal/config internal/version \
	-type f ! -name '*_test.go' ! -path '*/testdata/*' 2>/dev/null)

.DEFAULT_GOAL := build
.PHONY: help build commands lib generate test test-go race fuzz bench lint check demo golden clean install

help: ## say what the targets are
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "  variables: PREFIX=$(PREFIX) FUZZTIME=$(FUZZTIME) NP=$(NP) (ranks of the demo) CC=$(CC) GO=$(GO) V=$(V) (1: show commands)"

build: commands lib ## both commands and the library (the default)

commands: ## bin/mpitrace and bin/mpitrace-view
	$(Q)scripts/needs.sh build
	$(Q)mkdir -p bin
	$(Q)CGO_ENABLED=0 $(GO) build -trimpath -o bin/ ./cmd/mpitrace ./cmd/mpitrace-view

lib: lib/libmpitrace.so ## lib/libmpitrace.so and lib/libmpitrace.a

lib/libmpitrace.so: $(LIB_SOURCES) go.mod
	$(Q)scripts/needs.sh build
	$(Q)mkdir -p lib
	$(Q)interpose/build.sh lib

generate: ## everything that is made from the table and from the commands
	$(Q)$(GO) generate ./...

test: build ## every test, with both MPIs
	$(Q)scripts/needs.sh mpi
	$(Q)MPITRACE_REQUIRE_MPI=1 $(GO) test ./...

test-go: ## the tests that need neither an MPI nor the library
	$(Q)$(GO) test ./...

race: ## the tests under the race detector
	$(Q)scripts/needs.sh build
	$(Q)$(GO) test -race -short ./...

fuzz: ## each fuzz target for FUZZTIME
	$(Q)scripts/fuzz.sh $(FUZZTIME)

bench: build ## what recording costs, with and without the recorder, and what merging costs
	$(Q)scripts/needs.sh mpi
	$(Q)$(GO) run ./bench

lint: ## gofmt, vet, golangci-lint, clang-format, shellcheck
	$(Q)scripts/lint.sh

check: ## what a change must pass: generated files fresh, tidy, linted, tested
	$(Q)$(MAKE) --no-print-directory generate
	$(Q)$(GO) mod tidy -diff
	$(Q)$(MAKE) --no-print-directory lint test
	$(Q)git diff --exit-code || { echo "check: generated files are not fresh: commit what make generate changed" >&2; exit 1; }

demo: build ## trace a halo exchange, merge, report, draw the timeline
	$(Q)scripts/needs.sh mpi
	$(Q)scripts/demo.sh $(NP)

golden: ## rewrite the expected outputs of tests
	$(Q)scripts/golden.sh

install: build ## into PREFIX: commands, library, header, manual, completions
	$(Q)$(INSTALL) -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib $(DESTDIR)$(PREFIX)/include \
		$(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/bash-completion/completions \
		$(DESTDIR)$(PREFIX)/share/zsh/site-functions $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	$(Q)$(INSTALL) -m 755 bin/mpitrace bin/mpitrace-view $(DESTDIR)$(PREFIX)/bin
	$(Q)$(INSTALL) -m 755 lib/libmpitrace.so $(DESTDIR)$(PREFIX)/lib
	$(Q)$(INSTALL) -m 644 lib/libmpitrace.a $(DESTDIR)$(PREFIX)/lib
	$(Q)$(INSTALL) -m 644 include/mpitrace.h $(DESTDIR)$(PREFIX)/include
	$(Q)$(INSTALL) -m 644 man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1
	$(Q)$(INSTALL) -m 644 completions/bash/* $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	$(Q)$(INSTALL) -m 644 completions/zsh/* $(DESTDIR)$(PREFIX)/share/zsh/site-functions
	$(Q)$(INSTALL) -m 644 completions/fish/* $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d

clean: ## take away what was built
	$(Q)rm -rf bin lib demo bench/out
