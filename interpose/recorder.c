/* SPDX-License-Identifier: Apache-2.0
 *
 * The life of a recording: from MPI_Init to MPI_Finalize, and what can end it
 * earlier.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "core.h"

uint8_t mpit_on[MPIT_NUM_FUNCTIONS];
struct mpit_config mpit_config;
struct mpit_process mpit_process = { .rank = -1 };
_Atomic int mpit_active;
_Atomic int mpit_enabled;
int mpit_clock_slow;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum { NEVER, STARTED, OPEN, OVER } state;
static pid_t owner;
static int complained;
static int early = -1; /* what MPI_Pcontrol asked for before MPI_Init */
int mpit_finalized;

int64_t mpit_ticks(void)
{
	return (int64_t)mpit_now();
}

/* One line on stderr, in one write, so that ranks' lines do not mix. */
void mpit_say(const char *format, ...)
{
	char line[1024] = "mpitrace: ";
	va_list ap;
	va_start(ap, format);
	int n = vsnprintf(line + 10, sizeof line - 12, format, ap);
	va_end(ap);
	size_t length = 10 + (n < 0 ? 0 : (size_t)n);
	if (length > sizeof line - 2)
		length = sizeof line - 2;
	line[length++] = '\n';
	if (write(STDERR_FILENO, line, length) < 0)
		return; /* nobody to tell */
}

/* Ends recording for good. */
void mpit_stop(void)
{
	atomic_store(&mpit_active, 0);
	memset(mpit_on, 0, sizeof mpit_on);
}

/* Ends recording for good; says why, once. The program goes on. */
void mpit_disable(const char *why)
{
	mpit_stop();
	if (complained)
		return;
	complained = 1;
	if (mpit_process.rank >= 0)
		mpit_say("rank %d: recording stopped: %s", mpit_process.rank, why);
	else
		mpit_say("pid %d: not recording: %s", (int)getpid(), why);
}

/* MPI_Pcontrol's state. Off still follows requests, through hidden records. */
void mpit_set_enabled(int on)
{
	pthread_mutex_lock(&lock);
	atomic_store(&mpit_enabled, on);
	if (atomic_load(&mpit_active)) {
		for (unsigned i = 0; i < MPIT_NUM_FUNCTIONS; i++) {
			uint8_t v = on ? mpit_config.filter[i] : MPIT_OFF;
			if (v == MPIT_OFF && mpit_tracks[i])
				v = MPIT_TRACK;
			__atomic_store_n(&mpit_on[i], v, __ATOMIC_RELAXED);
		}
	}
	pthread_mutex_unlock(&lock);
}

/* MPI_Pcontrol before MPI_Init. */
void mpit_start_enabled(int on)
{
	if (state == NEVER)
		early = on;
}

/* A forked child is not the rank: it records nothing, and the parent's rings
 * and file are not its to touch. */
static void in_child(void)
{
	atomic_store(&mpit_active, 0);
	memset(mpit_on, 0, sizeof mpit_on);
	mpit_rings_forget();
	state = OVER;
}

static int steady_counter(void)
{
#if defined(__x86_64__)
	char line[256];
	FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
	if (!f)
		return 1;
	int steady = fgets(line, sizeof line, f) && strncmp(line, "tsc", 3) == 0;
	fclose(f);
	return steady;
#elif defined(__aarch64__)
	return 1;
#else
	return 0;
#endif
}

