// SPDX-License-Identifier: Apache-2.0
void where(const char *name);

void in_library(void);
void in_library(void)
{
    where("library"); // line 7
}
