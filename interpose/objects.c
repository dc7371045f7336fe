/* SPDX-License-Identifier: Apache-2.0
 *
 * Communicators, datatypes, operations, windows and files: from the library's
 * handles, which are reused, to ids, which are not. Off the hot path; a thread
 * finds an id in its own cache until something is freed.
 */
#include <pthread.h>
#include <stdlib.h>

#include "core.h"

#define CHUNK 1024
#define MAX_CHUNKS 4096
#define FIRST_USER_OP 32

struct object {
	uint64_t handle;
	enum mpit_object_kind kind; /* MPIT_OBJECT_NONE: removed */
	uint32_t id;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct object *table; /* open addressing, power of two */
static size_t table_size, table_used;
static struct mpit_comm_info *_Atomic comms[MAX_CHUNKS];
static int64_t *_Atomic type_sizes[MAX_CHUNKS];
static uint32_t next_comm = 1, next_type = 1, next_win = 1, next_file = 1, next_op = FIRST_USER_OP, next_text = 1;
static uint32_t op_seen; /* predefined operations already defined, by bit */
static mpit_h world_group;

static size_t slot_of(uint64_t handle)
{
	uint64_t h = handle * 0x9e3779b97f4a7c15ull;
	return (size_t)(h >> 20) & (table_size - 1);
}

static struct object *find(uint64_t handle)
{
	if (!table_size)
		return NULL;
	for (size_t i = slot_of(handle);; i = (i + 1) & (table_size - 1)) {
		struct object *o = &table[i];
		if (!o->handle && o->kind == MPIT_OBJECT_NONE && !o->id)
			return NULL;
		if (o->handle == handle && o->kind != MPIT_OBJECT_NONE)
			return o;
	}
}

static int grow(void)
{
	size_t live = 0;
	for (size_t i = 0; i < table_size; i++)
		live += table[i].kind != MPIT_OBJECT_NONE;
	size_t size = 256;
	while (size < 4 * (live + 1))
		size *= 2;
	struct object *old = table, *fresh = calloc(size, sizeof *fresh);
	size_t old_size = table_size;
	if (!fresh)
		return 0;
	table = fresh;
	table_size = size;
	table_used = 0;
	for (size_t i = 0; i < old_size; i++) {
		if (old[i].kind == MPIT_OBJECT_NONE)
			continue;
		size_t j = slot_of(old[i].handle);
		while (table[j].id)
			j = (j + 1) & (size - 1);
		table[j] = old[i];
		table_used++;
	}
	free(old);
	return 1;
}

/* The object of a handle, of this kind; an older one of another kind is gone. */
static void put(uint64_t handle, enum mpit_object_kind kind, uint32_t id)
{
	struct object *o = find(handle);
	if (!o) {
		if (4 * (table_used + 1) > 3 * table_size && !grow())
			return;
		size_t i = slot_of(handle);
		while (table[i].id)
			i = (i + 1) & (table_size - 1);
		o = &table[i];
		table_used++;
	}
	*o = (struct object){ handle, kind, id };
}

struct mpit_comm_info *mpit_comm_info(uint32_t id)
{
	static struct mpit_comm_info none = { .rank = -1, .indegree = 0, .outdegree = 0 };
	if (id == 0 || id / CHUNK >= MAX_CHUNKS)
		return &none;
	struct mpit_comm_info *chunk = atomic_load_explicit(&comms[id / CHUNK], memory_order_acquire);
	return chunk ? &chunk[id % CHUNK] : &none;
}

/* Bytes of data in one element, -1 if not known. Any thread. */
int64_t mpit_type_size(uint32_t id)
{
	if (id == 0 || id / CHUNK >= MAX_CHUNKS)
		return -1;
	int64_t *chunk = atomic_load_explicit(&type_sizes[id / CHUNK], memory_order_acquire);
	return chunk ? chunk[id % CHUNK] : -1;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t x = a * 0x9e3779b97f4a7c15ull + b;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	return x ^ x >> 32;
}

/* World ranks of a group, in order, as runs of three ints; NULL with *nruns = 0
 * if that cannot be had. */
static int32_t *runs_of(mpit_h group, int32_t *size, uint32_t *nruns)
{
	*nruns = 0;
	if (MPIT_CALL(Group_size, (mpit_h, int *))(group, size) != 0 || *size <= 0)
		return NULL;
	int n = *size;
	int *from = malloc(2 * (size_t)n * sizeof *from);
	int32_t *runs = malloc(3 * (size_t)n * sizeof *runs);
	if (!from || !runs)
		goto fail;
	int *to = from + n;
	for (int i = 0; i < n; i++)
		from[i] = i;
	if (MPIT_CALL(Group_translate_ranks, (mpit_h, int, const int *, mpit_h, int *))(group, n, from, world_group, to) != 0)
		goto fail;
	for (int i = 0; i < n; i++) {
		/* A process outside MPI_COMM_WORLD: spawned or connected. */
		if (to[i] == mpit_abi.undefined)
			to[i] = -1;
		int32_t *last = *nruns ? runs + 3 * (*nruns - 1) : NULL;
		if (last && last[1] == 1 && to[i] != last[0]) {
			last[2] = to[i] - last[0];
			last[1] = 2;
		} else if (last && last[1] > 1 && to[i] == last[0] + last[1] * last[2]) {
			last[1]++;
		} else {
			int32_t *run = runs + 3 * (*nruns)++;
			run[0] = to[i];
			run[1] = 1;
			run[2] = 1;
		}
	}
	free(from);
	return runs;
fail:
	free(from);
	free(runs);
	*nruns = 0;
	return NULL;
}

static int32_t *group_runs(int remote, mpit_h comm, int32_t *size, uint32_t *nruns)
{
	mpit_h group = NULL;
	*size = 0;
	*nruns = 0;
	int rc = remote ? MPIT_CALL(Comm_remote_group, (mpit_h, mpit_h *))(comm, &group) :
			  MPIT_CALL(Comm_group, (mpit_h, mpit_h *))(comm, &group);
	if (rc != 0)
		return NULL;
	int32_t *runs = runs_of(group, size, nruns);
	MPIT_CALL(Group_free, (mpit_h *))(&group);
	return runs;
}

static void define_comm(uint32_t id, const struct mpit_comm_info *c, unsigned maker, const char *name, const int32_t *local,
			uint32_t nlocal, const int32_t *remote, uint32_t nremote, uint32_t birth)
{
	static const char padding[4];
	size_t length = strlen(name);
	struct mpit_def_comm d = {
		.id = id, .parent = c->parent, .birth = birth, .maker = maker, .rank = c->rank, .size = c->size,
		.inter = c->inter, .name_length = (uint32_t)length, .local_runs = nlocal, .remote_runs = nremote,
		.global = c->global,
	};
	const void *parts[] = { name, padding, local, remote };
	const size_t sizes[] = { length, (4 - length % 4) % 4, 12 * (size_t)nlocal, 12 * (size_t)nremote };
	mpit_define(MPIT_DEF_COMM, &d, sizeof d, parts, sizes, 4);
}

static uint32_t new_comm(void)
{
	uint32_t id = next_comm;
	if (id / CHUNK >= MAX_CHUNKS)
		return 0;
	if (!atomic_load(&comms[id / CHUNK])) {
		struct mpit_comm_info *chunk = calloc(CHUNK, sizeof *chunk);
		if (!chunk)
			return 0;
		atomic_store_explicit(&comms[id / CHUNK], chunk, memory_order_release);
	}
	next_comm++;
	return id;
}

/* Enters a communicator. Under the lock. The global id follows the rule of
 * identity without communication: the parent, how many communicators it had
 * made before, and the first world rank of the new group. The communicator's
 * properties are asked of comm: of its parent for one that MPI_Comm_idup has only
 * begun to make. */
static uint32_t enter_comm(uint64_t handle, mpit_h comm, unsigned maker, uint32_t parent, uint32_t birth, const char *name)
{
	uint32_t nlocal, nremote = 0, id = new_comm();
	int32_t remote_size = 0, *remote = NULL;
	if (!id)
		return 0;
	struct mpit_comm_info *c = mpit_comm_info(id);
	int32_t *local = group_runs(0, comm, &c->size, &nlocal);
	MPIT_CALL(Comm_rank, (mpit_h, int *))(comm, &c->rank);
	MPIT_CALL(Comm_test_inter, (mpit_h, int *))(comm, &c->inter);
	if (c->inter)
		remote = group_runs(1, comm, &remote_size, &nremote);
	c->peers = c->inter ? remote_size : c->size;
	c->indegree = c->outdegree = -1;
	c->parent = parent;
	int32_t first = local ? local[0] : 0;
	if (remote && remote[0] < first)
		first = remote[0];
	if (handle == mpit_abi.comm_world)
		c->global = 1;
	else if (handle == mpit_abi.comm_self)
		c->global = mix(2, (uint64_t)mpit_process.rank);
	else
		c->global = mix(mix(mpit_comm_info(parent)->global, birth), (uint64_t)(uint32_t)first);
	char buffer[1024] = "";
	int length = 0;
	if (!name) {
		MPIT_CALL(Comm_get_name, (mpit_h, char *, int *))(comm, buffer, &length);
		name = buffer;
	}
	put(handle, MPIT_OBJECT_COMM, id);
	define_comm(id, c, maker, name, local, nlocal, remote, nremote, birth);
	free(local);
	free(remote);
	return id;
}

/* Types of the same making, size and extent are one definition: programs that
 * build and free the same type in a loop do not fill memory and file. */
struct type_key {
	uint32_t maker, base;
	int64_t size, extent;
	char name[64];
};

static struct known_type {
	struct type_key key;
	struct known_type *next;
	uint32_t id;
} *known_types[4096];

static void define_type(uint32_t id, const struct type_key *k, const char *name)
{
	struct mpit_def_type d = { .id = id, .base = k->base, .maker = k->maker, .name_length = (uint32_t)strlen(name),
				   .size = k->size, .extent = k->extent };
	const void *parts[] = { name };
	const size_t sizes[] = { d.name_length };
	mpit_define(MPIT_DEF_TYPE, &d, sizeof d, parts, sizes, 1);
}

static uint32_t new_type(int64_t size)
{
	uint32_t id = next_type;
	if (id / CHUNK >= MAX_CHUNKS)
		return 0;
	int64_t *chunk = atomic_load(&type_sizes[id / CHUNK]);
	if (!chunk) {
		if (!(chunk = calloc(CHUNK, sizeof *chunk)))
			return 0;
		chunk[id % CHUNK] = size;
		atomic_store_explicit(&type_sizes[id / CHUNK], chunk, memory_order_release);
	}
	chunk[id % CHUNK] = size;
	next_type++;
	return id;
}

static uint32_t enter_type(uint64_t handle, unsigned maker, uint32_t base)
{
	mpit_h type = (mpit_h)handle;
	struct type_key k;
	memset(&k, 0, sizeof k);
	k.maker = maker;
	k.base = base;
	int64_t lower = 0;
	int size = 0, length = 0;
	char name[1024] = "";
	if (MPIT_HAVE(Type_size_x)) {
		if (MPIT_CALL(Type_size_x, (mpit_h, int64_t *))(type, &k.size) != 0)
			k.size = -1;
	} else {
		k.size = MPIT_CALL(Type_size, (mpit_h, int *))(type, &size) == 0 ? size : -1;
	}
	MPIT_CALL(Type_get_extent, (mpit_h, int64_t *, int64_t *))(type, &lower, &k.extent);
	if (!maker)
		MPIT_CALL(Type_get_name, (mpit_h, char *, int *))(type, name, &length);
	memcpy(k.name, name, strnlen(name, sizeof k.name - 1));
	uint64_t hash = mix(mix(mix(k.maker, k.base), (uint64_t)k.size), (uint64_t)k.extent);
	struct known_type **bucket = &known_types[hash % (sizeof known_types / sizeof *known_types)], *known = *bucket;
	while (known && memcmp(&known->key, &k, sizeof k) != 0)
		known = known->next;
	if (known) {
		put(handle, MPIT_OBJECT_TYPE, known->id);
		return known->id;
	}
	uint32_t id = new_type(k.size);
	if (!id)
		return 0;
	if ((known = calloc(1, sizeof *known))) {
		*known = (struct known_type){ k, *bucket, id };
		*bucket = known;
	}
	put(handle, MPIT_OBJECT_TYPE, id);
	define_type(id, &k, name);
	return id;
}

static uint32_t enter_win(uint64_t handle, unsigned maker, uint32_t comm, int64_t size, int64_t unit)
{
	char name[1024] = "";
	int length = 0;
	MPIT_CALL(Win_get_name, (mpit_h, char *, int *))((mpit_h)handle, name, &length);
	struct mpit_def_win d = { .id = next_win++, .comm = comm, .maker = maker, .name_length = (uint32_t)strlen(name),
				  .size = size, .unit = unit };
	const void *parts[] = { name };
	const size_t sizes[] = { d.name_length };
	put(handle, MPIT_OBJECT_WIN, d.id);
	mpit_define(MPIT_DEF_WIN, &d, sizeof d, parts, sizes, 1);
	return d.id;
}

static uint32_t enter_file(uint64_t handle, uint32_t comm, const char *name, int mode)
{
	struct mpit_def_file d = { .id = next_file++, .comm = comm, .name_length = (uint32_t)strlen(name), .mode = mode };
	const void *parts[] = { name };
	const size_t sizes[] = { d.name_length };
	put(handle, MPIT_OBJECT_FILE, d.id);
	mpit_define(MPIT_DEF_FILE, &d, sizeof d, parts, sizes, 1);
	return d.id;
}

static int is_null(uint64_t handle, enum mpit_object_kind kind)
{
	switch (kind) {
	case MPIT_OBJECT_COMM: return handle == mpit_abi.comm_null;
	case MPIT_OBJECT_TYPE: return handle == mpit_abi.type_null;
	case MPIT_OBJECT_WIN: return handle == mpit_abi.win_null;
	case MPIT_OBJECT_FILE: return handle == mpit_abi.file_null;
	case MPIT_OBJECT_OP: return handle == mpit_abi.op_null;
	default: return 1;
	}
}

/* Looks a handle up; one that was never seen made is entered as it is. */
static uint32_t lookup(uint64_t handle, enum mpit_object_kind kind)
{
	if (mpit_abi.kind == MPIT_ABI_OPAQUE || handle == 0 || is_null(handle, kind) || !atomic_load(&mpit_active) || !world_group)
		return 0;
	pthread_mutex_lock(&lock);
	struct object *o = find(handle);
	uint32_t id = 0;
	if (o && o->kind == kind)
		id = o->id;
	else if (kind == MPIT_OBJECT_COMM)
		id = enter_comm(handle, (mpit_h)handle, 0, 0, 0, NULL);
	else if (kind == MPIT_OBJECT_TYPE)
		id = enter_type(handle, 0, 0);
	else if (kind == MPIT_OBJECT_WIN)
		id = enter_win(handle, 0, 0, -1, 0);
	else if (kind == MPIT_OBJECT_FILE)
		id = enter_file(handle, 0, "", 0);
	pthread_mutex_unlock(&lock);
	return id;
}

uint32_t mpit_object_slow(struct mpit_thread *t, uint64_t handle, enum mpit_object_kind kind)
{
	uint32_t generation = atomic_load_explicit(&mpit_generation, memory_order_acquire);
	uint32_t id = lookup(handle, kind);
	if (id)
		t->objects[mpit_hash(handle) % MPIT_OBJECT_CACHE] = (struct mpit_cached){ handle, generation, id };
	return id;
}

uint32_t mpit_type_slow(struct mpit_thread *t, uint64_t handle)
{
	uint32_t generation = atomic_load_explicit(&mpit_generation, memory_order_acquire);
	uint32_t id = lookup(handle, MPIT_OBJECT_TYPE);
	if (id)
		t->types[mpit_hash(handle) % MPIT_TYPE_CACHE] = (struct mpit_cached){ handle, generation, id };
	return id;
}

static void define_op(uint32_t id, const char *name)
{
	struct mpit_def_op d = { .id = id, .name_length = (uint32_t)strlen(name) };
	const void *parts[] = { name };
	const size_t sizes[] = { d.name_length };
	mpit_define(MPIT_DEF_OP, &d, sizeof d, parts, sizes, 1);
}

uint8_t mpit_op_id(const void *op)
{
	uint64_t handle = mpit_handle(op);
	const char *name;
	unsigned id = mpit_op_predefined(handle, &name);
	if (id) {
		if (MPIT_UNLIKELY(!(__atomic_load_n(&op_seen, __ATOMIC_RELAXED) >> id & 1)) &&
		    !(__atomic_fetch_or(&op_seen, 1u << id, __ATOMIC_RELAXED) >> id & 1))
			define_op(id, name);
		return (uint8_t)id;
	}
	if (handle == mpit_abi.op_null || mpit_abi.kind == MPIT_ABI_OPAQUE)
		return 0;
	pthread_mutex_lock(&lock);
	struct object *o = find(handle);
	if (o && o->kind == MPIT_OBJECT_OP)
		id = o->id;
	pthread_mutex_unlock(&lock);
	return (uint8_t)id;
}

/* The program's own operations share the ids above the predefined ones, one
 * byte in all: the last id stands for all further ones. */
void mpit_op_created(const void *newop)
{
	if (!atomic_load(&mpit_active) || mpit_abi.kind == MPIT_ABI_OPAQUE)
		return;
	pthread_mutex_lock(&lock);
	uint32_t id = next_op < 255 ? next_op++ : 255;
	put(mpit_handle_at(newop, 0), MPIT_OBJECT_OP, id);
	define_op(id, id < 255 ? "" : "(further operations of the program)");
	pthread_mutex_unlock(&lock);
}

/* Counts a birth on every member, also on those that get MPI_COMM_NULL.
 * Pending: MPI_Comm_idup, the new communicator may not be asked anything yet. */
void mpit_comm_created(struct mpit_thread *t, unsigned maker, const void *parent, const void *newcomm, int pending)
{
	(void)t;
	if (!atomic_load(&mpit_active) || mpit_abi.kind == MPIT_ABI_OPAQUE || !world_group)
		return;
	uint32_t from = parent ? lookup(mpit_handle(parent), MPIT_OBJECT_COMM) : 0;
	uint64_t handle = mpit_handle_at(newcomm, 0);
	pthread_mutex_lock(&lock);
	uint32_t birth = mpit_comm_info(from)->births++;
	if (handle != mpit_abi.comm_null)
		enter_comm(handle, pending ? (mpit_h)mpit_handle(parent) : (mpit_h)handle, maker, from, birth, "");
	pthread_mutex_unlock(&lock);
}

void mpit_type_created(struct mpit_thread *t, unsigned maker, const void *base, const void *newtype)
{
	(void)t;
	if (!atomic_load(&mpit_active) || mpit_abi.kind == MPIT_ABI_OPAQUE || !world_group)
		return;
	uint32_t from = base ? lookup(mpit_handle(base), MPIT_OBJECT_TYPE) : 0;
	uint64_t handle = mpit_handle_at(newtype, 0);
	pthread_mutex_lock(&lock);
	if (handle != mpit_abi.type_null)
		enter_type(handle, maker, from);
	pthread_mutex_unlock(&lock);
}

void mpit_win_created(struct mpit_thread *t, unsigned maker, const void *comm, int64_t size, int64_t unit, const void *newwin)
{
	(void)t;
	if (!atomic_load(&mpit_active) || mpit_abi.kind == MPIT_ABI_OPAQUE || !world_group)
		return;
	uint32_t id = lookup(mpit_handle(comm), MPIT_OBJECT_COMM);
	pthread_mutex_lock(&lock);
	enter_win(mpit_handle_at(newwin, 0), maker, id, size, unit);
	pthread_mutex_unlock(&lock);
}

void mpit_file_opened(struct mpit_thread *t, const void *comm, const char *name, int mode, const void *newfile)
{
	(void)t;
	if (!atomic_load(&mpit_active) || mpit_abi.kind == MPIT_ABI_OPAQUE || !world_group)
		return;
	uint32_t id = lookup(mpit_handle(comm), MPIT_OBJECT_COMM);
	pthread_mutex_lock(&lock);
	enter_file(*(const uint64_t *)newfile, id, name, mode);
	pthread_mutex_unlock(&lock);
}

static void rename_comm(uint32_t id, const char *name)
{
	const struct mpit_comm_info *c = mpit_comm_info(id);
	/* No runs: the group stays as it was defined. */
	define_comm(id, c, 0, name, NULL, 0, NULL, 0, 0);
}

void mpit_named(enum mpit_object_kind kind, uint64_t handle, const char *name)
{
	uint32_t id = lookup(handle, kind);
	if (!id || !name)
		return;
	pthread_mutex_lock(&lock);
	if (kind == MPIT_OBJECT_COMM) {
		rename_comm(id, name);
	} else if (kind == MPIT_OBJECT_TYPE) {
		/* The shared definition keeps its name; the named type gets its own. */
		int64_t lower = 0;
		struct type_key k = { .size = mpit_type_size(id), .base = id };
		MPIT_CALL(Type_get_extent, (mpit_h, int64_t *, int64_t *))((mpit_h)handle, &lower, &k.extent);
		uint32_t own = new_type(k.size);
		if (own) {
			put(handle, MPIT_OBJECT_TYPE, own);
			define_type(own, &k, name);
			atomic_fetch_add_explicit(&mpit_generation, 1, memory_order_release);
		}
	} else if (kind == MPIT_OBJECT_WIN) {
		struct mpit_def_win d = { .id = id, .name_length = (uint32_t)strlen(name), .size = -1 };
		const void *parts[] = { name };
		const size_t sizes[] = { d.name_length };
		mpit_define(MPIT_DEF_WIN, &d, sizeof d, parts, sizes, 1);
	}
	pthread_mutex_unlock(&lock);
}

/* Before a call that frees: afterwards another thread may already have been
 * given the same handle. */
void mpit_forget(uint64_t handle)
{
	if (!atomic_load(&mpit_active))
		return;
	pthread_mutex_lock(&lock);
	struct object *o = find(handle);
	if (o)
		o->kind = MPIT_OBJECT_NONE;
	pthread_mutex_unlock(&lock);
	atomic_fetch_add_explicit(&mpit_generation, 1, memory_order_release);
}

/* In- and out-neighbours of a topology, for the lengths of neighbourhood
 * collectives' arrays. Asked once a communicator. */
void mpit_degrees(struct mpit_comm_info *c, const void *comm)
{
	enum { graph_openmpi = 2, cart_openmpi = 1, dist = 3, graph_mpich = 1, cart_mpich = 2 };
	int status = 0, in = 0, out = 0, weighted, n = 0;
	if (c->indegree >= 0)
		return;
	MPIT_CALL(Topo_test, (mpit_h, int *))((mpit_h)comm, &status);
	if (status == dist || status == 213) {
		MPIT_CALL(Dist_graph_neighbors_count, (mpit_h, int *, int *, int *))((mpit_h)comm, &in, &out, &weighted);
	} else if (mpit_abi.kind == MPIT_ABI_MPICH ? status == cart_mpich : status == cart_openmpi || status == 211) {
		MPIT_CALL(Cartdim_get, (mpit_h, int *))((mpit_h)comm, &n);
		in = out = 2 * n;
	} else if (mpit_abi.kind == MPIT_ABI_MPICH ? status == graph_mpich : status == graph_openmpi || status == 212) {
		MPIT_CALL(Graph_neighbors_count, (mpit_h, int, int *))((mpit_h)comm, c->rank, &n);
		in = out = n;
	}
	c->outdegree = out;
	c->indegree = in;
}

/* A number for the name of a region or marker, the same for the same text. */
uint32_t mpit_text(const char *text)
{
	static struct text {
		struct text *next;
		uint32_t id;
		char text[];
	} *buckets[256];
	if (!text || !atomic_load(&mpit_active))
		return 0;
	size_t length = strnlen(text, 1024);
	uint64_t h = 0;
	for (size_t i = 0; i < length; i++)
		h = h * 31 + (unsigned char)text[i];
	pthread_mutex_lock(&lock);
	struct text **bucket = &buckets[h % 256], *e = *bucket;
	while (e && (strncmp(e->text, text, length) != 0 || e->text[length]))
		e = e->next;
	if (!e && (e = calloc(1, sizeof *e + length + 1))) {
		memcpy(e->text, text, length);
		e->id = next_text++;
		e->next = *bucket;
		*bucket = e;
		struct mpit_def_text d = { .id = e->id, .length = (uint32_t)length };
		const void *parts[] = { e->text };
		const size_t sizes[] = { length };
		mpit_define(MPIT_DEF_TEXT, &d, sizeof d, parts, sizes, 1);
	}
	pthread_mutex_unlock(&lock);
	return e ? e->id : 0;
}

void mpit_objects_start(void)
{
	if (mpit_abi.kind == MPIT_ABI_OPAQUE)
		return;
	pthread_mutex_lock(&lock);
	if (MPIT_CALL(Comm_group, (mpit_h, mpit_h *))((mpit_h)mpit_abi.comm_world, &world_group) == 0) {
		enter_comm(mpit_abi.comm_world, (mpit_h)mpit_abi.comm_world, 0, 0, 0, "MPI_COMM_WORLD");
		enter_comm(mpit_abi.comm_self, (mpit_h)mpit_abi.comm_self, 0, 0, 1, "MPI_COMM_SELF");
	}
	pthread_mutex_unlock(&lock);
}

void mpit_objects_stop(void)
{
	if (world_group)
		MPIT_CALL(Group_free, (mpit_h *))(&world_group);
	world_group = NULL;
}
