// SPDX-License-Identifier: Apache-2.0

// Package tracebuf is the ring that a thread of the traced program writes its
// calls into, and the way from there to a trace file.
//
// The layout and the writer's side are C, in ring.h, which is the layout's
// specification. This package is the reader's side: it looks at mapped rings
// (Ring), turns their slots into calls and definitions (Decoder), follows
// requests from the call that made them to the call that completed them
// (Requests), and hands blocks of calls on. It is used inside the traced process by the
// drain, and on what a dead process left behind.
//
// It must not import "C", and must not touch the network, the environment or
// any file but rings.
package tracebuf
