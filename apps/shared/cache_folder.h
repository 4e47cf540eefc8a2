/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The folder in which the library keeps measurements and compiled kernels, and the command what it wants to remember.
 */
#ifndef PENSTOCK_APPS_CACHE_FOLDER_H
#define PENSTOCK_APPS_CACHE_FOLDER_H

#include <stdbool.h>

enum { FOLDER_TEXT = 512 };

/* By the rule of cache_dir in penstock.h; false: nowhere. Makes the folder if it can: writing into it tells. */
bool cache_folder(char path[FOLDER_TEXT]);

#endif
