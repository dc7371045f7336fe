// SPDX-License-Identifier: Apache-2.0

package format

// recordKind numbers the kinds of records in head and definitions blocks.
// Numbers are in files: append only.
type recordKind uint8

const (
	recRun      recordKind = 1
	recProcess  recordKind = 2
	recThread   recordKind = 3
	recComm     recordKind = 4
	recDatatype recordKind = 5
	recOp       recordKind = 6
	recWin      recordKind = 7
	recFile     recordKind = 8
	recModule   recordKind = 9
	recSite     recordKind = 10
	recText     recordKind = 11
	recClock    recordKind = 12
	recDrain    recordKind = 13
	recLoss     recordKind = 14
	recSummary  recordKind = 15
	recNote     recordKind = 16
	numRecords             = 17
)

// visitor is shown a record's fields in the order in which they are stored.
// The binary coder, its decoder, and both directions of the text twin are
// visitors, so that each field is listed once.
//
// The name is what the text twin calls the field. New fields go to the end of
// a record: older files then lack them, older readers skip them.
type visitor interface {
	id(name string, p *ID)
	u32(name string, p *uint32)
	i32(name string, p *int32)
	u64(name string, p *uint64)
	i64(name string, p *int64)
	address(name string, p *uint64)
	rank(name string, p *int32) // in MPI_COMM_WORLD
	bool(name string, p *bool)
	f64(name string, p *float64)
	str(name string, p *string)
	strs(name string, p *[]string)
	uuid(name string, p *[16]byte)
	enum(name string, p *uint8, words []string)
	ranks(name string, p *Ranks)
	settings(name string, p *[]Setting)
}

// record is a definition of any kind.
type record interface {
	kind() recordKind
	visit(v visitor)
}

// recordTypes has, by kind, the word of the text twin and a maker.
var recordTypes = [numRecords]struct {
	word string
	make func() record
}{
	recRun:      {"run", func() record { return new(Run) }},
	recProcess:  {"process", func() record { return new(Process) }},
	recThread:   {"thread", func() record { return new(Thread) }},
	recComm:     {"comm", func() record { return new(Comm) }},
	recDatatype: {"datatype", func() record { return new(Datatype) }},
	recOp:       {"op", func() record { return new(Op) }},
	recWin:      {"win", func() record { return new(Win) }},
	recFile:     {"file", func() record { return new(File) }},
	recModule:   {"module", func() record { return new(Module) }},
	recSite:     {"site", func() record { return new(Site) }},
	recText:     {"text", func() record { return new(Text) }},
	recClock:    {"clock", func() record { return new(ClockPoint) }},
	recDrain:    {"drain", func() record { return new(Drain) }},
	recLoss:     {"loss", func() record { return new(Loss) }},
	recSummary:  {"summary", func() record { return new(Summary) }},
	recNote:     {"note", func() record { return new(Note) }},
}

var (
	commKindWords  = []string{"intra", "inter"}
	drainKindWords = []string{"background", "inline", "flush", "final"}
	lossKindWords  = []string{"overwritten", "dropped", "unwritten", "requests", "untracked", "threads", "torn", "clock"}
)

func (*Run) kind() recordKind { return recRun }
func (d *Run) visit(v visitor) {
	v.uuid("id", &d.ID)
	v.i32("size", &d.Size)
	v.i64("start", &d.Start)
	v.str("tool", &d.Tool)
	v.str("job", &d.Job)
	v.str("parent", &d.Parent)
	v.strs("command", &d.Command)
}

func (*Process) kind() recordKind { return recProcess }
func (d *Process) visit(v visitor) {
	v.rank("rank", &d.Rank)
	v.i32("pid", &d.PID)
	v.str("host", &d.Host)
	v.str("boot", &d.Boot)
	v.str("executable", &d.Executable)
	v.str("directory", &d.Directory)
	v.str("abi", &d.ABI)
	v.str("library", &d.Library)
	v.str("library-path", &d.LibraryPath)
	v.str("mpi-version", &d.MPIVersion)
	v.str("thread-level", &d.ThreadLevel)
	v.str("clock", &d.Clock)
	v.f64("tick-hz", &d.TickHz)
	v.settings("config", &d.Config)
	v.strs("rings", &d.Rings)
}

