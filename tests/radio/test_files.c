/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Sets of files: placed together or not at all, what may not be written, stalled readers, what a kill leaves, and every
 * allocation that can fail. */
#include "core/base/memory.h"
#include "files.h"

static void check_content(const char *name, const char *want)
{
    char content[256] = "";
    size_t bytes = access(test_path(name), F_OK) ? 0 : test_read_file(name, content, sizeof content - 1);
    CHECK(bytes == strlen(want) && !strcmp(content, want), "%s is '%s', not '%s'", name, content, want);
}

static bool there(const char *name)
{
    return access(test_path(name), F_OK) == 0;
}

static penstock_file *open_file(penstock_files *files, const char *name)
{
    penstock_file *file = NULL;
    CHECK_OK(penstock_file_open(&file, files, test_path(name)));
    return file;
}

/* ---------------------------------------------------------------- placing --------------------- */

static void together_or_not_at_all(void)
{
    penstock_files *files;
    test_write_text("a", "old a");
    for (int complete = 0; complete < 2; complete++) {
        CHECK_OK(penstock_files_new(&files));
        penstock_file *a = open_file(files, "a"), *b = open_file(files, "b");
        CHECK_OK(penstock_file_write(a, "new a", 5));
        CHECK_OK(penstock_file_write(b, "new b", 5));
        check_content("a", "old a");
        CHECK(!there("b") && there(".a.penstock-part") && there(".b.penstock-part"), "beside");
        if (complete) {
            CHECK_OK(penstock_files_complete(files));
            CHECK_EQ(penstock_files_complete(files), PENSTOCK_ERR_STATE);
            CHECK_EQ(penstock_file_write(a, "x", 1), PENSTOCK_ERR_STATE);
            CHECK_EQ(penstock_file_open(&a, files, test_path("c")), PENSTOCK_ERR_STATE);
        }
        penstock_files_free(files);
        CHECK(!there(".a.penstock-part") && !there(".b.penstock-part") && !there(".a.penstock-old"), "litter");
    }
    check_content("a", "new a");
    check_content("b", "new b");
}

/* One cannot be placed, as a folder has taken its name: the others come back. */
static void one_fails(void)
{
    penstock_files *files;
    test_write_text("a", "old a");
    test_write_text("c", "old c");
    CHECK_OK(penstock_files_new(&files));
    open_file(files, "a");
    open_file(files, "new");
    open_file(files, "b-folder");
    open_file(files, "c");
    CHECK_EQ(mkdir(test_path("b-folder"), 0700), 0);
    CHECK_EQ(penstock_files_complete(files), PENSTOCK_ERR_FILE);
    CHECK(strstr(penstock_error_text(), "b-folder"), "%s", penstock_error_text());
    check_content("a", "old a");
    check_content("c", "old c");
    CHECK(!there("new") && !there(".a.penstock-part") && !there(".a.penstock-old") && !there(".c.penstock-old"),
          "left");
    penstock_files_free(files);
}

/* Standing aside as a killed program leaves them, between two renames. */
static void after_a_kill(void)
{
    penstock_files *files;
    penstock_sink *sink;
    test_write_text("k.sigmf-data", "new data");
    test_write_text(".k.sigmf-data.penstock-old", "old data");
    test_write_text(".k.sigmf-meta.penstock-old", "old meta");
    test_write_text(".k.sigmf-meta.penstock-part", "new meta");
    CHECK_OK(penstock_files_new(&files));
    int status =
        penstock_sink_open(&sink, test_path("k.sigmf-meta"), &PENSTOCK_SINK_DESC(.rate_hz = 1, .files = files));
    if (status != PENSTOCK_ERR_UNSUPPORTED) {
        CHECK_OK(status);
        penstock_sink_free(sink);
        CHECK(penstock_files_complete(files) != PENSTOCK_OK, "a sink that was not closed is not complete");
        check_content("k.sigmf-data", "old data");
        check_content("k.sigmf-meta", "old meta");
        CHECK(!there(".k.sigmf-data.penstock-old") && !there(".k.sigmf-meta.penstock-part"), "left");
    }
    penstock_files_free(files);
}

/* ---------------------------------------------------------------- what may not be written ----- */

static void refused(penstock_files *files, const char *path, int want, const char *words)
{
    penstock_file *file = (penstock_file *)(void *)files;
    CHECK_EQ(penstock_file_open(&file, files, path), want);
    CHECK(!file && strstr(penstock_error_text(), words), "'%s' does not say '%s'", penstock_error_text(), words);
}

