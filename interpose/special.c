/* SPDX-License-Identifier: Apache-2.0
 *
 * The wrappers that are not generated: those that begin, end and control
 * recording, and two functions that some libraries have only as macros.
 */
#include <stdarg.h>

#include "core.h"
#include "wrap.h"

#if MPIT_WANTED

/* Starts a record in a thread that the caller has marked inside. */
static inline struct mpit_slot *begin(struct mpit_thread *t, unsigned id, unsigned slots, const void *site)
{
	struct mpit_slot *s = mpit_begin(t, id, slots, site);
	if (s) {
		mpit_fill(s, 0, 0, 0, 0, MPIT_NO_COUNT);
		for (unsigned i = 1; i < slots; i++)
			memset((void *)(s + i), 0, sizeof *s);
	}
	return s;
}

/* What precedes PMPI_Init and PMPI_Init_thread: the thread that records the
 * call, NULL if recording does not begin. */
static inline struct mpit_thread *before_init(void)
{
	if (mpit_self->state == MPIT_INSIDE || !mpit_bind() || !mpit_start())
		return NULL;
	struct mpit_thread *t = mpit_thread_make();
	if (t)
		t->state = MPIT_INSIDE;
	return t;
}

/* What follows them. */
static inline void after_init(struct mpit_thread *t, struct mpit_slot *s, int rc)
{
	uint64_t end = mpit_now();
	mpit_started();
	if (s)
		mpit_end(s, end, rc);
	t->state = MPIT_IDLE;
}

MPIT_WRAP(Init, int, (void *argc, void *argv))
{
	struct mpit_thread *t = before_init();
	if (!t)
		return MPIT_REAL(Init, int, (void *, void *))(argc, argv);
	struct mpit_slot *s = begin(t, MPIT_ID_Init, 1, __builtin_return_address(0));
	if (s)
		mpit_publish(t, s, 1);
	int rc = MPIT_REAL(Init, int, (void *, void *))(argc, argv);
	after_init(t, s, rc);
	return rc;
}

MPIT_WRAP(Init_thread, int, (void *argc, void *argv, int required, void *provided))
{
	struct mpit_thread *t = before_init();
	if (!t)
		return MPIT_REAL(Init_thread, int, (void *, void *, int, void *))(argc, argv, required, provided);
	struct mpit_slot *s = begin(t, MPIT_ID_Init_thread, 2, __builtin_return_address(0));
	if (s) {
		((int64_t *)(s + 1))[0] = required;
		mpit_publish(t, s, 2);
	}
	int rc = MPIT_REAL(Init_thread, int, (void *, void *, int, void *))(argc, argv, required, provided);
	after_init(t, s, rc);
	return rc;
}

MPIT_WRAP(Finalize, int, (void))
{
	struct mpit_thread *t = mpit_self;
	if (t->state != MPIT_IDLE) {
		if (mpit_enter())
			return MPIT_REAL(Finalize, int, (void))();
		t = mpit_self;
	}
	t->state = MPIT_INSIDE;
	mpit_objects_stop();
	struct mpit_slot *s = begin(t, MPIT_ID_Finalize, 1, __builtin_return_address(0));
	if (s)
		mpit_publish(t, s, 1);
	int rc = MPIT_REAL(Finalize, int, (void))();
	if (s)
		mpit_end(s, mpit_now(), rc);
	mpit_finish(1);
	t->state = MPIT_IDLE;
	return rc;
}

/* The process will not come back: its last record stays without an end, and
 * everything is written before. */
MPIT_WRAP(Abort, int, (mpit_h comm, int errorcode))
{
	struct mpit_thread *t = mpit_self;
	if (t->state != MPIT_IDLE) {
		if (mpit_enter())
			return MPIT_REAL(Abort, int, (mpit_h, int))(comm, errorcode);
		t = mpit_self;
	}
	t->state = MPIT_INSIDE;
	uint32_t object = mpit_comm_id(t, comm);
	struct mpit_slot *s = begin(t, MPIT_ID_Abort, 2, __builtin_return_address(0));
	if (s) {
		s->object = object;
		((int64_t *)(s + 1))[0] = errorcode;
		mpit_publish(t, s, 2);
	}
	mpit_finish(0);
	int rc = MPIT_REAL(Abort, int, (mpit_h, int))(comm, errorcode);
	t->state = MPIT_IDLE;
	return rc;
}

