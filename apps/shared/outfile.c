/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Output files as FILE, through the library's sets of files. */
#include "outfile.h"
#include "interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t set_lock = PTHREAD_MUTEX_INITIALIZER; /* over the next two, not over what they point to */
static penstock_files *set;                                  /* of the command */
static penstock_files *consoles;                             /* standard output and standard error */
static penstock_file *console_out, *console_error;           /* of `consoles` */
static int last_errno;                                       /* of the write that failed last */

/* ---------------------------------------------------------------- files as FILE --------------- */

static ssize_t write_file(void *file, const char *bytes, size_t count)
{
    if (!penstock_file_write(file, bytes, count))
        return (ssize_t)count;
    last_errno = errno;
    return 0;
}

static FILE *as_stream(penstock_file *file)
{
    return fopencookie(file, "w", (cookie_io_functions_t){.write = write_file});
}

/* Descriptors that are closed are not left to the next file that is opened: what is printed would go into it. They
 * stay such that using them fails. */
static void hold_descriptors(void)
{
    int fd;
    struct stat about;
    for (int i = 0; i <= STDERR_FILENO; i++)
        if (fstat(i, &about) && errno == EBADF && (fd = open("/dev/null", i ? O_RDONLY : O_WRONLY)) >= 0 && fd != i)
            close(fd);
}

void outfile_start(void)
{
    FILE *out, *error;
    hold_descriptors();
    if (penstock_files_new(&consoles) || penstock_file_open(&console_out, consoles, "-") ||
        penstock_file_open(&console_error, consoles, "/dev/stderr"))
        return; /* then they wait for their readers */
    if ((out = as_stream(console_out))) {
        setvbuf(out, NULL, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFSIZ);
        stdout = out;
    }
    if ((error = as_stream(console_error))) {
        setvbuf(error, NULL, _IOLBF, BUFSIZ); /* whole lines, where several programs write */
        stderr = error;
    }
}

void outfile_stop(void)
{
    pthread_mutex_lock(&set_lock);
    penstock_files_stop(consoles);
    penstock_files_stop(set);
    pthread_mutex_unlock(&set_lock);
}

/* ---------------------------------------------------------------- the set --------------------- */

penstock_files *outfile_set(void)
{
    penstock_files *fresh = NULL;
    penstock_file *standard;
    if (set)
        return set;
    /* standard output is in it, for it may be one of the files */
    int status = penstock_files_new(&fresh);
    if (!status)
        status = penstock_file_open(&standard, fresh, "-");
    if (status) {
        fail_status(status);
        penstock_files_free(fresh);
        return NULL;
    }
    pthread_mutex_lock(&set_lock);
    set = fresh;
    pthread_mutex_unlock(&set_lock);
    if (interrupted())
        penstock_files_stop(set);
    return set;
}

int outfile_protect_source(const penstock_source *source)
{
    interrupt_hold();
    int status = outfile_set() ? penstock_files_protect_source(set, source) : PENSTOCK_OK;
    interrupt_release();
    return !set ? EXIT_DATA : status ? fail_status(status) : EXIT_DONE;
}

int outfile_protect(const char *path)
{
    interrupt_hold();
    int status = outfile_set() ? penstock_files_protect(set, path) : PENSTOCK_OK;
    interrupt_release();
    return !set ? EXIT_DATA : status ? fail_status(status) : EXIT_DONE;
}

int outfile_complete(void)
{
    int status = set ? penstock_files_complete(set) : PENSTOCK_OK;
    return status ? fail_status(status) : EXIT_DONE;
}

int outfile_fail(int status)
{
    static bool told;
    bool excused = status == PENSTOCK_ERR_TIMEOUT && interrupted();
    int code = excused && told ? EXIT_DONE : fail_status(status);
    told |= excused;
    return excused ? EXIT_DONE : code;
}

void outfile_abandon(void)
{
    pthread_mutex_lock(&set_lock);
    penstock_files *all = set;
    set = NULL;
    pthread_mutex_unlock(&set_lock);
    penstock_files_free(all);
}

int outfile_try(const char *path)
{
    penstock_files *alone;
    penstock_file *file;
    struct stat about;
    if (!stat(path, &about) && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))
        return EXIT_DONE; /* the reader of a pipe would see its end */
    int status = penstock_files_new(&alone);
    if (!status)
        status = penstock_file_open(&file, alone, path);
    int code = status ? fail_status(status) : EXIT_DONE;
    penstock_files_free(alone);
    return code;
}

/* ---------------------------------------------------------------- one file -------------------- */

bool outfile_is_stdout(const char *path)
{
    static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(path, names[i]))
            return true;
    return false;
}

int outfile_open(FILE **file, const char *path)
{
    penstock_file *output;
    *file = stdout;
    if (outfile_is_stdout(path))
        return EXIT_DONE;
    *file = NULL;
    if (!outfile_set())
        return EXIT_DATA;
    int status = penstock_file_open(&output, set, path);
    if (status)
        return fail_status(status);
    return (*file = as_stream(output)) ? EXIT_DONE : fail(EXIT_DATA, "out of memory");
}

/* Of a terminal that is closed the writes may fail a little before the signal comes. */
static bool hung_up(void)
{
    for (int i = 0; i < 30 && last_errno == EIO && !interrupted(); i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    return interrupted();
}

/* After an interrupt what standard output does not take is left out, and the files are written all the same. */
static int tell_failure(FILE *file)
{
    static bool told;
    char text[512];
    snprintf(text, sizeof text, "%s", penstock_error_text());
    bool standard = file == stdout, excused = standard && hung_up();
    if (!(standard && told))
        fail(EXIT_DATA, "%s", *text ? text : strerror(last_errno ? last_errno : EIO));
    told |= standard;
    return excused ? EXIT_DONE : EXIT_DATA;
}

int outfile_check(FILE *file)
{
    if (!ferror(file))
        return EXIT_DONE;
    int code = tell_failure(file);
    __fpurge(file); /* told once: closing the file has nothing left to fail with */
    clearerr(file);
    return code;
}

int outfile_flush_stdout(void)
{
    fflush(stdout);
    return outfile_check(stdout);
}

int outfile_close(FILE *file)
{
    if (!file)
        return EXIT_DONE;
    fflush(file);
    int code = outfile_check(file);
    if (file != stdout)
        fclose(file);
    return code;
}
