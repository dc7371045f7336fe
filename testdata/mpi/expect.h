/* SPDX-License-Identifier: Apache-2.0
 *
 * What a test program did, for the test to compare with its trace. See README.md.
 */
#ifndef EXPECT_H
#define EXPECT_H

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static FILE *expect_file;
static int expect_rank;

/* Open this rank's file. To be called once, after MPI_Init. */
static inline void expect_open(int rank)
{
	const char *dir = getenv("EXPECT_DIR");
	char path[4096];
	expect_rank = rank;
	if (dir == NULL)
		return;
	snprintf(path, sizeof path, "%s/expect.%d", dir, rank);
	expect_file = fopen(path, "w");
	if (expect_file == NULL) {
		perror(path);
		exit(3);
	}
}

/* Write one call down: the fields of its JSON object behind "rank" and "call",
 * with ' in place of ". */
static inline void expect(const char *call, const char *format, ...)
{
	char text[1024];
	va_list arguments;
	if (expect_file == NULL)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	for (char *c = text; *c != '\0'; c++) {
		if (*c == '\'')
			*c = '"';
	}
	fprintf(expect_file, "{\"rank\":%d,\"call\":\"%s\"%s%s}\n", expect_rank, call, *text != '\0' ? "," : "", text);
}

/* Say that calls of several threads may be in any order. */
static inline void expect_any_order(void)
{
	if (expect_file != NULL)
		fprintf(expect_file, "{\"order\":\"any\"}\n");
}

static inline void expect_close(void)
{
	if (expect_file != NULL && fclose(expect_file) != 0) {
		perror("expect");
		exit(3);
	}
	expect_file = NULL;
}

#endif