/* Levels of the MPI tools working group's draft: a name follows. */
#define REGION_BEGIN 9093
#define REGION_END 9094

/* Never reads an argument behind a level that is not known to have one: old
 * programs call MPI_Pcontrol(3) with nothing behind it. */
MPIT_EXPORT int MPI_Pcontrol(const int level, ...);
#ifdef MPIT_STATIC
extern int PMPI_Pcontrol(const int level, ...);
#else
MPIT_EXPORT int PMPI_Pcontrol(const int level, ...) __attribute__((alias("MPI_Pcontrol")));
#endif
int MPI_Pcontrol(const int level, ...)
{
	const char *name = NULL;
	struct mpit_thread *t = mpit_self;
	if (t->state == MPIT_INSIDE)
		return 0;
	/* Before MPI_Init and after MPI_Finalize there is nothing to control but
	 * the state that recording will begin with. */
	if (t->state != MPIT_IDLE && mpit_enter()) {
		if (level == 0 || level == 1)
			mpit_start_enabled(level);
		return 0;
	}
	/* Libraries abort the program for a call after MPI_Finalize. */
	if (!atomic_load_explicit(&mpit_active, memory_order_acquire))
		return 0;
	t = mpit_self;
	t->state = MPIT_INSIDE;
	if (level == REGION_BEGIN || level == REGION_END ||
	    (mpit_config.pcontrol_ipm && (level == 1 || level == -1))) {
		va_list ap;
		va_start(ap, level);
		name = va_arg(ap, const char *);
		va_end(ap);
	}
	int control = !name && level >= 0 && level <= 2;
	if (control && level == 1)
		mpit_set_enabled(1);
	uint32_t text = name ? mpit_text(name) : 0;
	struct mpit_slot *s = begin(t, MPIT_ID_Pcontrol, 2, __builtin_return_address(0));
	if (s) {
		int64_t recorded = !name ? level : level == 1 ? REGION_BEGIN : level == -1 ? REGION_END : level;
		((int64_t *)(s + 1))[0] = recorded;
		((int64_t *)(s + 1))[1] = text;
		mpit_publish(t, s, 2);
		mpit_end(s, mpit_now(), 0);
	}
	if (control && level == 0)
		mpit_set_enabled(0);
	if (control && level == 2)
		mpit_drain_wait(MPIT_DRAIN_FLUSH, 120);
	/* The library does nothing with it; another tool below us might. */
	MPIT_REAL(Pcontrol, int, (int, ...))(level, name);
	t->state = MPIT_IDLE;
	return 0;
}

/* Macros in some libraries' mpi.h, without a symbol behind them. */
MPIT_EXPORT int64_t MPI_Aint_add(int64_t base, int64_t disp);
#ifndef MPIT_STATIC
MPIT_EXPORT int64_t PMPI_Aint_add(int64_t base, int64_t disp) __attribute__((alias("MPI_Aint_add")));
#endif
int64_t MPI_Aint_add(int64_t base, int64_t disp)
{
	return (int64_t)((uint64_t)base + (uint64_t)disp);
}

MPIT_EXPORT int64_t MPI_Aint_diff(int64_t addr1, int64_t addr2);
#ifndef MPIT_STATIC
MPIT_EXPORT int64_t PMPI_Aint_diff(int64_t addr1, int64_t addr2) __attribute__((alias("MPI_Aint_diff")));
#endif
int64_t MPI_Aint_diff(int64_t addr1, int64_t addr2)
{
	return (int64_t)((uint64_t)addr1 - (uint64_t)addr2);
}

#endif
