// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
)

type libOptions struct {
	include bool
	static  bool
}

func newLib() *cobra.Command {
	var o libOptions
	cmd := &cobra.Command{
		Use:   "lib [options]",
		Short: "Print where the recorder's library is",
		Long: `lib prints the path of libmpitrace.so, to be preloaded by hand.

The library is the one that MPITRACE_LIB names, else ../lib/libmpitrace.so of
the folder with this program.`,
		Example: `  mpirun -x LD_PRELOAD=$(mpitrace lib) -n 4 ./app
  mpirun.mpich -genv LD_PRELOAD $(mpitrace lib) -n 4 ./app
  mpicc -I$(mpitrace lib --include) app.c
  cc app.o $(mpitrace lib --static) -l:libmpich.a`,
		Args:                  cobra.NoArgs,
		RunE:                  o.run,
		DisableFlagsInUseLine: true,
	}
	cmd.Flags().BoolVar(&o.include, "include", false, "the folder of mpitrace.h, for a compiler's -I")
	cmd.Flags().BoolVar(&o.static, "static", false, "the archive for static links, libmpitrace.a")
	cmd.MarkFlagsMutuallyExclusive("include", "static")
	return cmd
}

func (o *libOptions) run(cmd *cobra.Command, _ []string) error {
	var path string
	var err error
	switch {
	case o.include:
		path, err = libraryFile("include", "mpitrace.h")
		path = filepath.Dir(path)
	case o.static:
		path, err = libraryFile("lib", "libmpitrace.a")
	default:
		path, err = libraryFile()
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), path)
	return err
}
