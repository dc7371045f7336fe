// SPDX-License-Identifier: Apache-2.0

// Mpitrace-view merges, analyses and shows what libmpitrace recorded.
package main

import (
	"os"

	"github.com/mpitrace/mpitrace/cmd/mpitrace-view/command"
)

func main() {
	os.Exit(command.Run(os.Args[1:], os.Stdout, os.Stderr))
}
