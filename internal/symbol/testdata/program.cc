// SPDX-License-Identifier: Apache-2.0
extern "C" void where(const char *name);

namespace grid {
template <typename T> struct Halo {
    __attribute__((noinline)) void exchange(T) { where("method"); } // line 6
};
}

int main()
{
    grid::Halo<double> h;
    h.exchange(1.0);
}
