/* SPDX-License-Identifier: Apache-2.0
 *
 * Rings and the threads that own them. A thread gets a ring at its first MPI
 * call; when it ends, the drain empties the ring and the next new thread gets
 * it. The definitions have a ring of their own, written under a lock.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core.h"

#define MAX_RINGS 4096
#define DEFINITION_SLOTS 8192 /* 512 KiB, touched only as far as it is used */

static struct mpit_thread fresh; /* stands for every thread that has no ring yet */
__thread struct mpit_thread *mpit_self = &fresh;
_Atomic uint32_t mpit_generation = 1;

static _Atomic uint64_t lost_threads;

static pthread_mutex_t rings_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t define_lock = PTHREAD_MUTEX_INITIALIZER;
static struct mpit_thread *_Atomic rings[MAX_RINGS];
static _Atomic unsigned ring_count;
static uint32_t next_thread;
static pthread_key_t thread_end;
static int have_key;
static uint64_t process_start;
static char boot[40];

uint64_t mpit_lost_thread_count(void)
{
	return atomic_load(&lost_threads);
}

unsigned mpit_ring_count(void)
{
	return atomic_load_explicit(&ring_count, memory_order_acquire);
}

struct mpit_thread *mpit_ring_at(unsigned i)
{
	return atomic_load_explicit(&rings[i], memory_order_acquire);
}

static void read_identity(void)
{
	char line[1024];
	FILE *f = fopen("/proc/self/stat", "re");
	if (f) {
		size_t n = fread(line, 1, sizeof line - 1, f);
		line[n] = 0;
		char *p = strrchr(line, ')');
		/* Field 22; the one after ')' is field 3. */
		for (int field = 3; p && field <= 22; field++)
			if ((p = strchr(p, ' ')))
				p++;
		if (p)
			process_start = strtoull(p, NULL, 10);
		fclose(f);
	}
	f = fopen("/proc/sys/kernel/random/boot_id", "re");
	if (f) {
		if (!fgets(boot, sizeof boot, f))
			boot[0] = 0;
		boot[strcspn(boot, "\n")] = 0;
		fclose(f);
	}
}

