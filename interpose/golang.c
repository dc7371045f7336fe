/* SPDX-License-Identifier: Apache-2.0
 *
 * Starting the Go runtime when it is wanted. A preloaded library enters every
 * shell and helper of a job; Go would start in each of them from .init_array.
 * The link step renames that section of go.o to go_lazy_init, and we call what
 * is in it at MPI_Init, with the arguments that the loader gave us: Go reads
 * the auxiliary vector behind envp, so they must be those very pointers.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core.h"

/* The virtual memory that Go reserves, and some. Nothing of it is used. */
#define GO_ADDRESS_SPACE (3ull << 30)

typedef void (*init_function)(int, char **, char **);

extern init_function __start_go_lazy_init[] __attribute__((weak, visibility("hidden")));
extern init_function __stop_go_lazy_init[] __attribute__((weak, visibility("hidden")));

/* Exported by config.go; the first call waits until the runtime is up. */
extern int mpit_go_configure(void);

int mpit_argc;
char **mpit_argv, **mpit_envp;

__attribute__((constructor)) static void keep_arguments(int argc, char **argv, char **envp)
{
	mpit_argc = argc;
	mpit_argv = argv;
	mpit_envp = envp;
}

static unsigned long long address_space(void)
{
	unsigned long long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");
	if (f) {
		if (fscanf(f, "%llu", &pages) != 1)
			pages = 0;
		fclose(f);
	}
	return pages * (unsigned long long)sysconf(_SC_PAGESIZE);
}

/* Go aborts the process where it cannot reserve its address space. */
static int has_room(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return 1;
	return limit.rlim_cur > address_space() + GO_ADDRESS_SPACE;
}

int mpit_go_start(void)
{
	struct sigaction before[NSIG];
	char known[NSIG];
	sigset_t all, old;
	if (!has_room()) {
		mpit_disable("the address space limit (ulimit -v) leaves no room for the recorder's 3 GB of reserved, unused memory");
		return 0;
	}
	/* Starting Go replaces handlers and adds SA_ONSTACK to others; they are the
	 * program's and are put back. Go's threads inherit the blocked mask, so no
	 * signal of the program is ever delivered on one of their small stacks. */
	for (int s = 1; s < NSIG; s++)
		known[s] = sigaction(s, NULL, &before[s]) == 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	for (init_function *f = __start_go_lazy_init; f < __stop_go_lazy_init; f++)
		(*f)(mpit_argc, mpit_argv, mpit_envp);
	int ok = mpit_go_configure();
	for (int s = 1; s < NSIG; s++)
		if (known[s])
			sigaction(s, &before[s], NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return ok;
}
