/* SPDX-License-Identifier: Apache-2.0
 *
 * The wrappers for the archive, each to become an object of its own.
 */
#include "../wrappers_gen.c"
#include "../special.c"
