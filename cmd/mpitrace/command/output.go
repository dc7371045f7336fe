// SPDX-License-Identifier: Apache-2.0

package command

import (
	"io"
	"os"

	"github.com/spf13/cobra"
)

// openOutput opens what -o names, - for standard output. What was written is
// whole only if done, which takes the error of writing, returns nil.
func openOutput(cmd *cobra.Command, name string) (w io.Writer, done func(error) error, err error) {
	if name == "-" || name == "" {
		return cmd.OutOrStdout(), func(err error) error { return err }, nil
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, nil, err
	}
	return f, func(err error) error {
		if e := f.Close(); err == nil {
			err = e
		}
		return err
	}, nil
}
