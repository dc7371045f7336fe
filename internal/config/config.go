// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"strings"
)

// Config is the effective configuration of a process.
type Config struct {
	Output   Output
	Buffer   int64 // bytes of a thread's ring
	Mode     Mode
	RingDir  string
	Filter   Filter
	Enable   bool // record from MPI_Init on
	Pcontrol Pcontrol
	Quiet    bool
}

// Problem is a variable that could not be used. Its default holds.
type Problem struct {
	Name  string // the variable
	Value string
	// Reason says what is wrong, and Used what holds instead; Used is empty
	// for a variable that is no setting.
	Reason string
	Used   string
}

// Error is the one line that the recorder prints.
func (p *Problem) Error() string {
	if p.Used == "" {
		return fmt.Sprintf("%s %s; ignored", p.Name, p.Reason)
	}
	return fmt.Sprintf("%s=%q: %s; using %s", p.Name, p.Value, p.Reason, p.Used)
}

// Value is the effective value of one setting, as it is kept in the trace.
type Value struct {
	Name, Value string
	Default     bool // the value is the default
}

// Default returns the configuration of an environment without any of our variables.
func Default() Config {
	c, _ := Parse(nil)
	return c
}

// Parse reads the configuration from an environment of NAME=VALUE strings, as
// os.Environ returns it. It always returns a usable configuration: what it
// could not use is in the problems, in the order of the environment, and has
// its default. An empty value counts as not set. Where a name occurs twice,
// the first one holds, as with getenv.
func Parse(environ []string) (Config, []*Problem) {
	var c Config
	for i := range settings {
		// Defaults are constants of the table; a test parses each.
		_ = settings[i].set(&c, settings[i].Default)
	}
	var problems []*Problem
	var seen [len(settings)]bool
	for _, entry := range environ {
		if !strings.HasPrefix(entry, Prefix) {
			continue
		}
		name, value, _ := strings.Cut(entry, "=")
		i := index(name)
		switch {
		case i < 0 && !isOther(name):
			problems = append(problems, &Problem{Name: name, Value: value, Reason: unknown(name)})
		case i < 0 || seen[i]:
		default:
			seen[i] = true
			if value == "" {
				continue
			}
			s := &settings[i]
			if err := s.set(&c, value); err != nil {
				_ = s.set(&c, s.Default)
				problems = append(problems, &Problem{Name: name, Value: value, Reason: err.Error(), Used: s.Default})
			}
		}
	}
	return c, problems
}

// Values returns every setting with its effective value, in the table's order.
func (c *Config) Values() []Value {
	values := make([]Value, len(settings))
	for i := range settings {
		v := settings[i].get(c)
		values[i] = Value{Name: settings[i].Name, Value: v, Default: v == settings[i].Default}
	}
	return values
}

func index(name string) int {
	for i := range settings {
		if settings[i].Name == name {
			return i
		}
	}
	return -1
}

func isOther(name string) bool {
	for _, o := range others {
		if o == name {
			return true
		}
	}
	return false
}

// unknown says that name is no setting, and which one may have been meant.
func unknown(name string) string {
	best, distance := "", len(name)/3
	for i := range settings {
		if d := editDistance(name[len(Prefix):], settings[i].Name[len(Prefix):], distance); d < distance {
			best, distance = settings[i].Name, d
		}
	}
	if best == "" {
		return "is not a setting"
	}
	return "is not a setting, did you mean " + best
}

// editDistance is the number of bytes to insert, delete or replace to get from
// a to b, or limit if it is not below limit.
func editDistance(a, b string, limit int) int {
	if d := len(a) - len(b); d >= limit || -d >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return min(row[len(b)], limit)
}
