/* SPDX-License-Identifier: Apache-2.0
 *
 * Telling MPI libraries apart at run time, and what follows for handles,
 * constants and statuses. One descriptor covers all versions of Open MPI, one
 * all of the MPICH family: both only ever added to their binary interface.
 */
#include <dlfcn.h>

#include "core.h"

struct mpit_abi mpit_abi;

static char library_version[8192 + 1];

static const struct mpit_abi openmpi = {
	.kind = MPIT_ABI_OPENMPI,
	.handle_mask = ~0ull, .handle_size = 8,
	.status_size = 24, .status_source = 0, .status_tag = 4, .status_error = 8,
	.any_source = -1, .any_tag = -1, .proc_null = -2, .root = -4, .undefined = -32766,
	.in_place = 1, .status_ignore = 0, .statuses_ignore = 0,
	.err_in_status = 18, .err_pending = 19, .err_unsupported = 52,
};

static const struct mpit_abi mpich = {
	.kind = MPIT_ABI_MPICH,
	.handle_mask = 0xffffffff, .handle_size = 4,
	.status_size = 20, .status_source = 8, .status_tag = 12, .status_error = 16,
	.any_source = -2, .any_tag = -1, .proc_null = -1, .root = -3, .undefined = -32766,
	.in_place = ~0ull, .status_ignore = 1, .statuses_ignore = 1,
	.comm_world = 0x44000000, .comm_self = 0x44000001, .comm_null = 0x04000000,
	.request_null = 0x2c000000,
	.type_null = 0x0c000000, .type_byte = 0x4c00010d, .win_null = 0x20000000, .file_null = 0, .op_null = 0x18000000,
	.err_in_status = 17, .err_pending = 18, .err_unsupported = 44,
};

static const struct mpit_abi standard = {
	.kind = MPIT_ABI_STANDARD,
	.handle_mask = ~0ull, .handle_size = 8,
	.status_size = 32, .status_source = 0, .status_tag = 4, .status_error = 8,
	.any_source = -1, .any_tag = -2, .proc_null = -3, .root = -4, .undefined = -32766,
	.in_place = 1, .status_ignore = 0, .statuses_ignore = 0,
	.comm_world = 0x101, .comm_self = 0x102, .comm_null = 0x100,
	.request_null = 0x180,
	.type_null = 0x200, .type_byte = 0x247, .win_null = 0x110, .file_null = 0x118, .op_null = 0x20,
	.err_in_status = 19, .err_pending = 18, .err_unsupported = 55,
};

/* An MPI that we do not know: times and functions only. No handle is ever
 * interpreted, no status read. */
static const struct mpit_abi opaque = {
	.kind = MPIT_ABI_OPAQUE,
	.handle_mask = ~0ull, .handle_size = 8,
	.status_size = 32, .status_source = -1, .status_tag = -1, .status_error = -1,
	.err_unsupported = 16,
};

/* The predefined operations; an operation's id in a record is 1 + its place. */
static const struct {
	const char *name, *openmpi;
	uint32_t mpich, standard;
} ops[] = {
	{ "MPI_MAX", "ompi_mpi_op_max", 0x58000001, 0x23 },
	{ "MPI_MIN", "ompi_mpi_op_min", 0x58000002, 0x22 },
	{ "MPI_SUM", "ompi_mpi_op_sum", 0x58000003, 0x21 },
	{ "MPI_PROD", "ompi_mpi_op_prod", 0x58000004, 0x24 },
	{ "MPI_LAND", "ompi_mpi_op_land", 0x58000005, 0x30 },
	{ "MPI_BAND", "ompi_mpi_op_band", 0x58000006, 0x28 },
	{ "MPI_LOR", "ompi_mpi_op_lor", 0x58000007, 0x31 },
	{ "MPI_BOR", "ompi_mpi_op_bor", 0x58000008, 0x29 },
	{ "MPI_LXOR", "ompi_mpi_op_lxor", 0x58000009, 0x32 },
	{ "MPI_BXOR", "ompi_mpi_op_bxor", 0x5800000a, 0x2a },
	{ "MPI_MINLOC", "ompi_mpi_op_minloc", 0x5800000b, 0x38 },
	{ "MPI_MAXLOC", "ompi_mpi_op_maxloc", 0x5800000c, 0x39 },
	{ "MPI_REPLACE", "ompi_mpi_op_replace", 0x5800000d, 0x3c },
	{ "MPI_NO_OP", "ompi_mpi_op_no_op", 0x5800000e, 0x3d },
};

