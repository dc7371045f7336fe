// SPDX-License-Identifier: Apache-2.0

// Package report writes a profile: Text for people, CSV a table at a time for
// spreadsheets. (JSON is the profile itself, see analysis.Profile.) It computes
// nothing that is not in the profile.
//
// Tables are laid out by go-pretty: it aligns and pads by display width, with
// colours and wide characters, and writes CSV by the rules.
package report
