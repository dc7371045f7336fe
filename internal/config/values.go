// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Mode is what happens to calls once they are in a ring.
type Mode uint8

// The modes.
const (
	Stream Mode = iota // written to the file while the program runs
	Ring               // kept until overwritten, written on demand
)

// String is the mode's name in MPITRACE_MODE.
func (m Mode) String() string {
	if m == Ring {
		return "ring"
	}
	return "stream"
}

func parseMode(s string) (Mode, error) {
	switch s {
	case "stream":
		return Stream, nil
	case "ring":
		return Ring, nil
	}
	return Stream, errors.New("not a mode (want stream or ring)")
}

// Pcontrol is how MPI_Pcontrol's arguments are read.
type Pcontrol uint8

// The conventions of MPI_Pcontrol.
const (
	// PcontrolLevels reads what stands behind the level only at 9093 and 9094.
	PcontrolLevels Pcontrol = iota
	// PcontrolIPM also takes (1, name) and (-1, name) for regions, as IPM does.
	PcontrolIPM
)

// String is the convention's name in MPITRACE_PCONTROL.
func (p Pcontrol) String() string {
	if p == PcontrolIPM {
		return "ipm"
	}
	return "levels"
}

func parsePcontrol(s string) (Pcontrol, error) {
	switch s {
	case "levels":
		return PcontrolLevels, nil
	case "ipm":
		return PcontrolIPM, nil
	}
	return PcontrolLevels, errors.New("not a convention (want levels or ipm)")
}

func parseSwitch(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "0", "false", "no", "off":
		return false, nil
	case "1", "true", "yes", "on":
		return true, nil
	}
	return false, errors.New("neither 0 nor 1")
}

func formatSwitch(on bool) string {
	if on {
		return "1"
	}
	return "0"
}

func parseFolder(s string) (string, error) {
	if !strings.HasPrefix(s, "/") {
		return "", errors.New("not an absolute path")
	}
	if strings.IndexByte(s, 0) >= 0 {
		return "", errors.New("not a path: it holds a NUL byte")
	}
	return s, nil
}

const (
	kilo = int64(1) << 10
	mega = int64(1) << 20
	giga = int64(1) << 30

	minBuffer = 64 * kilo
	maxBuffer = 4 * giga
)

// parseSize reads a number of bytes: "65536", "64k", "4M", "1G"; the letters
// stand for powers of 1024 and may be of either case.
func parseSize(s string, lowest, highest int64) (int64, error) {
	digits, unit := s, int64(1)
	if s != "" {
		switch s[len(s)-1] {
		case 'k', 'K':
			unit = kilo
		case 'm', 'M':
			unit = mega
		case 'g', 'G':
			unit = giga
		}
		if unit != 1 {
			digits = s[:len(s)-1]
		}
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, errors.New("not a size (want a number, with k, M or G: 4M)")
	}
	if err != nil || n > uint64(highest/unit) || int64(n)*unit < lowest {
		return 0, fmt.Errorf("out of range (want %s to %s)", formatSize(lowest), formatSize(highest))
	}
	return int64(n) * unit, nil
}

func formatSize(n int64) string {
	switch {
	case n == 0:
	case n%giga == 0:
		return strconv.FormatInt(n/giga, 10) + "G"
	case n%mega == 0:
		return strconv.FormatInt(n/mega, 10) + "M"
	case n%kilo == 0:
		return strconv.FormatInt(n/kilo, 10) + "k"
	}
	return strconv.FormatInt(n, 10)
}
