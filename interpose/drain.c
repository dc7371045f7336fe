/* SPDX-License-Identifier: Apache-2.0
 *
 * The drain: one thread that empties the rings into the trace file, and the
 * only one in the process that runs our Go code. It sleeps on a condition
 * variable; a thread of the program that waits for it does so on another.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "core.h"

/* Exported by drain.go. */
extern int mpit_go_open(void);
extern int mpit_go_drain(int kind);

enum task { OPEN = 1, DRAIN = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work, done;
static int running, tasks, result, stopped;
static enum mpit_drain_kind kind; /* the strongest that somebody asked for */
static uint64_t asked, answered;  /* waiters' tickets */
static _Atomic int woken;

static void until(struct timespec *ts, unsigned seconds)
{
	clock_gettime(CLOCK_MONOTONIC, ts);
	ts->tv_sec += seconds;
}

static void *drain_thread(void *arg)
{
	(void)arg;
	pthread_setname_np(pthread_self(), "mpitrace-drain");
	pthread_mutex_lock(&lock);
	while (!stopped) {
		struct timespec ts;
		until(&ts, 1);
		int rc = 0;
		while (!tasks && rc != ETIMEDOUT)
			rc = pthread_cond_timedwait(&work, &lock, &ts);
		int todo = tasks ? tasks : DRAIN;
		enum mpit_drain_kind how = kind;
		uint64_t ticket = asked;
		tasks = 0;
		kind = MPIT_DRAIN_BACKGROUND;
		atomic_store_explicit(&woken, 0, memory_order_relaxed);
		pthread_mutex_unlock(&lock);
		int ok = todo & OPEN ? mpit_go_open() : mpit_go_drain((int)how);
		pthread_mutex_lock(&lock);
		result = ok;
		answered = ticket;
		if (how == MPIT_DRAIN_FINAL)
			stopped = 1;
		pthread_cond_broadcast(&done);
	}
	running = 0;
	pthread_mutex_unlock(&lock);
	return NULL;
}

int mpit_drain_start(void)
{
	pthread_condattr_t attr;
	pthread_t thread;
	sigset_t all, old;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&work, &attr);
	pthread_cond_init(&done, &attr);
	pthread_condattr_destroy(&attr);
	/* The program's signals are for the program's threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	running = pthread_create(&thread, NULL, drain_thread, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (running)
		pthread_detach(thread);
	return running;
}

/* Asks for a drain without waiting for it. */
void mpit_drain_wake(void)
{
	if (atomic_exchange_explicit(&woken, 1, memory_order_relaxed))
		return;
	pthread_mutex_lock(&lock);
	tasks |= DRAIN;
	pthread_cond_signal(&work);
	pthread_mutex_unlock(&lock);
}

static int ask(int task, enum mpit_drain_kind how, unsigned seconds)
{
	struct timespec ts;
	until(&ts, seconds);
	pthread_mutex_lock(&lock);
	uint64_t ticket = ++asked;
	tasks |= task;
	if (how > kind)
		kind = how;
	pthread_cond_signal(&work);
	int rc = 0;
	while (running && !stopped && answered < ticket && rc != ETIMEDOUT)
		rc = pthread_cond_timedwait(&done, &lock, &ts);
	int ok = answered >= ticket && result;
	pthread_mutex_unlock(&lock);
	return ok;
}

/* Waits until everything that was recorded before the call is in the file.
 * 0: it could not be written, or not in time. */
int mpit_drain_wait(enum mpit_drain_kind how, unsigned seconds)
{
	return ask(DRAIN, how, seconds);
}

/* Opens the trace file. */
int mpit_drain_open(void)
{
	return ask(OPEN, MPIT_DRAIN_BACKGROUND, 60);
}
