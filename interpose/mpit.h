/* SPDX-License-Identifier: Apache-2.0
 *
 * What every wrapper needs: the thread's state and the few inline functions
 * that make a record. Everything here runs inside the traced program on every
 * MPI call: no allocation, no lock, no system call, no Go, no message.
 */
#ifndef MPITRACE_MPIT_H
#define MPITRACE_MPIT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "../tracebuf/ring.h"
#include "functions_gen.h"

#define MPIT_LIKELY(x) __builtin_expect(!!(x), 1)
#define MPIT_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define MPIT_INLINE static inline __attribute__((always_inline))
#define MPIT_EXPORT __attribute__((visibility("default")))
#define MPIT_HIDDEN __attribute__((visibility("hidden")))

/* Return types of MPI functions that are no int. */
typedef int64_t mpit_aint;

/* A handle as it is passed by value: the library's own int or pointer in a
 * 64-bit argument slot, whose upper half is noise where handles are ints. It is
 * handed on untouched; before we use one ourselves, mpit_handle cleans it. */
typedef void *mpit_h;

enum mpit_abi_kind { MPIT_ABI_NONE, MPIT_ABI_OPENMPI, MPIT_ABI_MPICH, MPIT_ABI_STANDARD, MPIT_ABI_OPAQUE };

/* What differs between MPI libraries and matters on the path of a call. Set
 * once, before the first call is recorded. */
struct mpit_abi {
	uint64_t handle_mask; /* bits of a handle that count */
	uint32_t handle_size; /* of an element in an array of handles: 4 or 8 */
	uint32_t status_size;
	int32_t status_source, status_tag, status_error; /* offsets; -1: not known */
	uint32_t kind;        /* enum mpit_abi_kind */
	int32_t any_source, any_tag, proc_null, root, undefined;
	uint64_t in_place, status_ignore, statuses_ignore;
	uint64_t comm_world, comm_self, comm_null, request_null;
	uint64_t type_null, type_byte, win_null, file_null, op_null;
	int32_t err_in_status, err_pending, err_unsupported;
};

extern MPIT_HIDDEN struct mpit_abi mpit_abi;

/* The real functions, by id, filled at the process's first MPI call. */
extern MPIT_HIDDEN void *mpit_real[MPIT_NUM_FUNCTIONS];

/* What to do with each function's calls. */
extern MPIT_HIDDEN uint8_t mpit_on[MPIT_NUM_FUNCTIONS];
#define MPIT_OFF 0
#define MPIT_RECORD 1
#define MPIT_TRACK 2 /* record, but hidden: only for following requests and objects */

enum mpit_object_kind { MPIT_OBJECT_NONE, MPIT_OBJECT_COMM, MPIT_OBJECT_TYPE, MPIT_OBJECT_OP, MPIT_OBJECT_WIN, MPIT_OBJECT_FILE };

enum { MPIT_FRESH, MPIT_IDLE, MPIT_INSIDE };

#define MPIT_OBJECT_CACHE 8
#define MPIT_TYPE_CACHE 16

struct mpit_cached {
	uint64_t handle;
	uint32_t generation;
	uint32_t id;
};

/* A thread of the program that calls MPI. */
struct mpit_thread {
	uint32_t state;
	uint32_t index;
	struct mpit_slot *slots;
	uint64_t mask;
	uint64_t head;  /* next slot, published or not */
	uint64_t limit; /* beyond this slot the slow path must look */
	uint64_t calls;
	struct mpit_ring_head *ring;
	uint64_t *scratch; /* stands in for statuses that the program ignores */
	size_t scratch_size;
	char ring_path[512]; /* empty: the ring is plain memory */
	_Atomic int ended; /* the thread is gone; the drain may reuse the ring */
	struct mpit_cached objects[MPIT_OBJECT_CACHE];
	struct mpit_cached types[MPIT_TYPE_CACHE];
};

extern __thread struct mpit_thread *mpit_self __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Counts frees of communicators and datatypes: a cached id is good only for
 * the generation that it was looked up in. */
extern MPIT_HIDDEN _Atomic uint32_t mpit_generation;

