/* SPDX-License-Identifier: Apache-2.0
 *
 * mpitrace.h: what a program can say to the recorder while it runs.
 *
 * Macros only, in terms of MPI_Pcontrol: there is nothing to link, and without
 * the recorder each is a call that every MPI library ignores. mpi.h, of
 * whichever MPI, must be included where they are used. They may be used at any
 * time, also before MPI_Init and after MPI_Finalize, where they do nothing.
 * With MPITRACE_OFF defined before this file is included, they are empty.
 *
 *     #include <mpi.h>
 *     #include <mpitrace.h>
 *
 *     MPITRACE_REGION_BEGIN("solve");
 *     ...
 *     MPITRACE_REGION_END("solve");
 *
 * Names are C strings; they are copied, and may differ from call to call.
 * Fortran programs have MPI_Pcontrol(level) for all but names.
 */
#ifndef MPITRACE_H
#define MPITRACE_H

/* The levels of MPI_Pcontrol. 0 to 2 are the MPI standard's; those of regions
 * are of the draft of the MPI tools working group, and a name follows. */
#define MPITRACE_LEVEL_DISABLE 0
#define MPITRACE_LEVEL_ENABLE 1
#define MPITRACE_LEVEL_FLUSH 2
#define MPITRACE_LEVEL_REGION_BEGIN 9093
#define MPITRACE_LEVEL_REGION_END 9094

#ifndef MPITRACE_OFF

/* Stop recording calls. Communicators, datatypes and requests are followed
 * nevertheless, so that recording can go on correctly. */
#define MPITRACE_DISABLE() ((void)MPI_Pcontrol(MPITRACE_LEVEL_DISABLE))

/* Go on recording. */
#define MPITRACE_ENABLE() ((void)MPI_Pcontrol(MPITRACE_LEVEL_ENABLE))

/* Return when everything that was recorded is in the trace file. */
#define MPITRACE_FLUSH() ((void)MPI_Pcontrol(MPITRACE_LEVEL_FLUSH))

/* Begin and end a part of the program that has a name. Regions nest; the end
 * repeats the name of the begin. */
#define MPITRACE_REGION_BEGIN(name) ((void)MPI_Pcontrol(MPITRACE_LEVEL_REGION_BEGIN, (const char *)(name)))
#define MPITRACE_REGION_END(name) ((void)MPI_Pcontrol(MPITRACE_LEVEL_REGION_END, (const char *)(name)))

/* Mark a moment with a name: a region that ends at once. */
#define MPITRACE_MARKER(name) (MPITRACE_REGION_BEGIN(name), MPITRACE_REGION_END(name))

/* Mark a moment with a number, which must be none of the levels above. */
#define MPITRACE_MARKER_NUMBER(number) ((void)MPI_Pcontrol(number))

#else /* MPITRACE_OFF */

#define MPITRACE_DISABLE() ((void)0)
#define MPITRACE_ENABLE() ((void)0)
#define MPITRACE_FLUSH() ((void)0)
#define MPITRACE_REGION_BEGIN(name) ((void)0)
#define MPITRACE_REGION_END(name) ((void)0)
#define MPITRACE_MARKER(name) ((void)0)
#define MPITRACE_MARKER_NUMBER(number) ((void)0)

#endif /* MPITRACE_OFF */

#endif /* MPITRACE_H */
