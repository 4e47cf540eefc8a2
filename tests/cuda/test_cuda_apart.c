/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Kernels compiled side by side in processes of their own: by a compiler of the test, with programs in the helper's
 * place that fail in all sorts of ways, and with every call of the system failing once. (By the real helper and NVRTC:
 * test_cuda_apart_nvrtc.c.)
 */
#include "backends/cuda/cuda.h"
#include "core/base/memory.h"
#include "helper_script.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define KERNELS 3

/* ---------------------------------------------------------------- calls that fail ------------- */

static long countdown = -1; /* calls until one fails; < 0: none does */
static int failure;         /* its errno, where there is a choice */
static bool reached;        /* by the last compilation */
static int processors = KERNELS;

static bool fails(void)
{
    return countdown >= 0 && countdown-- == 0;
}

#define WRAP(type, name, parameters, arguments, result) \
    type __real_##name parameters;                      \
    type __wrap_##name parameters;                      \
    type __wrap_##name parameters                       \
    {                                                   \
        if (!fails())                                   \
            return __real_##name arguments;             \
        errno = failure;                                \
        return result;                                  \
    }
WRAP(int, memfd_create, (const char *name, unsigned flags), (name, flags), -1)
WRAP(ssize_t, write, (int file, const void *from, size_t bytes), (file, from, bytes), -1)
WRAP(ssize_t, read, (int file, void *to, size_t bytes), (file, to, bytes), -1)
WRAP(off_t, lseek, (int file, off_t to, int whence), (file, to, whence), -1)
WRAP(int, pipe2, (int ends[2], int flags), (ends, flags), -1)
WRAP(int, poll, (struct pollfd * files, nfds_t count, int wait), (files, count, wait), -1)
WRAP(int, access, (const char *path, int mode), (path, mode), -1)
WRAP(int, posix_spawn_file_actions_init, (posix_spawn_file_actions_t * actions), (actions), ENOMEM)
WRAP(int, posix_spawn_file_actions_adddup2, (posix_spawn_file_actions_t * actions, int from, int to),
     (actions, from, to), ENOMEM)
WRAP(int, posix_spawn_file_actions_addopen,
     (posix_spawn_file_actions_t * actions, int file, const char *path, int flags, mode_t mode),
     (actions, file, path, flags, mode), ENOMEM)
WRAP(int, posix_spawnattr_init, (posix_spawnattr_t * attributes), (attributes), ENOMEM)
WRAP(int, posix_spawn,
     (pid_t * process, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
      char *const arguments[], char *const variables[]),
     (process, path, actions, attributes, arguments, variables), EAGAIN)

/* Has no failure but this while the process is there. */
pid_t __real_waitpid(pid_t process, int *status, int options);
pid_t __wrap_waitpid(pid_t process, int *status, int options);
pid_t __wrap_waitpid(pid_t process, int *status, int options)
{
    if (!fails())
        return __real_waitpid(process, status, options);
    errno = EINTR;
    return -1;
}

int __real_fcntl(int file, int command, int argument);
int __wrap_fcntl(int file, int command, int argument);
int __wrap_fcntl(int file, int command, int argument)
{
    if (!fails())
        return __real_fcntl(file, command, argument);
    errno = EMFILE;
    return -1;
}

int __wrap_sched_getaffinity(pid_t process, size_t bytes, cpu_set_t *set);
int __wrap_sched_getaffinity(pid_t process, size_t bytes, cpu_set_t *set)
{
    (void)process;
    CPU_ZERO_S(bytes, set);
    for (int i = 0; i < processors; i++)
        CPU_SET_S((size_t)i, bytes, set);
    return 0;
}

/* ---------------------------------------------------------------- a compiler ------------------ */

static atomic_int here; /* kernels compiled in this process */

struct _nvrtcProgram {
    const char *source;
};

static nvrtcResult create(nvrtcProgram *program, const char *source, const char *name, int header_count,
                          const char *const *headers, const char *const *header_names)
{
    (void)name, (void)header_count, (void)headers, (void)header_names;
    *program = malloc(sizeof **program);
    (*program)->source = source;
    return 0;
}

static nvrtcResult destroy(nvrtcProgram *program)
{
    free(*program);
    return 0;
}

static nvrtcResult compile(nvrtcProgram program, int option_count, const char *const *options)
{
    (void)option_count, (void)options;
    atomic_fetch_add(&here, 1);
    return strstr(program->source, "wrong") ? 6 : 0;
}

static nvrtcResult size(nvrtcProgram program, size_t *bytes)
{
    *bytes = strlen(program->source);
    return 0;
}

static nvrtcResult image(nvrtcProgram program, char *content)
{
    memcpy(content, program->source, strlen(program->source));
    return 0;
}

