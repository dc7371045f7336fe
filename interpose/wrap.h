/* SPDX-License-Identifier: Apache-2.0
 *
 * What the generated wrappers are made of.
 */
#ifndef MPITRACE_WRAP_H
#define MPITRACE_WRAP_H

#include "mpit.h"

/* Where wrappers are compiled: build.sh asks for them in the shared library,
 * and in objects of their own (static/all.c) for the archive. A plain go build
 * of this package, which nobody uses, is spared the work. */
#if defined(MPIT_SHARED) || defined(MPIT_ONE_EACH)
#define MPIT_WANTED 1
#else
#define MPIT_WANTED 0
#endif

#ifdef MPIT_STATIC
/* The linker finds the real function. Its reference must be strong: a weak one
 * would not pull it out of libmpi's archive. */
#define MPIT_REAL(name, type, params) PMPI_##name
#define MPIT_WRAP(name, type, params) \
	extern type PMPI_##name params; \
	MPIT_EXPORT type MPI_##name params; \
	type MPI_##name params
#else
/* Both names are ours: Fortran layers call MPI_X or PMPI_X, as each MPI likes.
 * The thread's state keeps the library's own calls from being recorded. */
#define MPIT_REAL(name, type, params) ((type (*) params)mpit_real[MPIT_ID_##name])
#define MPIT_WRAP(name, type, params) \
	MPIT_EXPORT type MPI_##name params; \
	MPIT_EXPORT type PMPI_##name params __attribute__((alias("MPI_" #name))); \
	type MPI_##name params
#endif

#define MPIT_NO_COUNT INT64_MIN
#define MPIT_MAX_REQUESTS 16384

MPIT_INLINE void mpit_fill(struct mpit_slot *s, uint32_t object, uint32_t datatype, int32_t peer, int32_t tag, int64_t count)
{
	s->object = object;
	s->datatype = datatype;
	s->peer = peer;
	s->tag = tag;
	s->count = count;
	s->aux = 0;
	s->error = 0;
}

static inline void mpit_fill_side(struct mpit_slot *slot, int32_t peer, int32_t tag, uint32_t datatype, int64_t count, int64_t bytes,
				  int64_t disp, int64_t first_bytes)
{
	struct mpit_side *side = (struct mpit_side *)slot;
	*side = (struct mpit_side){ .peer = peer, .tag = tag, .count = count, .datatype = datatype, .valid = 1,
				    .bytes = bytes, .disp = disp, .first_bytes = first_bytes };
}

static inline int64_t mpit_amount(int64_t count, int64_t size, int64_t times)
{
	int64_t n;
	if (count < 0 || size < 0 || __builtin_mul_overflow(count, size, &n) || __builtin_mul_overflow(n, times, &n))
		return -1;
	return n;
}

static inline int64_t mpit_element(const void *array, size_t size, int64_t i)
{
	if (!array || i < 0)
		return 0;
	return size == 4 ? ((const int *)array)[i] : ((const int64_t *)array)[i];
}

static inline int64_t mpit_sum(const void *counts, size_t size, int64_t n)
{
	int64_t sum = 0;
	for (int64_t i = 0; i < n && counts; i++)
		sum += mpit_element(counts, size, i);
	return sum;
}

/* Bytes where each element has a datatype of its own. */
static inline int64_t mpit_sum_typed(struct mpit_thread *t, const void *counts, size_t size, const void *types, int64_t n)
{
	int64_t sum = 0;
	for (int64_t i = 0; i < n && counts && types; i++) {
		int64_t c = mpit_element(counts, size, i);
		if (c > 0)
			sum += c * mpit_type_size(mpit_type_id(t, (mpit_h)mpit_handle_at(types, (size_t)i)));
	}
	return sum;
}

MPIT_INLINE void mpit_wildcards(struct mpit_slot *s, int32_t source, int32_t tag)
{
	if (mpit_abi.kind == MPIT_ABI_OPAQUE)
		return;
	s->flags |= (uint8_t)((source == mpit_abi.any_source ? MPIT_F_ANY_SOURCE : 0) | (tag == mpit_abi.any_tag ? MPIT_F_ANY_TAG : 0));
}

