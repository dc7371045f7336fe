/* SPDX-License-Identifier: Apache-2.0
 *
 * The ring: what a thread of the traced program writes its calls into.
 *
 * A ring is a file of node-local memory, mapped MAP_SHARED, so that what was
 * recorded outlives the process. It has one writer, the thread that owns it,
 * and one reader, the drain (or, after a crash, salvage). This header is the
 * layout and the writer's side; ring.go is the reader's side and checks at
 * start that both agree on every offset.
 *
 * File:
 *
 *   0            struct mpit_ring_head, one page
 *   4096         capacity slots of 64 bytes, a power of two
 *
 * A record is a head slot and ncont continuation slots right behind it (the
 * data is mapped twice in a row, so no record is ever split by the wrap). The
 * writer reserves and publishes a record *before* the MPI call with end = 0 and
 * stores end when the call has returned; so the newest record of a ring is the
 * call that its thread is in.
 *
 * Order of memory: the writer stores head with release after the slot's
 * fields, and end with release after the results. A reader that loads head and
 * end with acquire sees whole records only.
 */
#ifndef MPITRACE_RING_H
#define MPITRACE_RING_H

#include <stdatomic.h>
#include <stdint.h>

#define MPIT_RING_MAGIC 0x474e49525449504dull /* "MPITRING" */
#define MPIT_RING_VERSION 1
#define MPIT_RING_DATA 4096 /* offset of slot 0 in the file */
#define MPIT_SEGMENTS 64    /* parts of a ring at whose borders the writer takes its slow path */

/* One cache line: the head of a record. The comments name the plan fields of
 * mpi/record.go that decide what a function stores. */
struct mpit_slot {
	uint64_t begin;         /* ticks */
	_Atomic uint64_t end;   /* ticks; 0: the call has not returned */
	uint64_t where;         /* return address | function id << 48 */
	uint32_t object;        /* communicator, window or file id */
	uint32_t datatype;      /* datatype id */
	int32_t peer;           /* peer or root as the library's own constant; a receive's actual source once it ended */
	int32_t tag;
	int64_t count;
	uint64_t aux;           /* request handle, or bytes received */
	int32_t error;          /* what the function returned */
	uint16_t ncont;         /* continuation slots */
	uint8_t flags;          /* MPIT_F_… */
	uint8_t op;             /* reduction operation id */
};

#define MPIT_F_HIDDEN 1     /* only for tracking: recording is off or the function filtered out */
#define MPIT_F_ANY_SOURCE 2 /* posted with MPI_ANY_SOURCE */
#define MPIT_F_ANY_TAG 4
#define MPIT_F_IN_PLACE 8
#define MPIT_F_FALSE 16     /* flag = 0 */
#define MPIT_F_TRUNCATED 32 /* requests left out */
#define MPIT_F_CANCELLED 64
#define MPIT_F_BYTES 128    /* aux holds bytes */

/* The second half of a call with two sides (Sendrecv, most collectives,
 * one-sided, I/O): the first continuation slot of functions whose plan says so. */
struct mpit_side {
	int32_t peer;
	int32_t tag;
	int64_t count;
	uint32_t datatype;
	uint32_t valid; /* 0: not significant on this rank */
	int64_t bytes;  /* received; -1 if not known */
	int64_t disp;   /* target displacement or file offset */
	int64_t first_bytes; /* of the first side; -1 if not known */
	int64_t unused[2];
};

/* One request of a call that takes requests: two to a continuation slot. */
struct mpit_done {
	uint64_t request; /* the handle as it was before the call */
	int32_t source;
	int32_t tag;
	int64_t bytes;
	int32_t error;
	uint32_t state; /* MPIT_DONE_… */
};

#define MPIT_DONE_PENDING 0   /* passed, not completed (yet) */
#define MPIT_DONE_COMPLETE 1
#define MPIT_DONE_CANCELLED 2
#define MPIT_DONE_STARTED 3   /* by MPI_Start */
#define MPIT_DONE_FREED 4     /* by MPI_Request_free */
#define MPIT_DONE_CANCEL 5    /* by MPI_Cancel: asked for, not done */
#define MPIT_DONE_INSPECTED 6 /* found complete by MPI_Request_get_status */

/* Definitions (communicators, datatypes, …) have a ring of their own, one a
 * process, so that ring mode never overwrites one: head slot with function
 * MPIT_DEFINITION, aux its kind and count its length in bytes; the bytes are in
 * the continuation slots. Its thread index is MPIT_DEFINITIONS_THREAD. */
#define MPIT_DEFINITION 0xffffu
#define MPIT_DEFINITIONS_THREAD 0xffffffffu

enum mpit_definition {
	MPIT_DEF_COMM = 1,  /* struct mpit_def_comm, name, runs */
	MPIT_DEF_TYPE = 2,  /* struct mpit_def_type, name */
	MPIT_DEF_OP = 3,    /* struct mpit_def_op, name */
	MPIT_DEF_WIN = 4,   /* struct mpit_def_win, name */
	MPIT_DEF_FILE = 5,  /* struct mpit_def_file, name */
	MPIT_DEF_TEXT = 6,  /* struct mpit_def_text, text */
};

struct mpit_def_comm {
	uint32_t id, parent, birth, maker; /* maker: function id */
	int32_t rank, size, inter;         /* size: of the local group */
	uint32_t name_length, local_runs, remote_runs;
	uint64_t global;
}; /* then name, padded to 4 bytes, then runs of three int32: first, count, stride */

struct mpit_def_type {
	uint32_t id, base, maker, name_length;
	int64_t size, extent;
};

struct mpit_def_op {
	uint32_t id, name_length;
};

struct mpit_def_win {
	uint32_t id, comm, maker, name_length;
	int64_t size, unit;
};

struct mpit_def_file {
	uint32_t id, comm, name_length;
	int32_t mode;
};

struct mpit_def_text {
	uint32_t id, length;
};

struct mpit_ring_head {
	uint64_t magic;
	uint32_t version;
	uint32_t slot_size;
	uint64_t capacity;       /* slots */
	uint32_t pid;
	uint32_t tid;
	uint32_t thread;         /* index among the threads that call MPI */
	int32_t rank;            /* -1 until MPI_Init has returned */
	uint64_t process_start;  /* field 22 of /proc/PID/stat: tells a reused pid apart */
	uint32_t abi;            /* enum mpit_abi_kind */
	uint32_t mode;           /* 0 stream, 1 ring */
	char boot[40];           /* kernel's boot id */
	char thread_name[16];
	uint64_t unused[1];
	/* The writer's line. */
	_Alignas(64) _Atomic uint64_t head; /* slots published since the ring was made */
	uint64_t calls;          /* recorded, as of the last slow path */
	uint64_t lost_calls;     /* not recorded for want of room */
	uint64_t lost_requests;  /* completed requests left out of records */
	/* The reader's line. */
	_Alignas(64) _Atomic uint64_t tail; /* slots consumed */
	/* Ring mode: where the first record of each segment began. */
	_Alignas(64) _Atomic uint64_t segment[MPIT_SEGMENTS];
	uint64_t segment_calls[MPIT_SEGMENTS]; /* calls recorded before it */
	char path[1024];         /* trace file that this ring belongs to */
};

_Static_assert(sizeof(struct mpit_slot) == 64, "a slot is one cache line");
_Static_assert(sizeof(struct mpit_side) == 64, "a side is one slot");
_Static_assert(sizeof(struct mpit_done) == 32, "two requests to a slot");
_Static_assert(sizeof(struct mpit_ring_head) <= MPIT_RING_DATA, "the head is one page");

#endif