static nvrtcResult no_log(nvrtcProgram program, size_t *bytes)
{
    (void)program;
    *bytes = 0;
    return 0;
}

static const char *error_string(nvrtcResult code)
{
    return code == 6 ? "NVRTC_ERROR_COMPILATION" : "another error";
}

static struct cuda_api api = {.nvrtc = {.CreateProgram = create,
                                        .DestroyProgram = destroy,
                                        .CompileProgram = compile,
                                        .GetCUBINSize = size,
                                        .GetCUBIN = image,
                                        .GetProgramLogSize = no_log,
                                        .GetErrorString = error_string},
                              .nvrtc_major = 13};
static struct cuda_device opened = {.api = &api};
static struct penstock_device device = {.name = "cuda:0", .priv = &opened};

/* ---------------------------------------------------------------- helpers --------------------- */

/* The answer of one that is right: each source has 32 bytes. */
#define HEAD  "printf 'nvrtc 1\\0\\040\\0\\0\\0\\0\\0\\0\\0'"
#define RIGHT HEAD "; cat"

static int open_files(void)
{
    DIR *listing = opendir("/proc/self/fd");
    int count = 0;
    while (listing && readdir(listing))
        count++;
    if (listing)
        closedir(listing);
    return count;
}

/* Compiles three and checks that nothing is left behind, and the images where there is no error. */
static int compile_three(const char *const *sources)
{
    struct cuda_image images[KERNELS] = {{sources[0]}, {sources[1]}, {sources[2]}};
    int files = open_files();
    long live = penstock__memory_live();
    int status = penstock__cuda_compile_all(images, KERNELS, &device, "--gpu-architecture=sm_90");
    reached = countdown < 0;
    countdown = -1;
    penstock__memory_fail_at(-1);
    for (int i = 0; i < KERNELS; i++) {
        if (status)
            CHECK(!images[i].image, "an image after an error");
        else
            CHECK(images[i].image && images[i].bytes == strlen(sources[i]) + 1 && !strcmp(images[i].image, sources[i]),
                  "kernel %d: %zu bytes", i, images[i].bytes);
        penstock__free(images[i].image);
    }
    CHECK_EQ(open_files(), files);
    CHECK_EQ(penstock__memory_live(), live);
    CHECK(__real_waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "a process is left");
    return status;
}

static const char *const kernels[KERNELS] = {"a kernel that has 32 characters.", "a second one of just as many ...",
                                             "and the third of them, no more ."};

/* ---------------------------------------------------------------- cases ----------------------- */

static void good(void)
{
    set_helper(RIGHT);
    atomic_store(&here, 0);
    CHECK_OK(compile_three(kernels));
    CHECK_EQ(runs(), KERNELS - 1);
    CHECK_EQ(atomic_load(&here), 1);
}

/* As many at once as there are processors and threads of the context; the one here compiles the others. */
static void few_processors(void)
{
    penstock_context *all = device.context;
    processors = 1;
    atomic_store(&here, 0);
    CHECK_OK(compile_three(kernels));
    CHECK_EQ(runs(), 0);
    CHECK_EQ(atomic_load(&here), KERNELS);
    processors = KERNELS;
    CHECK_OK(penstock_context_new(&device.context, &PENSTOCK_CONTEXT_DESC(.threads = 1, .cache_dir = "")));
    CHECK_OK(compile_three(kernels));
    CHECK_EQ(runs(), 0);
    penstock_context_free(device.context);
    device.context = all;
}

static void faults(void)
{
    static const char *const lines[] = {
        "exit 1",
        "exit 127",
        "kill -KILL $$",
        "exec >&-; exec sleep 100", /* neither an answer nor an end */
        "true",
        "cat",                                                /* no head */
        "printf 'nvrtc 2\\0\\040\\0\\0\\0\\0\\0\\0\\0'; cat", /* another version's */
        "printf 'nvrtc 1\\0\\040\\0\\0'",
        HEAD "; head -c 31",
        "printf 'nvrtc 1\\0\\0\\0\\0\\0\\0\\0\\0\\0'",
        "printf 'nvrtc 1\\0\\377\\377\\377\\377\\377\\377\\377\\377'; cat", /* more than there is memory */
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        set_helper(lines[i]);
        atomic_store(&here, 0);
        CHECK_OK(compile_three(kernels));
        CHECK_EQ(runs(), KERNELS - 1);
        CHECK_EQ(atomic_load(&here), KERNELS);
    }
    set_helper(RIGHT "; echo more; exec sleep 100"); /* all that is asked for, and then some */
    CHECK_OK(compile_three(kernels));
    CHECK_EQ(runs(), KERNELS - 1);
    setenv("PENSTOCK_COMPILE", "/none/penstock-compile", 1);
    atomic_store(&here, 0);
    CHECK_OK(compile_three(kernels));
    CHECK_EQ(atomic_load(&here), KERNELS);
}

