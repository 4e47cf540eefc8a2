/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The doctor on GNU Radio: which Python has it, whether that finds our module and the one of this installation, and
 * whether GNU Radio Companion finds our blocks, once and from this installation. Python itself is asked.
 */
#include "doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATE = 3 * PATH_MAX };

#ifdef PENSTOCK_WHY_NO_GNURADIO
void doctor_gnuradio(void)
{
    doctor_tell(MINOR, "gnuradio", "not in this build: " PENSTOCK_WHY_NO_GNURADIO,
                "install gnuradio-dev and pybind11-dev and build again; the command works without them");
}
#else

/* What a Python says of itself, one "key value" a line. */
static const char question[] =
    "import os, sys\n"
    "print('python', sys.executable)\n"
    "try:\n"
    "    from gnuradio import gr\n"
    "except Exception as error:\n"
    "    print('no-gnuradio', str(error).replace(chr(10), ' '))\n"
    "    sys.exit()\n"
    "print('gnuradio', gr.version())\n"
    "try:\n"
    "    from gnuradio import penstock\n"
    "    print('module', os.path.dirname(os.path.realpath(penstock.__file__)))\n"
    "except Exception as error:\n"
    "    print('no-module', str(error).replace(chr(10), ' '))\n"
    "paths = [os.environ.get('GRC_BLOCKS_PATH', '')]\n"
    "paths += [gr.prefs().get_string('grc', key + '_blocks_path', '') for key in ('local', 'global')]\n"
    "seen = set()\n"
    "for path in ':'.join(paths).split(':'):\n"
    "    real = os.path.realpath(os.path.expanduser(path))\n"
    "    if path and real not in seen:\n"
    "        seen.add(real)\n"
    "        if any(name.startswith('penstock_') for _, _, names in os.walk(real) for name in names):\n"
    "            print('blocks', real)\n"
    "        elif path in paths[0].split(':') and not os.path.isdir(real):\n"
    "            print('stale', real)\n";

/* The rest of the line that starts with `key`, the `index`th of them; false if there are not so many. */
static bool find(char value[PATH_MAX], const char *answer, const char *key, size_t index)
{
    size_t length = strlen(key);
    for (const char *line = answer; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (!strncmp(line, key, length) && line[length] == ' ' && !index--) {
            snprintf(value, PATH_MAX, "%.*s", (int)strcspn(line + length + 1, "\n"), line + length + 1);
            return true;
        }
    return false;
}

static bool ask(const char *python, char *answer, size_t capacity)
{
    return doctor_ask((const char *const[]){python, "-c", question, NULL}, answer, capacity);
}

/* The python3 that a flowgraph is started with, or else the one that GNU Radio is installed for. */
static bool find_python(char *answer, size_t capacity)
{
    char first[PATH_MAX] = "none", state[STATE], value[PATH_MAX];
    if (ask("python3", answer, capacity)) {
        if (find(value, answer, "gnuradio", 0))
            return true;
        find(first, answer, "python", 0);
    }
    bool other = ask(PENSTOCK_GNURADIO_PYTHON, answer, capacity) && find(value, answer, "gnuradio", 0);
    snprintf(state, sizeof state, "python3 on PATH (%s) has no GNU Radio%s%s", first, other ? "; that of " : "",
             other ? PENSTOCK_GNURADIO_PYTHON " has it" : "");
    doctor_tell(MINOR, "python", state,
                other ? "run flowgraphs with " PENSTOCK_GNURADIO_PYTHON ", or put its folder first on PATH"
                      : "install GNU Radio 3.10: apt install gnuradio");
    return other;
}

/* The folder of this installation, or of this build, or "". */
static void own_folder(char folder[2 * PATH_MAX], const char *installed, const char *built)
{
    char prefix[PATH_MAX], real[PATH_MAX];
    const char *const places[] = {installed, built};
    doctor_prefix(prefix);
    for (size_t i = 0; i < 2; i++) {
        snprintf(folder, 2 * PATH_MAX, "%s/%s", prefix, places[i]);
        if (*places[i] && realpath(folder, real)) {
            snprintf(folder, 2 * PATH_MAX, "%s", real);
            return;
        }
    }
    *folder = '\0';
}

static void check_module(const char *answer)
{
    char own[2 * PATH_MAX], state[STATE], cure[STATE], module[PATH_MAX], why[PATH_MAX] = "";
    bool found = find(module, answer, "module", 0), ours;
    own_folder(own, PENSTOCK_PYTHON_DIR, "test_modules/gnuradio/penstock");
    find(why, answer, "no-module", 0);
    ours = found && (!*own || !strcmp(own, module));
    if (!found)
        snprintf(state, sizeof state, "\"from gnuradio import penstock\" fails: %s", why);
    else
        snprintf(state, sizeof state, "gnuradio.penstock is in %s%s", module, ours ? "" : ", another installation");
    if (*own) {
        own[strlen(own) - strlen("/gnuradio/penstock")] = '\0'; /* the folder with the package gnuradio */
        doctor_export(cure, sizeof cure, "PYTHONPATH", own);
    }
    doctor_tell(ours ? FINE : MINOR, "python", state,
                *own ? cure : "install the GNU Radio module: package gr-penstock, or cmake --install");
}

static void check_blocks(const char *answer)
{
    char own[2 * PATH_MAX], state[STATE], cure[STATE], folder[PATH_MAX];
    size_t count = 0;
    bool ours = false;
    own_folder(own, PENSTOCK_GRC_DIR, "");
    for (; find(folder, answer, "stale", count); count++) {
        snprintf(state, sizeof state, "GRC_BLOCKS_PATH names %s, which is not there", folder);
        doctor_tell(MINOR, "companion", state, "take it out of GRC_BLOCKS_PATH, or unset that");
    }
    for (count = 0; find(folder, answer, "blocks", count); count++)
        ours |= !strcmp(folder, own);
    if (count == 1 && (ours || !*own)) {
        find(folder, answer, "blocks", 0);
        snprintf(state, sizeof state, "GNU Radio Companion finds the blocks in %s", folder);
        doctor_tell(FINE, "companion", state, NULL);
        return;
    }
    for (size_t i = 0; find(folder, answer, "blocks", i); i++)
        if (strcmp(folder, own)) {
            snprintf(state, sizeof state, "GNU Radio Companion finds blocks of another installation, in %s", folder);
            snprintf(cure, sizeof cure, "uninstall that one, or take %s out of GRC_BLOCKS_PATH", folder);
            doctor_tell(MINOR, "companion", state, cure);
        }
    if (!ours) {
        doctor_export(cure, sizeof cure, "GRC_BLOCKS_PATH", own);
        doctor_tell(MINOR, "companion", "GNU Radio Companion does not find the blocks of this installation",
                    *own ? cure : "install them: package gr-penstock, or cmake --install");
    }
}

void doctor_gnuradio(void)
{
    static char answer[16 * PATH_MAX];
    char version[PATH_MAX], python[PATH_MAX] = "", state[STATE];
    if (!find_python(answer, sizeof answer))
        return;
    find(version, answer, "gnuradio", 0);
    find(python, answer, "python", 0);
    snprintf(state, sizeof state, "%s of %s", version, python);
    doctor_tell(FINE, "gnuradio", state, NULL);
    check_module(answer);
    check_blocks(answer);
}
#endif
