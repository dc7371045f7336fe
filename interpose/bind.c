/* SPDX-License-Identifier: Apache-2.0
 *
 * Finding the real functions. RTLD_NEXT alone is not enough: a plugin or a
 * Python module may have loaded libmpi with RTLD_LOCAL. So the loaded objects
 * are walked, and each function is looked up on the handle of the object that
 * really defines PMPI_Init, with its dependencies: PMPI_X, else MPI_X (some
 * libraries lack the twin), else a stand-in that returns an error.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>

#include "core.h"

void *mpit_real[MPIT_NUM_FUNCTIONS];

static pthread_mutex_t bind_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int bound;
static char library_path[1024];

const char *mpit_library_path(void)
{
	return library_path;
}

/* Stands in for a function that the loaded MPI does not have. */
int mpit_absent(void)
{
	return mpit_abi.err_unsupported;
}

#ifdef MPIT_STATIC

/* Linked into the program: the linker has resolved everything already. */
#include "static_gen.h"

void *mpit_library_symbol(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}

static int bind_functions(void)
{
	for (unsigned i = 0; i < MPIT_NUM_FUNCTIONS; i++)
		mpit_real[i] = (void *)mpit_absent;
	mpit_static_bind();
	strcpy(library_path, "(linked into the program)");
	return 1;
}

#else

static void *library;

struct objects {
	char **names;
	unsigned count, room;
};

static int collect(struct dl_phdr_info *info, size_t size, void *data)
{
	struct objects *o = data;
	(void)size;
	if (o->count == o->room) {
		unsigned room = o->room ? 2 * o->room : 64;
		char **names = realloc(o->names, room * sizeof *names);
		if (!names)
			return 1;
		o->names = names;
		o->room = room;
	}
	o->names[o->count] = strdup(info->dlpi_name ? info->dlpi_name : "");
	if (o->names[o->count])
		o->count++;
	return 0;
}

/* Does the object behind handle define MPI itself, and is it not us? */
static int defines_mpi(void *handle, const char *name)
{
	static const char here;
	Dl_info self, other;
	struct link_map *map = NULL, *own = NULL;
	void *init = dlsym(handle, "PMPI_Init");
	if (!init || !dladdr(&here, &self) || !dladdr1(init, &other, (void **)&map, RTLD_DL_LINKMAP))
		return 0;
	if (other.dli_fbase == self.dli_fbase)
		return 0;
	if (dlinfo(handle, RTLD_DI_LINKMAP, &own) != 0 || own != map)
		return 0;
	strncpy(library_path, other.dli_fname && *name ? other.dli_fname : "(the program itself)", sizeof library_path - 1);
	return 1;
}

static int looks_like_mpi(const char *name)
{
	const char *base = strrchr(name, '/');
	return strstr(base ? base + 1 : name, "mpi") != NULL;
}

static void *find_library(void)
{
	struct objects o = { 0 };
	void *found = NULL;
	dl_iterate_phdr(collect, &o);
	/* Likely names first: dlsym on an object with many dependencies is slow. */
	for (int likely = 1; likely >= 0 && !found; likely--) {
		for (unsigned i = 0; i < o.count && !found; i++) {
			if (looks_like_mpi(o.names[i]) != likely)
				continue;
			void *h = dlopen(*o.names[i] ? o.names[i] : NULL, RTLD_NOLOAD | RTLD_LAZY);
			if (!h)
				continue;
			if (defines_mpi(h, o.names[i]))
				found = h;
			else
				dlclose(h);
		}
	}
	for (unsigned i = 0; i < o.count; i++)
		free(o.names[i]);
	free(o.names);
	return found;
}

void *mpit_library_symbol(const char *name)
{
	/* The program may hold the real object: copy relocations move
	 * ompi_mpi_comm_world and its like into the executable. */
	void *p = dlsym(RTLD_DEFAULT, name);
	return p || !library ? p : dlsym(library, name);
}

static void *find_function(const char *name)
{
	char pname[128] = "P";
	strncat(pname, name, sizeof pname - 2);
	void *p = dlsym(library, pname);
	return p ? p : dlsym(library, name);
}

static int bind_functions(void)
{
	library = find_library();
	if (!library)
		return 0;
	for (unsigned i = 1; i < MPIT_NUM_FUNCTIONS; i++) {
		void *p = mpit_names[i] ? find_function(mpit_names[i]) : NULL;
		mpit_real[i] = p ? p : (void *)mpit_absent;
	}
	return 1;
}

#endif

int mpit_bind(void)
{
	if (MPIT_LIKELY(atomic_load_explicit(&bound, memory_order_acquire)))
		return 1;
	pthread_mutex_lock(&bind_lock);
	if (!atomic_load_explicit(&bound, memory_order_relaxed)) {
		if (bind_functions()) {
			mpit_abi_detect();
			atomic_store_explicit(&bound, 1, memory_order_release);
		} else {
			for (unsigned i = 0; i < MPIT_NUM_FUNCTIONS; i++)
				mpit_real[i] = (void *)mpit_absent;
		}
	}
	pthread_mutex_unlock(&bind_lock);
	return atomic_load_explicit(&bound, memory_order_acquire);
}