MPIT_HIDDEN int mpit_enter(void);
MPIT_HIDDEN int mpit_slow(struct mpit_thread *t, unsigned slots);
MPIT_HIDDEN uint32_t mpit_object_slow(struct mpit_thread *t, uint64_t handle, enum mpit_object_kind kind);
MPIT_HIDDEN uint32_t mpit_type_slow(struct mpit_thread *t, uint64_t handle);
MPIT_HIDDEN void *mpit_scratch_slow(struct mpit_thread *t, size_t size);

/* The clock. Ticks are the processor's counter where it is steady, else
 * nanoseconds of CLOCK_MONOTONIC. */
extern MPIT_HIDDEN int mpit_clock_slow;

MPIT_INLINE uint64_t mpit_now(void)
{
	if (MPIT_LIKELY(!mpit_clock_slow)) {
#if defined(__x86_64__)
		return __rdtsc();
#elif defined(__aarch64__)
		uint64_t v;
		__asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(v));
		return v;
#endif
	}
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

MPIT_INLINE uint64_t mpit_handle(const void *h)
{
	return (uint64_t)h & mpit_abi.handle_mask;
}

/* The i-th element of an array of handles in the program's memory. */
MPIT_INLINE uint64_t mpit_handle_at(const void *array, size_t i)
{
	if (mpit_abi.handle_size == 4)
		return ((const uint32_t *)array)[i];
	return ((const uint64_t *)array)[i];
}

MPIT_INLINE unsigned mpit_hash(uint64_t handle)
{
	return (unsigned)(handle ^ handle >> 6 ^ handle >> 11);
}

/* The id of a communicator, window or file. Handles of different kinds are
 * never equal while both are alive. */
MPIT_INLINE uint32_t mpit_object_id(struct mpit_thread *t, uint64_t handle, enum mpit_object_kind kind)
{
	struct mpit_cached *c = &t->objects[mpit_hash(handle) % MPIT_OBJECT_CACHE];
	if (MPIT_LIKELY(c->handle == handle && c->generation == atomic_load_explicit(&mpit_generation, memory_order_relaxed)))
		return c->id;
	return mpit_object_slow(t, handle, kind);
}

MPIT_INLINE uint32_t mpit_comm_id(struct mpit_thread *t, const void *h)
{
	return mpit_object_id(t, mpit_handle(h), MPIT_OBJECT_COMM);
}

MPIT_INLINE uint32_t mpit_win_id(struct mpit_thread *t, const void *h)
{
	return mpit_object_id(t, mpit_handle(h), MPIT_OBJECT_WIN);
}

/* Files are pointers in every MPI. */
MPIT_INLINE uint32_t mpit_file_id(struct mpit_thread *t, const void *h)
{
	return mpit_object_id(t, (uint64_t)h, MPIT_OBJECT_FILE);
}

MPIT_INLINE uint32_t mpit_type_id(struct mpit_thread *t, const void *h)
{
	uint64_t handle = mpit_handle(h);
	struct mpit_cached *c = &t->types[mpit_hash(handle) % MPIT_TYPE_CACHE];
	if (MPIT_LIKELY(c->handle == handle && c->generation == atomic_load_explicit(&mpit_generation, memory_order_relaxed)))
		return c->id;
	return mpit_type_slow(t, handle);
}

/* mpit_begin starts a record of the function id with room for up to slots
 * slots. NULL: do not record this call. The caller has set t->state. */
MPIT_INLINE struct mpit_slot *mpit_begin(struct mpit_thread *t, unsigned id, unsigned slots, const void *site)
{
	uint8_t on = mpit_on[id];
	if (MPIT_UNLIKELY(on == MPIT_OFF))
		return NULL;
	if (MPIT_UNLIKELY(t->head + slots > t->limit) && !mpit_slow(t, slots))
		return NULL;
	struct mpit_slot *s = &t->slots[t->head & t->mask];
	atomic_store_explicit(&s->end, 0, memory_order_relaxed);
	s->where = (uint64_t)site | (uint64_t)id << 48;
	/* ncont, flags and op in one store: little-endian, checked by the layout test. */
	uint32_t tail = (uint32_t)(on == MPIT_TRACK ? MPIT_F_HIDDEN : 0) << 16;
	memcpy((char *)s + 60, &tail, sizeof tail);
	return s;
}

