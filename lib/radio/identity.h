/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Which file a name or descriptor stands for: two names of one file have one identity. */
#ifndef PENSTOCK_RADIO_IDENTITY_H
#define PENSTOCK_RADIO_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct penstock__identity {
    bool regular; /* only regular files have one */
    dev_t device;
    ino_t inode;
};

struct penstock__identities {
    struct penstock__identity *list;
    size_t count;
};

struct penstock__identity penstock__identity_of(const struct stat *about);
bool penstock__identity_same(struct penstock__identity a, struct penstock__identity b);

/* Adds one, unless it is none. A penstock_status. */
int penstock__identities_add(struct penstock__identities *identities, struct penstock__identity identity);

/* Adds that of a path or descriptor; what is not there has none. A penstock_status. */
int penstock__identities_add_path(struct penstock__identities *identities, const char *path);
int penstock__identities_add_descriptor(struct penstock__identities *identities, int fd);

bool penstock__identities_have(const struct penstock__identities *identities, struct penstock__identity identity);
void penstock__identities_free(struct penstock__identities *identities);

#endif
