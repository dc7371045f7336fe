// SPDX-License-Identifier: Apache-2.0
// where() says where it was called from: name, return address, base, file.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdint.h>

__attribute__((noinline, visibility("default"))) void where(const char *name)
{
    void *from = __builtin_return_address(0);
    Dl_info info;
    if (!dladdr(from, &info))
        return;
    uintptr_t base = (uintptr_t)info.dli_fbase;
    if (base == 0x400000) // an executable that was not moved
        base = 0;
    printf("%s %lx %lx %s\n", name, (unsigned long)(uintptr_t)from, (unsigned long)base, info.dli_fname);
}

void where_(const char *name) { (void)name; }
