/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The board of qpu_board.h: contexts ask for their platform, and get the options of the last one made. */
#include "qpu_board.h"

struct qpu_emulated_report board_report;
unsigned board_warnings, board_unfused;

static struct qpu_emulated_options board;

static struct qpu_platform emulated_board(void)
{
    board.report = &board_report;
    return qpu_platform_emulated(&board);
}

static void listen(void *user, penstock_log_level level, const char *line)
{
    (void)user;
    board_warnings += level == PENSTOCK_LOG_WARNING;
    board_unfused += strstr(line, "by transforms alone") != NULL;
}

penstock_context *board_context(struct qpu_emulated_options options)
{
    penstock_context *context = NULL;
    penstock__qpu_platform = emulated_board;
    board = options;
    board_warnings = board_unfused = 0;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.log = listen, .cache_dir = "")));
    return context;
}

void board_free(penstock_context *context)
{
    penstock_context_free(context);
    CHECK(!board_report.allocations && !board_report.locks && !board_report.maps && !board_report.enabled,
          "%u blocks of GPU memory, %u locks, %u maps are left", board_report.allocations, board_report.locks,
          board_report.maps);
}