/* What crashed there is not tried here. */
static void crashes(void)
{
    static const char *const lines[] = {"kill -SEGV $$", "kill -ABRT $$"}, *const signals[] = {"signal 11", "signal 6"};
    for (size_t i = 0; i < 2; i++) {
        set_helper(lines[i]);
        CHECK_EQ(compile_three(kernels), PENSTOCK_ERR_DEVICE);
        CHECK(strstr(penstock_error_text(), signals[i]), "%s", penstock_error_text());
        runs();
    }
}

static void wrong_source(void)
{
    const char *sources[KERNELS] = {kernels[0], kernels[1], "this one of thirty-two is wrong."};
    set_helper("exit 1");
    CHECK_EQ(compile_three(sources), PENSTOCK_ERR_DEVICE);
    CHECK(strstr(penstock_error_text(), "NVRTC_ERROR_COMPILATION"), "%s", penstock_error_text());
    runs();
}

/* An application that does not care for its children takes the exit status away. */
static void children_are_ignored(void)
{
    signal(SIGCHLD, SIG_IGN);
    good();
    faults();
    set_helper("kill -SEGV $$"); /* nobody can tell what it was */
    CHECK_OK(compile_three(kernels));
    runs();
    signal(SIGCHLD, SIG_DFL);
}

/* One without input, output and errors of its own. */
static void without_standard_files(void)
{
    pid_t child = fork();
    int status = -1;
    if (!child) {
        for (int file = 0; file <= STDERR_FILENO; file++)
            close(file);
        set_helper(RIGHT);
        atomic_store(&here, 0);
        _exit(compile_three(kernels) || atomic_load(&here) != 1 ? 1 : test_failures != 0);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status),
          "without standard files: status %d", status);
    runs();
}

static void sweep_calls(int with)
{
    long k = 0;
    set_helper(RIGHT);
    for (failure = with, reached = true; reached && k < 500; k++) {
        countdown = k;
        CHECK(!compile_three(kernels), "call %ld: %s", k, penstock_error_text());
    }
    CHECK(k > 25 && k < 500, "%ld calls", k);
    printf("%s: %ld calls\n", strerror(with), k);
    runs();
}

static void sweep_allocations(void)
{
    int status = PENSTOCK_ERR_MEMORY;
    long k = 0;
    set_helper(RIGHT);
    for (; k < 100 && (status || k < 4); k++) {
        penstock__memory_fail_at(k);
        status = compile_three(kernels);
        CHECK(!status || status == PENSTOCK_ERR_MEMORY, "allocation %ld: %d", k, status);
    }
    CHECK(k < 100, "%ld allocations", k);
    runs();
}

static void *compile_often(void *failed)
{
    for (int i = 0; i < 5; i++) {
        struct cuda_image images[KERNELS] = {{kernels[0]}, {kernels[1]}, {kernels[2]}};
        if (penstock__cuda_compile_all(images, KERNELS, &device, "--gpu-architecture=sm_90"))
            atomic_fetch_add((atomic_int *)failed, 1);
        for (int k = 0; k < KERNELS; k++) {
            if (!images[k].image || strcmp(images[k].image, kernels[k]))
                atomic_fetch_add((atomic_int *)failed, 1);
            penstock__free(images[k].image);
        }
    }
    return NULL;
}

static void threads(void)
{
    pthread_t thread[4];
    atomic_int failed = 0;
    int files = open_files();
    set_helper(RIGHT);
    for (int i = 0; i < 4; i++)
        CHECK(!pthread_create(&thread[i], NULL, compile_often, &failed), "no thread");
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    CHECK_EQ(atomic_load(&failed), 0);
    CHECK_EQ(open_files(), files);
    CHECK(__real_waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "a process is left");
    CHECK_EQ(runs(), 4 * 5 * (KERNELS - 1));
}

int main(void)
{
    CHECK_OK(penstock_context_new(&device.context, &PENSTOCK_CONTEXT_DESC(.threads = KERNELS, .cache_dir = "")));
    CHECK(test_make_folder(), "no temporary folder");
    helper_script_init("PENSTOCK_COMPILE");
    good();
    few_processors();
    faults();
    crashes();
    wrong_source();
    children_are_ignored();
    without_standard_files();
    sweep_calls(EIO);
    sweep_calls(EINTR);
    sweep_allocations();
    threads();
    test_remove_folder();
    penstock_context_free(device.context);
    CHECK_EQ(penstock__memory_live(), 0);
    return test_finish();
}