/* Requests. */

MPIT_INLINE unsigned mpit_requests_fit(struct mpit_thread *t, int n)
{
	uint64_t most = (t->mask + 1) / 4;
	if (n <= 0 || mpit_abi.kind == MPIT_ABI_OPAQUE)
		return 0;
	if (most > MPIT_MAX_REQUESTS)
		most = MPIT_MAX_REQUESTS;
	return (uint64_t)n < most ? (unsigned)n : (unsigned)most;
}

MPIT_INLINE void mpit_request_named(struct mpit_done *d, uint64_t handle)
{
	*d = (struct mpit_done){ .request = handle, .state = MPIT_DONE_PENDING };
}

/* The array's odd half slot at the end must not hold old data. */
MPIT_INLINE void mpit_requests(struct mpit_done *done, unsigned n, const void *requests)
{
	for (unsigned i = 0; i < n; i++)
		mpit_request_named(&done[i], mpit_handle_at(requests, i));
	if (n % 2)
		mpit_request_named(&done[n], 0);
}

static inline void mpit_request_value(struct mpit_done *done, unsigned n, const void *request)
{
	if (n == 0)
		return;
	mpit_request_named(&done[0], mpit_handle(request));
	mpit_request_named(&done[1], 0);
}

static inline void mpit_truncated(struct mpit_thread *t, struct mpit_slot *s, unsigned left_out)
{
	if (mpit_abi.kind == MPIT_ABI_OPAQUE || (int)left_out <= 0)
		return;
	s->flags |= MPIT_F_TRUNCATED;
	t->ring->lost_requests += left_out;
}

MPIT_INLINE uint64_t mpit_request_made(const void *request, int rc)
{
	if (rc != 0 || mpit_abi.kind == MPIT_ABI_OPAQUE)
		return 0;
	return mpit_handle_at(request, 0);
}

/* Whether status is one that may be read. */
MPIT_INLINE int mpit_readable(const void *status, uint64_t ignore)
{
	return status && (uint64_t)status != ignore && mpit_abi.status_source >= 0;
}

static inline void mpit_done_status(struct mpit_done *d, const char *status)
{
	d->source = mpit_status_int(status, mpit_abi.status_source);
	d->tag = mpit_status_int(status, mpit_abi.status_tag);
	d->bytes = mpit_status_bytes(status);
	if (MPIT_UNLIKELY(mpit_status_cancelled(status)))
		d->state = MPIT_DONE_CANCELLED;
}

static inline void mpit_requests_state(struct mpit_done *done, unsigned n, int rc, unsigned state)
{
	for (unsigned i = 0; i < n && rc == 0; i++)
		done[i].state = state;
}

/* Keeps what is not pending any more, in order, and shortens the record. */
static inline void mpit_keep_done(struct mpit_thread *t, struct mpit_slot *s, unsigned fixed, struct mpit_done *done, unsigned n)
{
	unsigned kept = 0;
	for (unsigned i = 0; i < n; i++)
		if (done[i].state != MPIT_DONE_PENDING)
			done[kept++] = done[i];
	if (kept % 2)
		mpit_request_named(&done[kept], 0);
	mpit_fit(t, s, fixed + (kept + 1) / 2);
}

