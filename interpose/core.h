/* SPDX-License-Identifier: Apache-2.0
 *
 * The recorder off the hot path: what its C files know of each other.
 */
#ifndef MPITRACE_CORE_H
#define MPITRACE_CORE_H

#include "mpit.h"

/* Call one of the library's own functions by id, as the recorder itself does. */
#define MPIT_CALL(name, params) ((int (*) params)mpit_real[MPIT_ID_##name])
#define MPIT_HAVE(name) (mpit_real[MPIT_ID_##name] != (void *)mpit_absent)

/* bind.c: finding the real functions. */
MPIT_HIDDEN int mpit_bind(void);
MPIT_HIDDEN int mpit_absent(void);
MPIT_HIDDEN const char *mpit_library_path(void);
MPIT_HIDDEN void *mpit_library_symbol(const char *name);

/* abi.c: telling MPI libraries apart. */
MPIT_HIDDEN void mpit_abi_detect(void);
MPIT_HIDDEN const char *mpit_abi_name(void);
MPIT_HIDDEN const char *mpit_library_version(void);
MPIT_HIDDEN unsigned mpit_op_predefined(uint64_t handle, const char **name);

/* objects.c: communicators, datatypes, operations, windows, files. */
MPIT_HIDDEN void mpit_objects_start(void);
MPIT_HIDDEN void mpit_objects_stop(void);

/* rings.c: rings and the threads that own them. */
MPIT_HIDDEN int mpit_rings_start(void);
MPIT_HIDDEN struct mpit_thread *mpit_thread_make(void);
MPIT_HIDDEN void mpit_define(enum mpit_definition kind, const void *head, size_t head_size, const void *const *parts,
			     const size_t *sizes, unsigned nparts);
MPIT_HIDDEN uint64_t mpit_lost_thread_count(void); /* calls of threads that could get no ring */
MPIT_HIDDEN void mpit_rings_set_rank(int rank);
MPIT_HIDDEN void mpit_rings_remove(void);
MPIT_HIDDEN void mpit_rings_forget(void);

/* The rings as the drain sees them: 0 is the definitions' ring. */
MPIT_HIDDEN unsigned mpit_ring_count(void);
MPIT_HIDDEN struct mpit_thread *mpit_ring_at(unsigned i);

/* drain.c: the thread that empties rings, the only one that runs Go. */
enum mpit_drain_kind { MPIT_DRAIN_BACKGROUND, MPIT_DRAIN_INLINE, MPIT_DRAIN_FLUSH, MPIT_DRAIN_FINAL };
MPIT_HIDDEN int mpit_drain_start(void);
MPIT_HIDDEN void mpit_drain_wake(void);
MPIT_HIDDEN int mpit_drain_wait(enum mpit_drain_kind kind, unsigned seconds);
MPIT_HIDDEN int mpit_drain_open(void);

/* golang.c: starting the Go runtime when it is wanted, not at load. */
MPIT_HIDDEN int mpit_go_start(void);

/* recorder.c: the state of recording. */
struct mpit_config {
	uint64_t ring_bytes;
	int32_t ring_mode;
	int32_t quiet;
	int32_t enabled;        /* recording is on once MPI_Init has returned */
	int32_t pcontrol_ipm;
	char ring_dir[512];
	uint8_t filter[MPIT_NUM_FUNCTIONS]; /* MPIT_RECORD or MPIT_OFF */
};

struct mpit_process {
	int32_t rank, size;
	uint64_t run[2];
	int64_t start; /* ns since 1970 */
	int32_t thread_level;
	int32_t mpi_version, mpi_subversion;
};

extern MPIT_HIDDEN struct mpit_config mpit_config;
extern MPIT_HIDDEN struct mpit_process mpit_process;
extern MPIT_HIDDEN _Atomic int mpit_active;   /* rings may be made and written */
extern MPIT_HIDDEN _Atomic int mpit_enabled;  /* MPI_Pcontrol's state */
extern MPIT_HIDDEN int mpit_argc;
extern MPIT_HIDDEN char **mpit_argv, **mpit_envp;

MPIT_HIDDEN void mpit_set_enabled(int on);
MPIT_HIDDEN void mpit_start_enabled(int on);
extern MPIT_HIDDEN int mpit_finalized;
MPIT_HIDDEN void mpit_stop(void);
MPIT_HIDDEN void mpit_disable(const char *why);
MPIT_HIDDEN int mpit_start(void);
MPIT_HIDDEN void mpit_started(void);
MPIT_HIDDEN void mpit_finish(int finalized);
MPIT_HIDDEN int64_t mpit_ticks(void);
MPIT_HIDDEN void mpit_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
