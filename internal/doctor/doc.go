// SPDX-License-Identifier: Apache-2.0

// Package doctor says, without running a program, what the recorder will and
// will not see of it: which MPI it is linked to and how, what else stands in
// the way, and whether the machine is fit to record on.
//
// It reads ELF files with debug/elf and follows the rules of ld.so(8) by
// itself, because running the program's loader would run code of the program.
package doctor