/* Wait, Waitall, Test, Testall, Request_get_status(_all): all or none. */
static inline void mpit_completed_all(struct mpit_thread *t, struct mpit_slot *s, unsigned fixed, struct mpit_done *done, unsigned n,
				      int flag, const char *status, int rc, unsigned state, int array)
{
	if (!flag) {
		s->flags |= MPIT_F_FALSE;
		mpit_fit(t, s, fixed);
		return;
	}
	int readable = mpit_readable(status, array ? mpit_abi.statuses_ignore : mpit_abi.status_ignore);
	int each = array && rc == mpit_abi.err_in_status && readable;
	/* In an array that failed as a whole nothing is known to be complete. */
	if (MPIT_UNLIKELY(rc != 0 && array && !each && state == MPIT_DONE_COMPLETE)) {
		mpit_keep_done(t, s, fixed, done, n);
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		done[i].state = state;
		if (!readable)
			continue;
		const char *st = status + (size_t)i * mpit_abi.status_size;
		mpit_done_status(&done[i], st);
		if (MPIT_UNLIKELY(each)) {
			done[i].error = mpit_status_int(st, mpit_abi.status_error);
			if (done[i].error == mpit_abi.err_pending)
				done[i].state = MPIT_DONE_PENDING;
		} else if (!array) {
			done[i].error = rc;
		}
	}
	if (MPIT_UNLIKELY(each))
		mpit_keep_done(t, s, fixed, done, n);
}

static inline void mpit_completed_any(struct mpit_thread *t, struct mpit_slot *s, unsigned fixed, struct mpit_done *done, unsigned n,
				      int flag, int index, const char *status, int rc, unsigned state)
{
	if (!flag)
		s->flags |= MPIT_F_FALSE;
	else if (index >= 0 && (unsigned)index < n) {
		done[index].state = state;
		done[index].error = rc;
		if (mpit_readable(status, mpit_abi.status_ignore))
			mpit_done_status(&done[index], status);
	}
	mpit_keep_done(t, s, fixed, done, n);
}

static inline void mpit_completed_some(struct mpit_thread *t, struct mpit_slot *s, unsigned fixed, struct mpit_done *done, unsigned n,
				       int outcount, const int *indices, const char *status, int rc, unsigned state)
{
	int readable = mpit_readable(status, mpit_abi.statuses_ignore);
	if (outcount == 0)
		s->flags |= MPIT_F_FALSE;
	/* MPI_UNDEFINED, no active request, is negative. */
	for (int k = 0; k < outcount && (rc == 0 || rc == mpit_abi.err_in_status); k++) {
		if (indices[k] < 0 || (unsigned)indices[k] >= n)
			continue;
		struct mpit_done *d = &done[indices[k]];
		d->state = state;
		if (!readable)
			continue;
		const char *st = status + (size_t)k * mpit_abi.status_size;
		mpit_done_status(d, st);
		if (rc != 0)
			d->error = mpit_status_int(st, mpit_abi.status_error);
	}
	mpit_keep_done(t, s, fixed, done, n);
}

/* What a call itself received: Recv, Mrecv, Probe, Iprobe, … */
MPIT_INLINE void mpit_received(struct mpit_slot *s, const void *status, int rc, int flag)
{
	if (!flag) {
		if (rc == 0)
			s->flags |= MPIT_F_FALSE;
		return;
	}
	if (rc != 0 || !mpit_readable(status, mpit_abi.status_ignore))
		return;
	s->aux = (uint64_t)mpit_status_bytes(status);
	s->flags |= MPIT_F_BYTES;
	/* A receive from nobody: some libraries leave old values in the status. */
	if (s->peer == mpit_abi.proc_null)
		return;
	s->peer = mpit_status_int(status, mpit_abi.status_source);
	s->tag = mpit_status_int(status, mpit_abi.status_tag);
}

static inline void mpit_received_side(struct mpit_slot *s, const void *status, int rc)
{
	struct mpit_side *side = (struct mpit_side *)(s + 1);
	if (rc != 0 || !mpit_readable(status, mpit_abi.status_ignore))
		return;
	side->bytes = mpit_status_bytes(status);
	if (side->peer == mpit_abi.proc_null)
		return;
	side->peer = mpit_status_int(status, mpit_abi.status_source);
	side->tag = mpit_status_int(status, mpit_abi.status_tag);
}

/* Bytes that a file operation moved. */
static inline void mpit_transferred(struct mpit_slot *s, const void *status, int rc)
{
	if (rc != 0 || !mpit_readable(status, mpit_abi.status_ignore))
		return;
	s->aux = (uint64_t)mpit_status_bytes(status);
	s->flags |= MPIT_F_BYTES;
}

#endif
