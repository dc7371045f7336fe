// SPDX-License-Identifier: Apache-2.0

// Package format writes and reads trace files. This comment is the file's
// specification, version 1.0: a reader in any language can be written from it
// alone (with RFC 8878 for zstd frames and Huffman streams).
//
// The package must not know where calls come from or what is done with them: it
// imports of this module only the vocabulary (package mpi), it does not align
// clocks, match messages or compute anything. It must not start goroutines,
// because the Writer lives in traced processes, nor rely on what a file claims:
// a Reader checks before it allocates, and damage costs the damaged block only.
//
// # Contents
//
//   - The file: header, blocks, trailer
//   - Blocks
//   - Head and definitions blocks
//   - Calls blocks; their columns; their times
//   - Message and collective blocks (reserved)
//   - The index block and the trailer
//   - Reading a damaged or unfinished file
//   - Versions
//   - The text twin
//
// # Conventions
//
// Integers of fixed size are little-endian. A uvarint is an unsigned integer in
// groups of 7 bits, lowest first, one group a byte; bit 7 is set in all but the
// last byte; at most 10 bytes. A svarint is a signed integer v stored as the
// uvarint of its zigzag (v<<1) ^ (v>>63): 0, -1, 1, -2, … become 0, 1, 2, 3, ….
// A string is a uvarint length and so many bytes of UTF-8. Sums and differences
// are modulo 2^64. Checksums are CRC-32C (Castagnoli, as in iSCSI).
//
// # The file
//
//	+--------+-------------+---------+---------+-----+-------------+---------+
//	| header | head block  |  block  |  block  |  …  | index block | trailer |
//	|  16 B  |             |         |         |     |             |  24 B   |
//	+--------+-------------+---------+---------+-----+-------------+---------+
//
// A rank file has what one rank recorded: times are ticks of that rank's clock,
// ids are its own. A merged file has a whole run: times are nanoseconds since
// the run began, ids are the run's. Blocks are only ever appended, each in one
// write. Index block and trailer are written when the file is closed; a process
// that is killed leaves none.
//
// The header:
//
//	 0            8     10      11     12          16
//	+------------+-----+-------+------+-----------+
//	|   magic    |major| minor | kind |  checksum |
//	+------------+-----+-------+------+-----------+
//
//	magic     89 4d 50 54 0d 0a 1a 0a ("\x89MPT\r\n\x1a\n")
//	major     u16, 1
//	minor     u8, 0
//	kind      u8: 1 rank file, 2 merged file
//	checksum  u32 of bytes 0 to 11
//
// # Blocks
//
// Every block has a header of 64 bytes, then its payload.
//
//	 0        4    5     6        8         12         16        20        24
//	+--------+----+-----+--------+---------+----------+---------+---------+
//	| marker |kind|codec|   0    | stored  | unpacked |  rank   | thread  |
//	+--------+----+-----+--------+---------+----------+---------+---------+
//	 24                  32        36         40
//	+-------------------+---------+----------+
//	|    first call     |  count  | payload  |
//	|                   |         | checksum |
//	+-------------------+---------+----------+
//	 40                  48                   56       60        64
//	+-------------------+--------------------+--------+---------+
//	|     time from     |      time to       | number | header  |
//	|                   |                    |        | checksum|
//	+-------------------+--------------------+--------+---------+
//
//	marker            d7 42 4c 4b ("\xd7BLK")
//	kind              u8: 1 head, 2 definitions, 3 calls, 4 messages, 5 collectives, 6 index
//	codec             u8, of head and definitions: 0 as is, 1 one zstd frame; else 0
//	stored            u32, bytes of the payload in the file
//	unpacked          u32, bytes of the payload unpacked, at most 16 MiB; equals stored for codec 0
//	rank              i32, calls: the rank in MPI_COMM_WORLD; else 0
//	thread            u32, calls: the thread if all calls are of one, else ffffffff
//	first call        u64, calls: number of the first call
//	count             u32, calls or records in the block
//	payload checksum  u32, of the payload as stored
//	time from         i64, calls: smallest begin
//	time to           i64, calls: largest begin or end; 2^63-1 if a call never returned
//	number            u32, of the block within the file, from 0
//	header checksum   u32, of bytes 0 to 59
//
// # Head and definitions blocks
//
// The payload is a sequence of records:
//
//	+------+--------------+--------- … ---+
//	| kind | length       | fields        |
//	|  u8  | uvarint      | length bytes  |
//	+------+--------------+--------- … ---+
//
// The head block is the file's first and has the run and the processes;
// definitions blocks have all other kinds, and may repeat those two. A
// definition stands in the file before the first call that needs it. A later
// record of the same kind and id (of the same rank and id for threads, of the
// same rank for processes and summaries; any for the run) replaces an earlier
// one. Clock points, drains, losses and notes add up.
//
// Fields follow one another without tags. A record may end early: the fields
// that are missing are zero. A record may be longer than its known fields: what
// is left is skipped. Records of unknown kinds are skipped.
//
//	 1 run       id: 16 bytes, size i32, start i64, tool string, job string, parent string, command strings
//	 2 process   rank i32, pid i32, host string, boot string, executable string, directory string, abi string,
//	             library string, library path string, MPI version string, thread level string, clock string,
//	             tick Hz f64, config settings, rings strings
//	 3 thread    rank i32, id u32, tid i32, name string
//	 4 comm      id, kind u8 (0 intra, 1 inter), name string, parent id, birth u32, maker string, global u64,
//	             rank i32, group ranks, remote ranks
//	 5 datatype  id, name string, size i64, extent i64, maker string, base id
//	 6 op        id, name string
//	 7 win       id, name string, comm id, size i64, unit i64
//	 8 file      id, name string, comm id, mode i64
//	 9 module    id, path string, build id string, base u64, start u64, end u64
//	10 site      id, module id, address u64, function string, file string, line i32
//	11 text      id, text string
//	12 clock     rank i32, tick i64, monotonic i64, realtime i64, error i64
//	13 drain     rank i32, kind u8 (0 background, 1 inline, 2 flush, 3 final), thread u32, begin i64, end i64, calls u64
//	14 loss      rank i32, kind u8 (see LossKind), thread u32, count u64, detail string
//	15 summary   rank i32, calls u64, drains u64, inline drains u64, end i64, finalized bool
//	16 note      rank i32, kind string, file string, count u64, text string, hint string
//
// What each field means is said at the Go types of the same names in defs.go.
// The types of fields: i32 and i64 are svarints; u8, u32, u64 and ids are
// uvarints; bool is one byte, 0 or 1; f64 is 8 bytes, IEEE 754; strings are a
// uvarint number and so many strings; settings are a uvarint number and for each
// name string, value string, default bool; ranks are a uvarint number and for
// each run first i32, count (uvarint below 2^31), stride i32.
//
// # Calls blocks
//
// A calls block has 1 to 8192 calls of one rank in order of their begin. In a
// rank file they are of one thread, and numbered within that thread; in a merged
// file of all threads of a rank, and numbered within the rank; from 0. What
// repeats is in two dictionaries: signatures (all of a call but its times and
// request numbers), and the signatures of completed requests.
//
//	+------------+------------+---------+---------+---------+-----------+---- … ---+
//	| signatures | completed  | first   | first   | columns | directory | data of  |
//	|            | signatures | request | done    |         |           | columns  |
//	|  uvarint   |  uvarint   | uvarint | uvarint | uvarint |           |          |
//	+------------+------------+---------+---------+---------+-----------+---- … ---+
//
//	signatures            size of the first dictionary, at most 8192
//	completed signatures  size of the second, at most the number of completed requests
//	first request         number of the first request that a call of the block started, 0 if none did
//	first done            number of the first completed request, 0 if there is none
//	columns               number of columns, at most 128
//
// The directory has for each column
//
//	id u8, coding u8, unpacked uvarint, stored uvarint
//
// and the columns' data follow in the same order, each stored bytes long. No
// column comes twice. A column that is not there has only zeros (the column of
// times is always there). Columns with unknown ids are skipped.
//
// A column is a sequence of unsigned integers; how many follows from the block.
// Codings:
//
//	0 constant  one uvarint: the value of all
//	1 varint    one uvarint for each
//	2 zstd      the same in one zstd frame that unpacks to unpacked bytes
//	3 times     see below; column 2 only
//
// In the table, "plain" is the value itself; "signed" is its zigzag; "optional"
// is 0 for none, else 1 plus its zigzag; none is -2^31 for ranks and tags, and
// -2^63 for counts and bytes. A "dictionary index" is 0 if it is one more than
// the largest before it in the column (or 0 and the first), else 1 plus itself.
//
//	id  column              one for each        value
//	 1  index               call                dictionary index: its signature
//	 2  times               call                see below
//	 3  request             call with one       signed: number minus expected number
//	16  function            signature           plain: id in the table of package mpi
//	17  flags               signature           plain: see Flags
//	18  thread              signature           plain
//	19  comm                signature           plain: id
//	20  win                 signature           plain: id
//	21  file                signature           plain: id
//	22  datatype            signature           plain: id
//	23  op                  signature           plain: id
//	24  site                signature           plain: id
//	25  peer                signature           optional
//	26  tag                 signature           optional
//	27  root                signature           optional
//	28  count               signature           optional
//	29  bytes               signature           optional
//	30  error               signature           signed
//	31  completed           signature           plain: number of requests that the call completed, at most 2^20
//	32  second              signature           plain: 1 if there is a second side, else 0
//	33  its peer            second side         optional
//	34  its tag             second side         optional
//	35  its datatype        second side         plain: id
//	36  its count           second side         optional
//	37  its bytes           second side         optional
//	38  its displacement    second side         signed
//	39  arguments           signature           plain: number of further arguments
//	40  argument            further argument    signed
//	41  group               signature           plain: for the times, below 32 (not there: see Times)
//	48  kind                completed signature plain: see DoneKind
//	49  flags               completed signature plain: see Flags
//	50  source              completed signature optional
//	51  tag                 completed signature optional
//	52  bytes               completed signature optional
//	53  error               completed signature signed
//	54  completed index     completed request   dictionary index: its signature
//	55  completed request   completed request   signed: number minus expected number
//
// A call has a request if its signature's flags have bit 6 (FlagRequest). The
// completed requests of a call follow those of the call before. The expected
// number of a request is one more than that of the one before in its column, and
// first request or first done for the first. A block has at most 2^20 completed
// requests and 1,677,721 further arguments.
//
// Special values of ranks and tags: -1 any, -2 MPI_PROC_NULL, -3 MPI_ROOT.
//
// # Times
//
// Times are lossless, and most of a file. Each call has two: its gap, which is
// its begin minus the end of the call before of the same thread in the block (or
// minus base, for a thread's first), and its duration, end minus begin. A call
// that never returned (flags bit 2, FlagInFlight) has no duration; its end is 0
// and the gap after it counts from its begin.
//
// Signatures are in groups (column 41; without it, the functions of the
// dictionary in order of appearance are the groups 0 to 31, the last having all
// that are left). List 2g has the gaps of all calls of
// group g in call order, list 2g+1 their durations. A value of list l is
//
//	least[l] + unit * q,  q = base of its symbol + the bits below
//
// Symbols are bytes from 0 to 251. Symbols 0 to 7 stand for q = 0 to 7. Symbol
// s > 7 is followed by k = s/4 - 1 bits below, and its base is (4 + s%4) << k:
// three significant bits are in the symbol.
//
// Lists are joined to streams, so that those that are distributed alike share a
// Huffman table. Stream s has the symbols of all lists with stream[l] = s, one
// list after the other in order of l. The column's data:
//
//	+---------+---------+--------+---------+---------- … ---+---------- … ---+-- … ---+
//	|  base   |  unit   | groups | streams | for each list: | for each       |  bits  |
//	|         |         |        |         | least, stream  | stream: coding,|  below |
//	|         |         |        |         |                | size, data     |        |
//	| svarint | uvarint |   u8   |   u8    | svarint, u8    | u8, uvarint, … |        |
//	+---------+---------+--------+---------+---------- … ---+---------- … ---+-- … ---+
//
//	base     begin of the block's first call
//	unit     what all gaps and durations are multiples of: the clock's granule
//	groups   at most 32; there are twice as many lists
//	streams  at most 16
//
// The codings of a stream:
//
//	0  a byte for each symbol
//	1  one byte: the symbol of all
//	2  a Huffman tree description and one stream, as RFC 8878, section 4.2, has
//	   them in a literals section; tables of at most 11 bits
//	3  the same with a jump table and four streams
//
// The bits below are those of list 0, then list 1 and so on, each value's lowest
// bit first, filling bytes from the lowest bit; the last byte is filled with
// zeros. They end where the column ends.
//
// A writer may group, join and code as it likes. This one gives up to 32
// signatures a group each, groups more of them by function and magnitude of
// their bytes, or by function if nearly every call has its own, and joins lists where that saves bits.
//
// # Message and collective blocks
//
// Reserved for merged files; this version neither writes nor reads them, but
// later minor versions will, in this layout. The payload is a number of columns
// (uvarint), a directory and the columns' data as in a calls block; count is the
// number of messages or instances.
//
// A messages block has messages that the header's rank received, in order of
// the call that posted the receive (first call is the first of these numbers):
//
//	1  posted     signed: number of the posting call minus that of the message before, or minus first call
//	2  completed  plain: number of the completing call minus that of the posting one
//	3  sender     plain: rank in MPI_COMM_WORLD
//	4  sent       signed: number of the sending call minus that of the posting one
//	5  comm       plain: id
//	6  tag        signed
//	7  bytes      plain
//	8  part       plain: which of the messages of the sending call
//	9  place      plain: which of the messages of the posting call
//
// A collectives block has instances of collective calls, in order of comm and
// instance:
//
//	1  comm       instance  plain: id
//	2  instance   instance  signed: index on the communicator minus that of the instance before
//	3  function   instance  plain: what most members called
//	4  members    instance  plain: how many calls it is made of
//	5  rank       member    plain: rank in MPI_COMM_WORLD
//	6  call       member    plain: number of its call
//	7  function   member    plain: 0 if it is the instance's
//
// # The index block and the trailer
//
// The index is the last block. Its payload has an entry for each block before,
// in file order, and its count is their number:
//
//	kind u8, gap uvarint, size uvarint
//
// and for calls blocks also
//
//	rank svarint, thread+1 uvarint (0 for several), first svarint, count uvarint, from svarint, length svarint
//
// gap is the block's offset minus the end of the block before (minus 0 for the
// first: 16). size includes the header. first is the number of the first call
// minus one more than the last call's number in the calls block before, from is
// time from minus time to of the calls block before (both minus 0 for the
// first), length is time to minus time from. The entries must cover the file: the
// last ends where the index block begins.
//
//	 0              8         12         16            24
//	+--------------+---------+----------+-------------+
//	| offset of    |    0    | checksum |  end magic  |
//	| index block  |         |          |             |
//	+--------------+---------+----------+-------------+
//
//	checksum   u32 of bytes 0 to 11
//	end magic  4d 50 54 45 4e 44 0d 0a ("MPTEND\r\n")
//
// # Reading a damaged or unfinished file
//
// A file with a good trailer and index is read by them. Any other is scanned:
// at each offset from 16 on stands a block header (its checksum says so), and
// the next block comes after its payload. Where there is none, the reader goes
// on at the next marker that begins a good header. What was passed over is
// damage, and is reported with its offset and size; the numbers of the calls
// before and after, thread by thread, tell how many calls it held. A payload
// whose checksum is wrong is damage, too; header and index tell how many calls
// it held. A file that ends within a block was cut off, or is being written.
//
// # Versions
//
// A reader accepts its own major version with any minor version, and refuses
// other major versions, naming both. A minor version may add kinds of blocks and
// records, fields at the end of records, columns, and bits of flags; it never
// changes the meaning of what is there.
//
// # The text twin
//
// The same as text: for tests, for people, and to write traces by hand. It is
// lossless in both directions, but for how calls share dictionary entries.
//
//	mpitrace-text 1 rank
//	# The first line is as above, or "mpitrace-text 1 merged".
//	comm id=1 name=MPI_COMM_WORLD group=0-1
//	datatype id=1 name=MPI_DOUBLE size=8 extent=8
//
//	rank 0
//	MPI_Isend 110 120 comm=1 peer=1 tag=7 count=4 datatype=1 bytes=32 request=1
//	MPI_Waitall 130 200 done=[1:send]
//	MPI_Barrier 210 - comm=1
//
//	rank 1
//	MPI_Recv 100 220 comm=1 peer=0 tag=7 count=8 datatype=1 bytes=32 flags=any-source|any-tag
//
// A line is words separated by blanks. "#" at the beginning of a word makes the
// rest of the line a comment. A word is a value, key=value, or key=[value …]. A
// value with other characters than letters, digits and _-./+*:@%| must be in
// double quotes with Go's escapes. Keys come in any order, once each.
//
// "rank N" begins what is said of a rank, or goes on with it; the rank fields of
// definitions that follow default to N. In a text of rank files every such
// section is a file, and the definitions before the first section are in all of
// them: a communicator there gets the rank of each file's process in its group.
// Without a run line the run's size is one more than the largest rank; without a
// process line the process is one of that rank, unless "process none" says that
// there is none.
//
// A definition is the word of its kind (the table above) and its fields, named
// as in records.go. Fields that are zero are left out. Ranks are lists like
// 0-3,8,4:2:-1 (first:count:stride); settings are [name value set|default …].
//
// A call is the function (or func-N, by id), begin, end (- if it never returned),
// and its signature:
//
//	thread flags comm win file peer tag count datatype bytes op root error site
//	second second.peer second.tag second.count second.datatype second.bytes second.disp
//	args=[…] request done=[…]
//
// Left out, peer, tag, root and count are none, everything else is zero. Words:
// none, any, null (MPI_PROC_NULL), root (MPI_ROOT). Flags are joined with "|":
// any-source any-tag nested in-place truncated false cancelled; other bits are
// hexadecimal. A completed request is number:kind,source=…,tag=…,bytes=…,error=…,
// flags=… with the kinds unknown send recv collective one-sided io other freed
// pending started.
//
// "block seq=N thread=N rank=N" begins a block of calls. Without it calls are put
// into blocks of 8192 (of one thread each in rank files), and numbered through.
package format