#define NUM_OPS (sizeof ops / sizeof *ops)

static uint64_t op_handles[NUM_OPS];

static uint64_t symbol(const char *name)
{
	return (uint64_t)mpit_library_symbol(name);
}

static void fill_openmpi(void)
{
	mpit_abi = openmpi;
	mpit_abi.comm_world = symbol("ompi_mpi_comm_world");
	mpit_abi.comm_self = symbol("ompi_mpi_comm_self");
	mpit_abi.comm_null = symbol("ompi_mpi_comm_null");
	mpit_abi.request_null = symbol("ompi_request_null");
	mpit_abi.type_null = symbol("ompi_mpi_datatype_null");
	mpit_abi.type_byte = symbol("ompi_mpi_byte");
	mpit_abi.win_null = symbol("ompi_mpi_win_null");
	mpit_abi.file_null = symbol("ompi_mpi_file_null");
	mpit_abi.op_null = symbol("ompi_mpi_op_null");
}

static int starts_with(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

static int is_mpich_family(const char *version)
{
	return starts_with(version, "MPICH") || starts_with(version, "Intel(R) MPI") || starts_with(version, "MVAPICH") ||
	       strstr(version, "CRAY MPICH") || strstr(version, "ParaStation MPI");
}

/* The standard ABI first: its library may sit on one whose own data symbols
 * are visible too. A native library that merely knows the function says -1. */
static int is_standard(void)
{
	int major = -1, minor = -1;
	return MPIT_HAVE(Abi_get_version) && MPIT_CALL(Abi_get_version, (int *, int *))(&major, &minor) == 0 && major >= 1;
}

void mpit_abi_detect(void)
{
	int length = 0;
	if (MPIT_HAVE(Get_library_version))
		MPIT_CALL(Get_library_version, (char *, int *))(library_version, &length);
	library_version[sizeof library_version - 1] = 0;
	library_version[strcspn(library_version, "\r\n")] = 0;
	if (is_standard())
		mpit_abi = standard;
	else if (mpit_library_symbol("ompi_mpi_comm_world") && starts_with(library_version, "Open MPI"))
		fill_openmpi();
	else if (is_mpich_family(library_version))
		mpit_abi = mpich;
	else
		mpit_abi = opaque;
	for (unsigned i = 0; i < NUM_OPS; i++) {
		if (mpit_abi.kind == MPIT_ABI_OPENMPI)
			op_handles[i] = symbol(ops[i].openmpi);
		else if (mpit_abi.kind == MPIT_ABI_MPICH)
			op_handles[i] = ops[i].mpich;
		else if (mpit_abi.kind == MPIT_ABI_STANDARD)
			op_handles[i] = ops[i].standard;
	}
}

const char *mpit_abi_name(void)
{
	switch (mpit_abi.kind) {
	case MPIT_ABI_OPENMPI: return "openmpi";
	case MPIT_ABI_MPICH: return "mpich";
	case MPIT_ABI_STANDARD: return "abi";
	default: return "opaque";
	}
}

const char *mpit_library_version(void)
{
	return library_version;
}

/* 1 + the place of a predefined operation, 0 if it is none. */
unsigned mpit_op_predefined(uint64_t handle, const char **name)
{
	for (unsigned i = 0; i < NUM_OPS; i++) {
		if (handle && op_handles[i] == handle) {
			*name = ops[i].name;
			return i + 1;
		}
	}
	return 0;
}

int64_t mpit_status_bytes_slow(const void *status)
{
	int n = 0;
	int64_t count = 0;
	if (mpit_abi.kind != MPIT_ABI_STANDARD)
		return -1;
	if (MPIT_CALL(Get_count, (const void *, mpit_h, int *))(status, (mpit_h)mpit_abi.type_byte, &n) == 0 && n >= 0)
		return n;
	if (MPIT_HAVE(Get_elements_x) &&
	    MPIT_CALL(Get_elements_x, (const void *, mpit_h, int64_t *))(status, (mpit_h)mpit_abi.type_byte, &count) == 0 &&
	    count >= 0)
		return count;
	return -1;
}

int mpit_status_cancelled(const void *status)
{
	int flag = 0;
	switch (mpit_abi.kind) {
	case MPIT_ABI_OPENMPI: return mpit_status_int(status, 12) != 0;
	case MPIT_ABI_MPICH: return mpit_status_int(status, 4) & 1;
	case MPIT_ABI_STANDARD:
		return MPIT_CALL(Test_cancelled, (const void *, int *))(status, &flag) == 0 && flag;
	default: return 0;
	}
}
