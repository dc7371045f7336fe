// SPDX-License-Identifier: Apache-2.0

package config

import "strings"

// Prefix is what the names of all variables of the recorder begin with.
const Prefix = "MPITRACE_"

// Setting is one row of the table: one variable.
type Setting struct {
	Name    string // "MPITRACE_BUFFER"
	Default string // what holds if the variable is not set, in the variable's own syntax
	Syntax  string // what it may hold: "SIZE", "stream|ring"
	Brief   string // a few words for a list of options
	Help    string // all there is to know; like Brief, lower case, no full stop

	set func(*Config, string) error
	get func(*Config) string
}

// Option is the name of the option of mpitrace run that sets the variable:
// "ring-dir" for MPITRACE_RING_DIR.
func (s Setting) Option() string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(s.Name, Prefix)), "_", "-")
}

// Switch tells whether the variable holds 0 or 1.
func (s Setting) Switch() bool { return s.Syntax == switchSyntax }

// Check returns why value cannot be used for the setting, or nil.
func (s Setting) Check(value string) error {
	var c Config
	return s.set(&c, value)
}

const switchSyntax = "0|1"

// settings is the table. Its order is the order of help and documentation.
var settings = [...]Setting{
	{
		Name: "MPITRACE_OUTPUT", Default: "trace.%r", Syntax: "PATH",
		Brief: "where each rank writes its file; %r is the rank",
		Help: "where each rank writes its file: %r stands for the rank, %h for the host, %p for the process id, " +
			"%j for the batch job's id, %% for a percent sign; .%r is added to a name without %r and %p, " +
			"and a name that ends in / is the folder of files named trace.%r",
		set: func(c *Config, v string) (err error) { c.Output, err = ParseOutput(v); return },
		get: func(c *Config) string { return c.Output.String() },
	},
	{
		Name: "MPITRACE_BUFFER", Default: "4M", Syntax: "SIZE",
		Brief: "size of each thread's ring",
		Help:  "size of the ring of each thread that calls MPI, 64k to 4G; takes k, M and G",
		set:   func(c *Config, v string) (err error) { c.Buffer, err = parseSize(v, minBuffer, maxBuffer); return },
		get:   func(c *Config) string { return formatSize(c.Buffer) },
	},
	{
		Name: "MPITRACE_MODE", Default: "stream", Syntax: "stream|ring",
		Brief: "write everything, or keep the latest calls only",
		Help: "stream writes everything to the file while the program runs; " +
			"ring keeps the latest calls in memory and writes them on MPI_Pcontrol(2) and at the end",
		set: func(c *Config, v string) (err error) { c.Mode, err = parseMode(v); return },
		get: func(c *Config) string { return c.Mode.String() },
	},
	{
		Name: "MPITRACE_RING_DIR", Default: "/dev/shm", Syntax: "FOLDER",
		Brief: "where the rings are kept",
		Help:  "where the rings are kept while the program runs: memory of the node, not a disk",
		set:   func(c *Config, v string) (err error) { c.RingDir, err = parseFolder(v); return },
		get:   func(c *Config) string { return c.RingDir },
	},
	{
		Name: "MPITRACE_FILTER", Default: "all", Syntax: "LIST",
		Brief: "functions, patterns and families to record, or with - to leave out",
		Help: "which functions to record: names, patterns with * and ?, and families, separated by commas; " +
			"a leading - leaves out; later terms win: p2p,-MPI_Iprobe",
		set: func(c *Config, v string) (err error) { c.Filter, err = ParseFilter(v); return },
		get: func(c *Config) string { return c.Filter.String() },
	},
	{
		Name: "MPITRACE_ENABLE", Default: "1", Syntax: switchSyntax,
		Brief: "0 starts with recording disabled",
		Help:  "0 starts with recording disabled, until MPI_Pcontrol(1)",
		set:   func(c *Config, v string) (err error) { c.Enable, err = parseSwitch(v); return },
		get:   func(c *Config) string { return formatSwitch(c.Enable) },
	},
	{
		Name: "MPITRACE_PCONTROL", Default: "levels", Syntax: "levels|ipm",
		Brief: "what MPI_Pcontrol's arguments mean",
		Help: "what MPI_Pcontrol means: levels reads nothing behind the level except at 9093 and 9094; " +
			"ipm takes (1, name) and (-1, name) for the begin and end of a region",
		set: func(c *Config, v string) (err error) { c.Pcontrol, err = parsePcontrol(v); return },
		get: func(c *Config) string { return c.Pcontrol.String() },
	},
	{
		Name: "MPITRACE_QUIET", Default: "0", Syntax: switchSyntax,
		Brief: "1 prints nothing",
		Help:  "1 leaves out the lines that the recorder prints at the begin and at the end",
		set:   func(c *Config, v string) (err error) { c.Quiet, err = parseSwitch(v); return },
		get:   func(c *Config) string { return formatSwitch(c.Quiet) },
	},
}

// others are variables with our prefix that the recorder leaves to others.
var others = [...]string{
	"MPITRACE_LIB",         // mpitrace run and doctor: the library to use
	"MPITRACE_REQUIRE_MPI", // the tests: a missing MPI is a failure
}

// Settings returns the table in the order of documentation.
func Settings() []Setting {
	return append([]Setting(nil), settings[:]...)
}

// Lookup finds a setting by its variable's name.
func Lookup(name string) (Setting, bool) {
	for _, s := range settings {
		if s.Name == name {
			return s, true
		}
	}
	return Setting{}, false
}
