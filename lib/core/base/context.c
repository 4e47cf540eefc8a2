/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Contexts: what plans share, from the description to the end. */
#include "core/base/context.h"
#include "core/base/cache_bound.h"
#include "core/base/description.h"
#include "core/base/fork.h"
#include "core/base/process_exit.h"
#include "core/choice/wisdom.h"
#include "core/device/backends.h"
#include "core/device/background.h"
#include "core/device/buffer.h"
#include "core/device/device_group.h"
#include "core/device/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS    1024
#define MAX_PATIENCE_S 1e6

static char *join(const char *folder, const char *name)
{
    size_t bytes = strlen(folder) + strlen(name) + 2;
    char *path = penstock__alloc(bytes);
    if (path)
        snprintf(path, bytes, "%s/%s", folder, name);
    return path;
}

/* Environment variable `name`, or NULL where it is unset or empty. */
static const char *environment(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static int find_cache_dir(char **folder, const char *wanted)
{
    const char *base;
    if (!wanted)
        wanted = getenv("PENSTOCK_CACHE_DIR");
    if (wanted && !*wanted)
        return PENSTOCK_OK;
    if (wanted)
        *folder = penstock__strdup(wanted);
    else if ((base = environment("XDG_CACHE_HOME")) && *base == '/') /* the XDG specification ignores relative ones */
        *folder = join(base, "penstock");
    else if ((base = environment("HOME")))
        *folder = join(base, ".cache/penstock");
    else
        return PENSTOCK_OK;
    return *folder ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

static int find_kernel_path(char **folder, const char *wanted)
{
    if (!wanted)
        wanted = getenv("PENSTOCK_KERNEL_PATH");
    if (wanted && *wanted && !(*folder = penstock__strdup(wanted)))
        return PENSTOCK_ERR_MEMORY;
    return PENSTOCK_OK;
}

/* NULL stands for all defaults. */
static int read_desc(penstock_context_desc *known, const penstock_context_desc *desc)
{
    int status = penstock__description_read(known, sizeof *known, desc ? desc : &PENSTOCK_CONTEXT_DESC(0),
                                            "penstock_context_desc");
    if (!status && !(known->driver_patience_s >= 0 && known->driver_patience_s <= MAX_PATIENCE_S))
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "driver_patience_s %g is impossible: 0 to %g are possible",
                               known->driver_patience_s, MAX_PATIENCE_S);
    if (!status && known->threads > MAX_THREADS)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%u threads asked for; at most %u are possible", known->threads,
                               MAX_THREADS);
    return status;
}

int penstock_context_new(penstock_context **context, const penstock_context_desc *desc)
{
    penstock_context *new;
    penstock_context_desc known;
    unsigned processors = penstock__processors();
    int status;
    if (!context)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_context_new: no place for the context (NULL)");
    *context = NULL;
    if ((status = read_desc(&known, desc)))
        return status;
    if (!(new = penstock__calloc(1, sizeof *new)))
        return PENSTOCK_ERR_MEMORY;
    new->threads = known.threads ? known.threads : processors;
    if (new->threads > MAX_THREADS)
        new->threads = MAX_THREADS;
    new->log = known.log;
    new->log_user = known.log_user;
    new->cpu_while_compiling = known.cpu_while_compiling;
    new->patience_s = known.driver_patience_s;
    new->begins = known.cpu_while_compiling || known.auto_cpu_while_compiling;
    pthread_mutex_init(&new->log_lock, NULL);
    pthread_mutex_init(&new->table_lock, NULL);
    penstock__table_changed_init(new);
    pthread_mutex_init(&new->host_lock, NULL);
    pthread_mutex_init(&new->choice_lock, NULL);
    pthread_mutex_init(&new->wisdom_lock, NULL);
    pthread_mutex_init(&new->tune_lock, NULL);
    penstock__cache_bound_init(new);
    new->kinds = penstock__calloc(penstock__backend_count, sizeof *new->kinds);
    status = new->kinds ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
    if (status || (status = find_cache_dir(&new->cache_dir, known.cache_dir)) ||
        (status = find_kernel_path(&new->kernel_path, known.kernel_path)) ||
        (status = penstock__pool_new(&new->pool, new->threads, new->threads <= processors)) ||
        (status = penstock__fork_add(new))) {
        penstock_context_free(new);
        return status;
    }
    penstock__exit_awaits();
    *context = new;
    return PENSTOCK_OK;
}

/* What is left of a context once nobody uses it. */
static void destroy(penstock_context *context)
{
    penstock__fork_remove(context);
    penstock__wisdom_free(context);
    penstock__host_blocks_free(context);
    penstock__buffers_free(context);
    penstock__devices_free(context);
    penstock__groups_free(context);
    penstock__pool_free(context->pool);
    penstock__free(context->kernel_path);
    penstock__free(context->cache_dir);
    pthread_mutex_destroy(&context->wisdom_lock);
    pthread_mutex_destroy(&context->tune_lock);
    pthread_mutex_destroy(&context->choice_lock);
    pthread_mutex_destroy(&context->host_lock);
    pthread_cond_destroy(&context->table_changed);
    pthread_mutex_destroy(&context->table_lock);
    pthread_mutex_destroy(&context->log_lock);
    penstock__free(context);
}

/* A driver that hangs keeps no more than the context itself. */
void penstock_context_free(penstock_context *context)
{
    if (!context)
        return;
    if (penstock__background_end(context, destroy))
        destroy(context);
}
