// SPDX-License-Identifier: Apache-2.0

// Mpitrace starts MPI programs under the recorder, and says what it will and
// will not see of them.
package main

import (
	"os"

	"github.com/mpitrace/mpitrace/cmd/mpitrace/command"
)

func main() {
	os.Exit(command.Run(os.Args[1:], os.Stdout, os.Stderr))
}