/* Maps the ring's data twice in a row, so that a record is never split. */
static void *map_file(int fd, size_t data)
{
	size_t size = MPIT_RING_DATA + 2 * data;
	char *base = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		return NULL;
	if (mmap(base, MPIT_RING_DATA + data, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED ||
	    mmap(base + MPIT_RING_DATA + data, data, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, MPIT_RING_DATA) ==
		    MAP_FAILED) {
		munmap(base, size);
		return NULL;
	}
	return base;
}

/* The same of plain memory: nothing is left of it after a crash. */
static void *map_memory(size_t data)
{
	size_t size = MPIT_RING_DATA + 2 * data;
	char *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		return NULL;
	/* A length of 0 maps the same pages of a shared mapping once more. */
	if (mremap(base + MPIT_RING_DATA, 0, data, MREMAP_MAYMOVE | MREMAP_FIXED, base + MPIT_RING_DATA + data) == MAP_FAILED) {
		munmap(base, size);
		return NULL;
	}
	return base;
}

/* Takes the ring's space in the file system now: running out of it must be an
 * error here, not a bus error at a store. A limit on file sizes
 * (RLIMIT_FSIZE) sends a signal, which is ours to swallow. */
static int reserve(int fd, size_t size)
{
	sigset_t limit, old, pending;
	sigemptyset(&limit);
	sigaddset(&limit, SIGXFSZ);
	sigpending(&pending);
	int was_pending = sigismember(&pending, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &limit, &old);
	int rc = posix_fallocate(fd, 0, (off_t)size);
	if (rc == EFBIG && !was_pending)
		sigtimedwait(&limit, NULL, &(struct timespec){ 0 });
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc == 0;
}

/* A ring in a file of the ring directory, so that it outlives the process. */
static void *make_file(struct mpit_thread *t, uint32_t index, size_t data)
{
	const int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
	if (snprintf(t->ring_path, sizeof t->ring_path, "%s/mpitrace.%d.%llu.%d", mpit_config.ring_dir, (int)getpid(),
		     (unsigned long long)process_start, index == MPIT_DEFINITIONS_THREAD ? -1 : (int)index) >=
	    (int)sizeof t->ring_path)
		t->ring_path[0] = 0;
	int fd = open(t->ring_path, flags, 0600);
	if (fd < 0 && errno == EEXIST && unlink(t->ring_path) == 0)
		fd = open(t->ring_path, flags, 0600);
	if (fd < 0) {
		t->ring_path[0] = 0;
		return NULL;
	}
	void *base = reserve(fd, MPIT_RING_DATA + data) ? map_file(fd, data) : NULL;
	close(fd);
	if (!base) {
		unlink(t->ring_path);
		t->ring_path[0] = 0;
	}
	return base;
}

static struct mpit_thread *make_ring(uint32_t index, uint64_t slots)
{
	struct mpit_thread *t = calloc(1, sizeof *t);
	if (!t)
		return NULL;
	size_t data = slots * sizeof(struct mpit_slot);
	void *base = make_file(t, index, data);
	if (!base)
		base = map_memory(data);
	if (!base) {
		free(t);
		return NULL;
	}
	struct mpit_ring_head *r = base;
	r->version = MPIT_RING_VERSION;
	r->slot_size = sizeof(struct mpit_slot);
	r->capacity = slots;
	r->pid = (uint32_t)getpid();
	r->process_start = process_start;
	memcpy(r->boot, boot, sizeof r->boot);
	r->abi = mpit_abi.kind;
	r->mode = (uint32_t)mpit_config.ring_mode;
	r->rank = -1;
	t->ring = r;
	t->slots = (struct mpit_slot *)((char *)base + MPIT_RING_DATA);
	t->mask = slots - 1;
	/* Touch the pages now, not one by one in the program's MPI calls; the
	 * definitions, which are few, only as they come. */
	if (index != MPIT_DEFINITIONS_THREAD)
		madvise(base, MPIT_RING_DATA + data, MADV_POPULATE_WRITE);
	return t;
}

static void name_ring(struct mpit_thread *t, uint32_t index)
{
	t->index = index;
	t->ring->thread = index;
	t->ring->tid = (uint32_t)syscall(SYS_gettid);
	t->ring->rank = mpit_process.rank;
	prctl(PR_GET_NAME, t->ring->thread_name);
	t->ring->magic = MPIT_RING_MAGIC;
	atomic_store_explicit(&t->ended, 0, memory_order_release);
}

static void at_thread_end(void *arg)
{
	struct mpit_thread *t = arg;
	mpit_self = &fresh;
	atomic_store_explicit(&t->ended, 1, memory_order_release);
}

static uint64_t power_of_two(uint64_t n)
{
	uint64_t p = 1024;
	while (2 * p <= n)
		p *= 2;
	return p;
}

int mpit_rings_start(void)
{
	read_identity();
	have_key = pthread_key_create(&thread_end, at_thread_end) == 0;
	struct mpit_thread *t = make_ring(MPIT_DEFINITIONS_THREAD, DEFINITION_SLOTS);
	if (!t)
		return 0;
	name_ring(t, MPIT_DEFINITIONS_THREAD);
	atomic_store(&rings[0], t);
	atomic_store(&ring_count, 1);
	return 1;
}

/* A ring whose thread is gone and that the drain has emptied. */
static struct mpit_thread *take_over(void)
{
	for (unsigned i = 1; i < mpit_ring_count(); i++) {
		struct mpit_thread *t = mpit_ring_at(i);
		if (atomic_load_explicit(&t->ended, memory_order_acquire) &&
		    atomic_load_explicit(&t->ring->tail, memory_order_acquire) ==
			    atomic_load_explicit(&t->ring->head, memory_order_relaxed))
			return t;
	}
	return NULL;
}

/* The calling thread's own state, with a ring; NULL if there can be none. */
struct mpit_thread *mpit_thread_make(void)
{
	if (mpit_self != &fresh)
		return mpit_self;
	pthread_mutex_lock(&rings_lock);
	struct mpit_thread *t = mpit_config.ring_mode ? NULL : take_over();
	unsigned n = mpit_ring_count();
	if (t) {
		name_ring(t, next_thread++);
	} else if (n < MAX_RINGS &&
		   (t = make_ring(next_thread, power_of_two(mpit_config.ring_bytes / sizeof(struct mpit_slot))))) {
		name_ring(t, next_thread++);
		atomic_store_explicit(&rings[n], t, memory_order_release);
		atomic_store_explicit(&ring_count, n + 1, memory_order_release);
	}
	pthread_mutex_unlock(&rings_lock);
	if (!t) {
		atomic_fetch_add_explicit(&lost_threads, 1, memory_order_relaxed);
		return NULL;
	}
	t->state = MPIT_IDLE;
	t->limit = t->head; /* the first record goes the slow path, which sets it */
	memset(t->objects, 0, sizeof t->objects);
	memset(t->types, 0, sizeof t->types);
	mpit_self = t;
	if (have_key)
		pthread_setspecific(thread_end, t);
	return t;
}

/* Ring mode: at the border of a segment, remember where a record begins, so
 * that what is left of an overwritten ring can be read from there. */
static void enter_segment(struct mpit_thread *t)
{
	uint64_t size = (t->mask + 1) / MPIT_SEGMENTS;
	uint64_t segment = (t->head + size - 1) / size;
	struct mpit_ring_head *r = t->ring;
	r->segment_calls[segment % MPIT_SEGMENTS] = t->calls;
	atomic_store_explicit(&r->segment[segment % MPIT_SEGMENTS], t->head, memory_order_release);
	t->limit = (segment + 1) * size;
}

/* Makes room for a record, or says that there is none (0). Also the place where
 * the writer looks up from time to time: every sixteenth of the ring. */
int mpit_slow(struct mpit_thread *t, unsigned slots)
{
	struct mpit_ring_head *r = t->ring;
	uint64_t capacity = t->mask + 1;
	if (!atomic_load_explicit(&mpit_active, memory_order_acquire))
		return 0;
	r->calls = t->calls;
	if (slots > capacity / 4) {
		r->lost_calls++;
		return 0;
	}
	if (mpit_config.ring_mode) {
		enter_segment(t);
		if (t->head + slots > t->limit)
			t->limit = t->head + slots;
		return 1;
	}
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_acquire);
	if (t->head + slots - tail > capacity - capacity / 16) {
		if (!mpit_drain_wait(MPIT_DRAIN_INLINE, 60)) {
			r->lost_calls++;
			return 0;
		}
		tail = atomic_load_explicit(&r->tail, memory_order_acquire);
		if (t->head + slots - tail > capacity) {
			r->lost_calls++;
			return 0;
		}
	} else if (t->head - tail >= capacity / 2) {
		mpit_drain_wake();
	}
	uint64_t end = tail + capacity, next = t->head + slots + capacity / 16;
	t->limit = next < end ? next : end;
	return 1;
}