/* mpit_publish makes the record visible, with its arguments, as the call that
 * the thread is in, and reads the clock. */
MPIT_INLINE void mpit_publish(struct mpit_thread *t, struct mpit_slot *s, unsigned slots)
{
	s->ncont = (uint16_t)(slots - 1);
	t->head += slots;
	t->calls++;
	s->begin = mpit_now();
	atomic_store_explicit(&t->ring->head, t->head, memory_order_release);
}

/* mpit_end completes the record: end is the clock as read right after the call. */
MPIT_INLINE void mpit_end(struct mpit_slot *s, uint64_t end, int error)
{
	s->error = error;
	atomic_store_explicit(&s->end, end, memory_order_release);
}

/* mpit_fit gives a published record another length, once its results are
 * known. Only the newest record can be changed, and only before mpit_end. */
static inline void mpit_fit(struct mpit_thread *t, struct mpit_slot *s, unsigned slots)
{
	t->head += (uint64_t)slots - 1 - s->ncont;
	s->ncont = (uint16_t)(slots - 1);
	atomic_store_explicit(&t->ring->head, t->head, memory_order_release);
}

static inline void *mpit_scratch(struct mpit_thread *t, size_t size)
{
	if (MPIT_LIKELY(size <= t->scratch_size))
		return t->scratch;
	return mpit_scratch_slow(t, size);
}

/* Statuses. */
MPIT_HIDDEN int64_t mpit_status_bytes_slow(const void *status);

MPIT_INLINE int64_t mpit_status_bytes(const void *status)
{
	const char *p = status;
	if (MPIT_LIKELY(mpit_abi.kind == MPIT_ABI_OPENMPI)) {
		uint64_t n;
		memcpy(&n, p + 16, sizeof n);
		return (int64_t)n;
	}
	if (MPIT_LIKELY(mpit_abi.kind == MPIT_ABI_MPICH)) {
		uint32_t lo, hi;
		memcpy(&lo, p, sizeof lo);
		memcpy(&hi, p + 4, sizeof hi);
		return (int64_t)(lo | (uint64_t)(hi >> 1) << 32);
	}
	return mpit_status_bytes_slow(status);
}

MPIT_INLINE int32_t mpit_status_int(const void *status, int32_t offset)
{
	int32_t v;
	memcpy(&v, (const char *)status + offset, sizeof v);
	return v;
}

MPIT_HIDDEN int mpit_status_cancelled(const void *status);

/* What a wrapper must know of a communicator. */
struct mpit_comm_info {
	int32_t rank, size;       /* own rank and size of the local group */
	int32_t peers;            /* size of the group that ranks refer to: the remote one of an intercommunicator */
	int32_t inter;
	int32_t indegree, outdegree; /* of its topology; -1: not asked yet */
	uint32_t births;          /* communicators made from it so far */
	uint32_t parent;
	uint64_t global;
};

MPIT_HIDDEN struct mpit_comm_info *mpit_comm_info(uint32_t id);
MPIT_HIDDEN int64_t mpit_type_size(uint32_t id);
MPIT_HIDDEN uint8_t mpit_op_id(const void *op);

/* After a call that made, named or is about to free an object. */
MPIT_HIDDEN void mpit_comm_created(struct mpit_thread *t, unsigned maker, const void *parent, const void *newcomm, int pending);
MPIT_HIDDEN void mpit_type_created(struct mpit_thread *t, unsigned maker, const void *base, const void *newtype);
MPIT_HIDDEN void mpit_op_created(const void *newop);
MPIT_HIDDEN void mpit_win_created(struct mpit_thread *t, unsigned maker, const void *comm, int64_t size, int64_t unit, const void *newwin);
MPIT_HIDDEN void mpit_file_opened(struct mpit_thread *t, const void *comm, const char *name, int mode, const void *newfile);
MPIT_HIDDEN void mpit_named(enum mpit_object_kind kind, uint64_t handle, const char *name);
MPIT_HIDDEN void mpit_forget(uint64_t handle);
MPIT_HIDDEN void mpit_degrees(struct mpit_comm_info *c, const void *comm);
MPIT_HIDDEN uint32_t mpit_text(const char *text);

#endif