static void refusals(void)
{
    penstock_files *files, *others;
    test_write_text("in", "input");
    test_write_text("locked", "x");
    CHECK_EQ(link(test_path("in"), test_path("hard")), 0);
    CHECK_EQ(symlink("in", test_path("soft")), 0);
    CHECK_EQ(symlink("loop", test_path("loop")), 0);
    CHECK_OK(penstock_files_new(&files));
    CHECK_OK(penstock_files_new(&others));
    CHECK_OK(penstock_files_protect(files, test_path("in")));
    CHECK_OK(penstock_files_protect(files, test_path("absent")));
    refused(files, test_path("in"), PENSTOCK_ERR_ARGUMENT, "is an input");
    refused(files, test_path("hard"), PENSTOCK_ERR_ARGUMENT, "is an input");
    refused(files, test_path("soft"), PENSTOCK_ERR_ARGUMENT, "is an input");
    open_file(files, "locked");
    refused(files, test_path("locked"), PENSTOCK_ERR_ARGUMENT, "are one file");
    refused(others, test_path("locked"), PENSTOCK_ERR_FILE, "another program");
    CHECK_EQ(penstock_files_protect(files, test_path("locked")), PENSTOCK_ERR_ARGUMENT);
    open_file(files, "fresh");
    refused(files, test_path("./fresh"), PENSTOCK_ERR_ARGUMENT, "are one file");
    refused(files, "", PENSTOCK_ERR_ARGUMENT, "no file named");
    refused(files, NULL, PENSTOCK_ERR_ARGUMENT, "no file named");
    refused(files, test_folder, PENSTOCK_ERR_FILE, "Is a directory");
    refused(files, test_path("loop"), PENSTOCK_ERR_FILE, "symbolic links");
    refused(files, test_path("no/x"), PENSTOCK_ERR_FILE, "No such file");
    refused(NULL, test_path("x"), PENSTOCK_ERR_ARGUMENT, "NULL");
    CHECK_EQ(penstock_file_open(NULL, files, "x"), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_files_new(NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_files_complete(NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_files_protect(NULL, "x"), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_files_protect_source(files, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_file_write(NULL, "x", 1), PENSTOCK_ERR_ARGUMENT);
    penstock_files_stop(NULL);
    penstock_files_free(NULL);
    penstock_files_free(files);
    penstock_files_free(others);
    check_content("in", "input");
    check_content("locked", "x");
}

static void source_files(void)
{
    penstock_files *files;
    penstock_source *source;
    test_write_text("recording", "01234567");
    CHECK_OK(
        penstock_source_open(&source, NULL, test_path("recording"), &PENSTOCK_SOURCE_DESC(.raw = true, .rate_hz = 1)));
    CHECK_OK(penstock_files_new(&files));
    CHECK_OK(penstock_files_protect_source(files, source));
    refused(files, test_path("recording"), PENSTOCK_ERR_ARGUMENT, "is an input");
    penstock_files_free(files);
    penstock_source_free(source);
}

/* The longest name that a file can have, which leaves no room for an ending. */
static void long_name(void)
{
    char name[256];
    penstock_files *files;
    memset(name, 'n', 255);
    name[255] = '\0';
    CHECK_OK(penstock_files_new(&files));
    CHECK_OK(penstock_file_write(open_file(files, name), "long", 4));
    CHECK_OK(penstock_files_complete(files));
    check_content(name, "long");
    penstock_files_free(files);
}

/* ---------------------------------------------------------------- stalled readers ------------- */

static void stalled_reader(void)
{
    static char bytes[1 << 20];
    int ends[2];
    char name[32];
    penstock_files *files;
    penstock_file *file;
    CHECK_EQ(pipe(ends), 0);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[1]);
    CHECK_OK(penstock_files_new(&files));
    CHECK_OK(penstock_file_open(&file, files, name));
    CHECK_OK(penstock_file_write(file, bytes, 1000));
    penstock_files_stop(files);
    CHECK_EQ(penstock_file_write(file, bytes, sizeof bytes), PENSTOCK_ERR_TIMEOUT);
    CHECK(strstr(penstock_error_text(), "takes nothing"), "%s", penstock_error_text());
    CHECK_EQ(penstock_file_write(file, bytes, 1), PENSTOCK_ERR_TIMEOUT);
    CHECK(penstock_files_complete(files) != PENSTOCK_OK, "not complete");
    penstock_files_free(files);
    close(ends[0]);
    close(ends[1]);
}

/* ---------------------------------------------------------------- failures -------------------- */

static int write_two(void)
{
    penstock_files *files = NULL;
    penstock_file *file;
    int status = penstock_files_new(&files);
    if (!status)
        status = penstock_files_protect(files, test_path("in"));
    if (!status)
        status = penstock_file_open(&file, files, test_path("a"));
    if (!status)
        status = penstock_file_open(&file, files, test_path("fresh"));
    if (!status)
        status = penstock_files_complete(files);
    penstock_files_free(files);
    return status;
}

static void every_allocation_fails_once(void)
{
    long live = penstock__memory_live(), k = 0;
    int status = PENSTOCK_ERR_MEMORY;
    test_write_text("a", "old a");
    for (; status && k < 100; k++) {
        penstock__memory_fail_at(k);
        status = write_two();
        penstock__memory_fail_at(-1);
        CHECK(!status || status == PENSTOCK_ERR_MEMORY, "%ld: %d", k, status);
        CHECK_EQ(penstock__memory_live(), live);
        check_content("a", status ? "old a" : "");
        CHECK(!there(".a.penstock-part") && !there(".fresh.penstock-part"), "left");
    }
    CHECK(k > 8, "only %ld allocations", k);
}

int main(void)
{
    if (!test_make_folder())
        return test_skip("no folder for temporary files");
    together_or_not_at_all();
    one_fails();
    after_a_kill();
    refusals();
    source_files();
    long_name();
    stalled_reader();
    every_allocation_fails_once();
    test_remove_folder();
    return test_finish();
}
