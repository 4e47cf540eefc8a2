/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A library that needs another one (made of this file too), which no loader finds. */
int lacking_loader(void);
int lacking_loader(void)
{
    return 0;
}
