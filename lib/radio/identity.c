/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Files by device and inode. */
#include "radio/identity.h"
#include "backends/backend.h"

#include <string.h>

struct penstock__identity penstock__identity_of(const struct stat *about)
{
    return (struct penstock__identity){S_ISREG(about->st_mode), about->st_dev, about->st_ino};
}

bool penstock__identity_same(struct penstock__identity a, struct penstock__identity b)
{
    return a.regular && b.regular && a.device == b.device && a.inode == b.inode;
}

int penstock__identities_add(struct penstock__identities *identities, struct penstock__identity identity)
{
    struct penstock__identity *list;
    if (!identity.regular || penstock__identities_have(identities, identity))
        return PENSTOCK_OK;
    if (!(list = penstock__alloc((identities->count + 1) * sizeof *list)))
        return PENSTOCK_ERR_MEMORY;
    if (identities->count)
        memcpy(list, identities->list, identities->count * sizeof *list);
    list[identities->count++] = identity;
    penstock__free(identities->list);
    identities->list = list;
    return PENSTOCK_OK;
}

int penstock__identities_add_path(struct penstock__identities *identities, const char *path)
{
    struct stat about;
    return stat(path, &about) ? PENSTOCK_OK : penstock__identities_add(identities, penstock__identity_of(&about));
}

int penstock__identities_add_descriptor(struct penstock__identities *identities, int fd)
{
    struct stat about;
    return fstat(fd, &about) ? PENSTOCK_OK : penstock__identities_add(identities, penstock__identity_of(&about));
}

bool penstock__identities_have(const struct penstock__identities *identities, struct penstock__identity identity)
{
    for (size_t i = 0; i < identities->count; i++)
        if (penstock__identity_same(identities->list[i], identity))
            return true;
    return false;
}

void penstock__identities_free(struct penstock__identities *identities)
{
    penstock__free(identities->list);
    *identities = (struct penstock__identities){0};
}