func (*Thread) kind() recordKind { return recThread }
func (d *Thread) visit(v visitor) {
	v.rank("rank", &d.Rank)
	v.u32("id", &d.ID)
	v.i32("tid", &d.TID)
	v.str("name", &d.Name)
}

func (*Comm) kind() recordKind { return recComm }
func (d *Comm) visit(v visitor) {
	v.id("id", &d.ID)
	v.enum("kind", (*uint8)(&d.Kind), commKindWords)
	v.str("name", &d.Name)
	v.id("parent", &d.Parent)
	v.u32("birth", &d.Birth)
	v.str("maker", &d.Maker)
	v.address("global", &d.Global)
	v.i32("me", &d.Rank)
	v.ranks("group", &d.Group)
	v.ranks("remote", &d.Remote)
}

func (*Datatype) kind() recordKind { return recDatatype }
func (d *Datatype) visit(v visitor) {
	v.id("id", &d.ID)
	v.str("name", &d.Name)
	v.i64("size", &d.Size)
	v.i64("extent", &d.Extent)
	v.str("maker", &d.Maker)
	v.id("base", &d.Base)
}

func (*Op) kind() recordKind { return recOp }
func (d *Op) visit(v visitor) {
	v.id("id", &d.ID)
	v.str("name", &d.Name)
}

func (*Win) kind() recordKind { return recWin }
func (d *Win) visit(v visitor) {
	v.id("id", &d.ID)
	v.str("name", &d.Name)
	v.id("comm", &d.Comm)
	v.i64("size", &d.Size)
	v.i64("unit", &d.Unit)
}

func (*File) kind() recordKind { return recFile }
func (d *File) visit(v visitor) {
	v.id("id", &d.ID)
	v.str("name", &d.Name)
	v.id("comm", &d.Comm)
	v.i64("mode", &d.Mode)
}

func (*Module) kind() recordKind { return recModule }
func (d *Module) visit(v visitor) {
	v.id("id", &d.ID)
	v.str("path", &d.Path)
	v.str("build-id", &d.BuildID)
	v.address("base", &d.Base)
	v.address("start", &d.Start)
	v.address("end", &d.End)
}

func (*Site) kind() recordKind { return recSite }
func (d *Site) visit(v visitor) {
	v.id("id", &d.ID)
	v.id("module", &d.Module)
	v.address("address", &d.Address)
	v.str("function", &d.Function)
	v.str("file", &d.File)
	v.i32("line", &d.Line)
}

func (*Text) kind() recordKind { return recText }
func (d *Text) visit(v visitor) {
	v.id("id", &d.ID)
	v.str("text", &d.Text)
}

func (*ClockPoint) kind() recordKind { return recClock }
func (d *ClockPoint) visit(v visitor) {
	v.rank("rank", &d.Rank)
	v.i64("tick", &d.Tick)
	v.i64("monotonic", &d.Monotonic)
	v.i64("realtime", &d.Realtime)
	v.i64("error", &d.Error)
}

func (*Drain) kind() recordKind { return recDrain }
func (d *Drain) visit(v visitor) {
	v.rank("rank", &d.Rank)
	v.enum("kind", (*uint8)(&d.Kind), drainKindWords)
	v.u32("thread", &d.Thread)
	v.i64("begin", &d.Begin)
	v.i64("end", &d.End)
	v.u64("calls", &d.Calls)
}

func (*Loss) kind() recordKind { return recLoss }
func (d *Loss) visit(v visitor) {
	v.rank("rank", &d.Rank)
	v.enum("kind", (*uint8)(&d.Kind), lossKindWords)
	v.u32("thread", &d.Thread)
	v.u64("count", &d.Count)
	v.str("detail", &d.Detail)
}

func (*Summary) kind() recordKind { return recSummary }
func (d *Summary) visit(v visitor) {
	v.rank("rank", &d.Rank)
	v.u64("calls", &d.Calls)
	v.u64("drains", &d.Drains)
	v.u64("inline-drains", &d.InlineDrains)
	v.i64("end", &d.End)
	v.bool("finalized", &d.Finalized)
}

func (*Note) kind() recordKind { return recNote }
func (d *Note) visit(v visitor) {
	v.rank("rank", &d.Rank)
	v.str("kind", &d.Kind)
	v.str("file", &d.File)
	v.u64("count", &d.Count)
	v.str("text", &d.Text)
	v.str("hint", &d.Hint)
}
