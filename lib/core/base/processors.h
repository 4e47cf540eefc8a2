/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#ifndef PENSTOCK_CORE_PROCESSORS_H
#define PENSTOCK_CORE_PROCESSORS_H

/* As many processors as the time is worth that control groups leave to this process, rounded up; 0: they set no limit.
 * `groups` is /proc/self/cgroup, and `root` is where control groups are mounted. */
unsigned penstock__processor_limit(const char *groups, const char *root);

#endif