/* Before PMPI_Init: Go, configuration, rings. 0: not recording. */
int mpit_start(void)
{
	pthread_mutex_lock(&lock);
	int first = state == NEVER;
	if (first)
		state = OVER;
	pthread_mutex_unlock(&lock);
	if (!first)
		return 0;
	owner = getpid();
	struct timespec ts;
	clock_gettime(CLOCK_REALTIME, &ts);
	mpit_process.start = (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
	mpit_clock_slow = !steady_counter();
	if (!mpit_go_start())
		return 0;
	if (!mpit_rings_start()) {
		mpit_disable("no memory for the rings");
		return 0;
	}
	if (!mpit_drain_start()) {
		mpit_disable("no thread for the drain");
		mpit_rings_remove();
		return 0;
	}
	pthread_atfork(NULL, NULL, in_child);
	state = STARTED;
	atomic_store_explicit(&mpit_active, 1, memory_order_release);
	mpit_set_enabled(early >= 0 ? early : mpit_config.enabled);
	return 1;
}

static uint64_t hash_text(uint64_t h, const char *s)
{
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3ull;
	return h;
}

/* What all ranks of a job, and no other job, find in their environment; so no
 * message is needed, and a job in which only some ranks are recorded works.
 * Hydra has nothing of the kind: there rank 0's draw is broadcast. */
static int job_identity(uint64_t run[2])
{
	static const char *const names[] = { "MPITRACE_RUN_ID", "PMIX_NAMESPACE", "OMPI_MCA_orte_hnp_uri", "OMPI_MCA_ess_base_jobid",
					     "SLURM_JOB_ID", "SLURM_STEP_ID", "PBS_JOBID", "LSB_JOBID" };
	int unique = 0;
	run[0] = 0xcbf29ce484222325ull;
	run[1] = 0x84222325cbf29ce4ull;
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
		const char *v = getenv(names[i]);
		if (!v)
			continue;
		if (i < 4 || i == 5)
			unique = 1;
		run[0] = hash_text(hash_text(run[0], names[i]), v);
		run[1] = hash_text(hash_text(run[1], v), names[i]);
	}
	return unique;
}

static void draw(uint64_t run[2])
{
	if (getrandom(run, 2 * sizeof *run, 0) == 2 * sizeof *run)
		return;
	run[0] = (uint64_t)mpit_process.start;
	run[1] = (uint64_t)owner;
}

static void find_run(void)
{
	if (mpit_process.size > 1 && job_identity(mpit_process.run))
		return;
	draw(mpit_process.run);
	if (mpit_process.size > 1)
		MPIT_CALL(Bcast, (void *, int, mpit_h, int, mpit_h))(mpit_process.run, sizeof mpit_process.run,
								   (mpit_h)mpit_abi.type_byte, 0, (mpit_h)mpit_abi.comm_world);
}

/* After PMPI_Init: who we are, and the file. */
void mpit_started(void)
{
	if (state != STARTED)
		return;
	if (mpit_abi.kind != MPIT_ABI_OPAQUE) {
		MPIT_CALL(Comm_rank, (mpit_h, int *))((mpit_h)mpit_abi.comm_world, &mpit_process.rank);
		MPIT_CALL(Comm_size, (mpit_h, int *))((mpit_h)mpit_abi.comm_world, &mpit_process.size);
		find_run();
	} else {
		const char *rank = getenv("PMIX_RANK") ? getenv("PMIX_RANK") : getenv("PMI_RANK");
		mpit_process.rank = rank ? atoi(rank) : 0;
		if (!job_identity(mpit_process.run))
			draw(mpit_process.run);
	}
	MPIT_CALL(Query_thread, (int *))(&mpit_process.thread_level);
	MPIT_CALL(Get_version, (int *, int *))(&mpit_process.mpi_version, &mpit_process.mpi_subversion);
	mpit_rings_set_rank(mpit_process.rank);
	mpit_objects_start();
	if (!mpit_drain_open()) {
		mpit_stop();
		mpit_rings_remove();
		state = OVER;
		return;
	}
	state = OPEN;
}

/* Writes what is left and closes the file. */
void mpit_finish(int finalized)
{
	pthread_mutex_lock(&lock);
	int open = state == OPEN || state == STARTED;
	int recording = state == OPEN;
	state = OVER;
	pthread_mutex_unlock(&lock);
	if (!open || getpid() != owner)
		return;
	mpit_finalized = finalized;
	if (atomic_load(&mpit_active) && recording && !mpit_drain_wait(MPIT_DRAIN_FINAL, 120))
		complained = 1;
	mpit_stop();
	mpit_rings_remove();
}

/* A program that never calls MPI_Finalize leaves through exit. */
__attribute__((destructor)) static void at_exit(void)
{
	mpit_finish(0);
}

/* The cold entry of every wrapper, when the thread is not idle. 1: just call
 * the real function. */
int mpit_enter(void)
{
	if (mpit_self->state == MPIT_INSIDE)
		return 1;
	mpit_bind();
	if (!atomic_load_explicit(&mpit_active, memory_order_acquire))
		return 1;
	return mpit_thread_make() == NULL;
}
