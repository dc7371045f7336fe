// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"io"
)

// Level says how much a check matters.
type Level string

// The levels.
const (
	OK      Level = "ok"
	Note    Level = "note"    // good to know
	Warning Level = "warning" // something will be missing, or slow
	Error   Level = "error"   // nothing will be recorded, or the program will not start
)

// Check is one thing that was looked at.
type Check struct {
	Topic string `json:"topic"` // "mpi", "clock", …
	Level Level  `json:"level"`
	Text  string `json:"text"`
	Hint  string `json:"hint,omitempty"` // what to do about it
}

// Report is what the doctor found.
type Report struct {
	Program string `json:"program"`
	// MPI is the MPI that the program uses, nil if that is not known before it runs.
	MPI *Library `json:"mpi"`
	// Records tells whether calls will be recorded: there is no check of level Error.
	Records bool    `json:"records"`
	Checks  []Check `json:"checks"`
}

// Library is an MPI library.
type Library struct {
	Family  string `json:"family"`            // "Open MPI", "MPICH", "MPI ABI", "unknown"
	Version string `json:"version,omitempty"` // "4.1.4"
	ABI     string `json:"abi"`               // "openmpi", "mpich", "abi", "opaque"
	Path    string `json:"path"`
	Soname  string `json:"soname,omitempty"`
	Static  bool   `json:"static"`
}

func (r *Report) add(topic string, level Level, format string, arguments ...any) *Check {
	r.Checks = append(r.Checks, Check{Topic: topic, Level: level, Text: fmt.Sprintf(format, arguments...)})
	return &r.Checks[len(r.Checks)-1]
}

// finish sums up.
func (r *Report) finish() {
	r.Records = true
	for _, c := range r.Checks {
		if c.Level == Error {
			r.Records = false
		}
	}
}

// Text writes the report for people.
func (r *Report) Text(w io.Writer) error {
	mark := map[Level]string{OK: "ok", Note: "note", Warning: "warning", Error: "ERROR"}
	for _, c := range r.Checks {
		if _, err := fmt.Fprintf(w, "%-8s %-9s %s\n", mark[c.Level], c.Topic, c.Text); err != nil {
			return err
		}
		if c.Hint != "" {
			if _, err := fmt.Fprintf(w, "%-8s %-9s -> %s\n", "", "", c.Hint); err != nil {
				return err
			}
		}
	}
	verdict := "will be recorded"
	if !r.Records {
		verdict = "will NOT be recorded"
	}
	_, err := fmt.Fprintf(w, "%s %s\n", r.Program, verdict)
	return err
}