void *mpit_scratch_slow(struct mpit_thread *t, size_t size)
{
	uint64_t *p = realloc(t->scratch, size);
	if (!p)
		return NULL;
	t->scratch = p;
	t->scratch_size = size;
	return p;
}

/* Writes a definition: head and parts one after the other. */
void mpit_define(enum mpit_definition kind, const void *head, size_t head_size, const void *const *parts, const size_t *sizes,
		 unsigned nparts)
{
	size_t bytes = head_size;
	for (unsigned i = 0; i < nparts; i++)
		bytes += sizes[i];
	size_t slots = 1 + (bytes + sizeof(struct mpit_slot) - 1) / sizeof(struct mpit_slot);
	struct mpit_thread *t = mpit_ring_at(0);
	pthread_mutex_lock(&define_lock);
	uint64_t capacity = t->mask + 1;
	for (int tries = 0; tries < 2; tries++) {
		uint64_t used = t->head - atomic_load_explicit(&t->ring->tail, memory_order_acquire);
		if (slots + used <= capacity)
			break;
		if (slots > capacity || tries > 0 || !mpit_drain_wait(MPIT_DRAIN_INLINE, 60)) {
			t->ring->lost_calls++;
			pthread_mutex_unlock(&define_lock);
			return;
		}
	}
	struct mpit_slot *s = &t->slots[t->head & t->mask];
	memset(s, 0, sizeof *s);
	s->where = (uint64_t)MPIT_DEFINITION << 48;
	s->aux = kind;
	s->count = (int64_t)bytes;
	s->ncont = (uint16_t)(slots - 1);
	char *p = (char *)(s + 1);
	memcpy(p, head, head_size);
	p += head_size;
	for (unsigned i = 0; i < nparts; i++) {
		memcpy(p, parts[i], sizes[i]);
		p += sizes[i];
	}
	s->begin = mpit_now();
	atomic_store_explicit(&s->end, s->begin, memory_order_relaxed);
	t->head += slots;
	atomic_store_explicit(&t->ring->head, t->head, memory_order_release);
	pthread_mutex_unlock(&define_lock);
}

void mpit_rings_set_rank(int rank)
{
	pthread_mutex_lock(&rings_lock);
	for (unsigned i = 0; i < mpit_ring_count(); i++)
		mpit_ring_at(i)->ring->rank = rank;
	pthread_mutex_unlock(&rings_lock);
}

/* Removes the rings' files; the mappings stay, a late call may still write. */
void mpit_rings_remove(void)
{
	for (unsigned i = 0; i < mpit_ring_count(); i++) {
		struct mpit_thread *t = mpit_ring_at(i);
		if (t->ring_path[0])
			unlink(t->ring_path);
	}
}

/* In a forked child: the rings are the parent's. */
void mpit_rings_forget(void)
{
	mpit_self = &fresh;
	atomic_store(&ring_count, 0);
}
