// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"os"
	"path/filepath"
)

// libraryFile finds one of the recorder's files: MPITRACE_LIB names the
// library, else it is where installation and build both put it, in ../lib and
// ../include of the folder with this program. The path is absolute: a bare
// libmpitrace.so may be another tool's.
func libraryFile(elements ...string) (string, error) {
	lib := os.Getenv("MPITRACE_LIB")
	if lib == "" {
		self, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("finding the library: %w", err)
		}
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		lib = filepath.Join(filepath.Dir(self), "..", "lib", "libmpitrace.so")
	}
	path, err := filepath.Abs(lib)
	if err != nil {
		return "", fmt.Errorf("finding the library: %w", err)
	}
	if len(elements) > 0 {
		path = filepath.Join(append([]string{filepath.Dir(filepath.Dir(path))}, elements...)...)
	}
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return "", hinted{
			fmt.Errorf("%s: not found", path),
			"build it with make lib, or name the library in MPITRACE_LIB",
		}
	}
	return path, nil
}
