// SPDX-License-Identifier: Apache-2.0

package human

import (
	"math"
	"testing"
)

func TestDuration(t *testing.T) {
	for ns, want := range map[int64]string{
		0:                 "0",
		1:                 "1 ns",
		999:               "999 ns",
		1000:              "1.00 µs",
		1234:              "1.23 µs",
		45_678:            "45.7 µs",
		999_499:           "999 µs",
		999_500:           "1.00 ms",
		12_345_678:        "12.3 ms",
		999_600_000:       "1.00 s",
		1_500_000_000:     "1.50 s",
		9_999_000_000_000: "9999 s",
		10_000 * 1e9:      "2h 47m",
		-1500:             "-1.50 µs",
		math.MinInt64:     "-2562047h 47m",
		math.MaxInt64:     "2562047h 47m",
	} {
		if got := Duration(ns); got != want {
			t.Errorf("Duration(%d) = %q, want %q", ns, got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0:             "0",
		512:           "512 B",
		1023:          "1023 B",
		1024:          "1.00 KiB",
		1536:          "1.50 KiB",
		999 * 1024:    "999 KiB",
		1023 * 1024:   "1.00 MiB",
		5 << 30:       "5.00 GiB",
		math.MaxInt64: "8.00 EiB",
		-2048:         "-2.00 KiB",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 1: "1 B", 512: "512 B", 1024: "1 KiB", 8192: "8 KiB", 1 << 20: "1 MiB", 1 << 62: "4 EiB", 1500: "1.46 KiB",
	} {
		if got := Size(n); got != want {
			t.Errorf("Size(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0", 999: "999", 1000: "1,000", 9_999_999: "9,999,999", 10_000_000: "10.0 M",
		9_990_000_000: "9990 M", 9_999_000_000: "10.0 G", 2_500_000_000_000: "2.50 T",
	} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0", 0.0001: "<0.1", 0.001: "0.1", 0.1234: "12.3", 0.5: "50.0", 0.99951: ">99.9", 1: "100", 1.5: "150",
	} {
		if got := Percent(f); got != want {
			t.Errorf("Percent(%g) = %q, want %q", f, got, want)
		}
	}
}

func TestPlural(t *testing.T) {
	if got := Plural(1, "rank"); got != "1 rank" {
		t.Error(got)
	}
	if got := Plural(1024, "rank"); got != "1,024 ranks" {
		t.Error(got)
	}
}
