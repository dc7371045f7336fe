// SPDX-License-Identifier: Apache-2.0

// Package usage tells mistakes on a command line from failures of a verb, for
// both commands: the former exit with code 2 and are followed by a hint at --help.
// It prints nothing and knows no verb.
package usage

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// Error is a mistake on the command line.
type Error struct{ Err error }

func (e Error) Error() string { return e.Err.Error() }

func (e Error) Unwrap() error { return e.Err }

// Errorf makes an Error.
func Errorf(format string, args ...any) error {
	return Error{fmt.Errorf(format, args...)}
}

// verbError marks what came out of a running verb: anything else that Execute
// returns is cobra's complaint about the command line.
type verbError struct{ error }

func (e verbError) Unwrap() error { return e.error }

// Watch makes Is work for the errors of a command tree whose verbs are root's
// commands. It is called when the tree is complete.
func Watch(root *cobra.Command) {
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return Error{err} })
	for _, verb := range root.Commands() {
		watch(verb)
	}
}

func watch(verb *cobra.Command) {
	run := verb.RunE
	if run == nil {
		return
	}
	verb.RunE = func(cmd *cobra.Command, args []string) error {
		if err := run(cmd, args); err != nil {
			return verbError{err}
		}
		return nil
	}
}

// Is tells whether an error that Execute returned is about the command line.
func Is(err error) bool {
	var mistake Error
	var verb verbError
	return errors.As(err, &mistake) || !errors.As(err, &verb)
}
