// SPDX-License-Identifier: Apache-2.0
void where(const char *name);
void in_library(void);

static inline __attribute__((always_inline)) void exchange(void)
{
    where("inlined"); // line 7
}

__attribute__((noinline)) void solve(void)
{
    where("plain"); // line 12
    exchange();
    where("last"); // line 14
}

__attribute__((noinline, noreturn)) void stop(void)
{
    where("before-the-end"); // line 19
    __builtin_trap();
}

int main(int argc, char **argv)
{
    (void)argv;
    solve();
    in_library();
    if (argc > 5)
        stop();
    return 0;
}
