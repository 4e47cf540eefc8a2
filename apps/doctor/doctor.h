/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What the parts of `penstock doctor` share: how a finding is told, and the programs that are asked. */
#ifndef PENSTOCK_APPS_DOCTOR_H
#define PENSTOCK_APPS_DOCTOR_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* How a finding is judged: only what keeps the command from working makes the doctor fail. */
enum finding { FINE, MINOR, BROKEN };

#define CURE_OF_LOADING "install the library that it names, or reinstall the package of the one that cannot be loaded"

/* One line; a second one with the cure unless all is well or `cure` is NULL. */
void doctor_tell(enum finding finding, const char *what, const char *state, const char *cure);

/* The shell's command that puts a folder before what a variable like PATH has. */
void doctor_export(char *command, size_t capacity, const char *variable, const char *folder);

/* The first `capacity` - 1 bytes that a program writes to its standard output, with no input and its errors thrown
 * away. False where it cannot be started or does not end with exit code 0. */
bool doctor_ask(const char *const arguments[], char *answer, size_t capacity);

/* The same, of a program that is ended where it takes longer than `seconds`. */
enum doctor_answer { ANSWERED, NO_ANSWER, LATE_ANSWER };
enum doctor_answer doctor_ask_within(const char *const arguments[], char *answer, size_t capacity, double seconds);

/* Tries to load a library, and prints why that fails, and whether it is there. */
void doctor_load(const char *name);

/* Whether other programs find the library `name`, in `folder` unless that is NULL; true too where nobody can say. */
bool doctor_loader_finds(const char *name, const char *folder);

/* Folder above the one that the running command is in, or "". */
void doctor_prefix(char prefix[PATH_MAX]);

void doctor_library(void); /* command, library, the loader's cache, the programs that it runs */
void doctor_opencl(void);
void doctor_gnuradio(void);

/* The process that tries the devices, and what it finds. */
struct doctor_devices {
    pthread_t thread;
    bool beside; /* the thread waits for it */
    bool done;
    char findings[1 << 16];
};

void doctor_devices_ask(struct doctor_devices *devices);    /* starts it */
size_t doctor_devices_tell(struct doctor_devices *devices); /* waits for it; how many of its findings are BROKEN */
void doctor_devices_try(void);                              /* what it does */

#endif
