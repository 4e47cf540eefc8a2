/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Taps by name or from a file. */
#include "taps.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_HZ 1e-3
#define MOST_HZ  1e10
#define BETWEEN  0.995 /* what a ripple may be larger by between the points where it is measured */

enum { MOST_TAPS = 1 << 20, RRC_SYMBOLS = 16 };

static const struct design {
    const char *name, *form;
    penstock_band band;
    int numbers;
} designs[] = {
    {"lowpass", "lowpass:CUT:TRANS", PENSTOCK_LOW_PASS, 2},
    {"highpass", "highpass:CUT:TRANS", PENSTOCK_HIGH_PASS, 2},
    {"bandpass", "bandpass:LOW:HIGH:TRANS", PENSTOCK_BAND_PASS, 3},
    {"bandreject", "bandreject:LOW:HIGH:TRANS", PENSTOCK_BAND_REJECT, 3},
};

/* `wanted` numbers between colons, and nothing else. */
static bool parse_numbers(double *numbers, int wanted, const char *text)
{
    return number_read_list(text, ':', numbers, (size_t)wanted);
}

static int make_design(struct taps *taps, const struct design *design, const char *text, double rate_hz,
                       double attenuation_db)
{
    double hertz[3] = {0, 0, 0};
    if (!parse_numbers(hertz, design->numbers, text + strlen(design->name) + 1))
        return fail(EXIT_USAGE, "--taps '%s': write %s, all in hertz", text, design->form);
    double transition = hertz[design->numbers - 1] / rate_hz;
    if (!penstock_taps_length(transition, attenuation_db))
        return fail(EXIT_USAGE, "--taps '%s': no filter has this transition at %g samples/s and %g dB", text, rate_hz,
                    attenuation_db);
    if (!(taps->count = penstock_taps_length(transition, fmin(attenuation_db + 16, 200))))
        taps->count = MOST_TAPS;
    if (!(taps->real_taps = malloc(taps->count * sizeof *taps->real_taps)))
        return fail(EXIT_DATA, "out of memory");
    int status = penstock_taps_measured(taps->real_taps, &taps->count, design->band, hertz[0] / rate_hz,
                                        hertz[1] / rate_hz, transition, attenuation_db);
    return status ? fail(EXIT_USAGE, "--taps '%s' at %g samples/s: %s", text, rate_hz, penstock_error_text())
                  : EXIT_DONE;
}

/* The fewest taps, by trial from the usual estimate on, whose ripple in both bands is the attenuation. */
static int make_equiripple(struct taps *taps, const char *text, double rate_hz, double attenuation_db)
{
    enum { MOST = 2047, STEP = 2 };
    double hertz[2], ripple = 1;
    if (!parse_numbers(hertz, 2, text + strlen("equiripple:")))
        return fail(EXIT_USAGE, "--taps '%s': write equiripple:CUT:TRANS, both in hertz", text);
    double edges[] = {(hertz[0] - hertz[1] / 2) / rate_hz, (hertz[0] + hertz[1] / 2) / rate_hz};
    double estimate = fmax((attenuation_db - 13) / (14.6 * hertz[1] / rate_hz), 2);
    if (!(hertz[1] > 0) || !(estimate < MOST))
        return fail(EXIT_USAGE, "--taps '%s': no equiripple filter of %d taps has this transition and %g dB", text,
                    MOST, attenuation_db);
    if (!(taps->real_taps = malloc(MOST * sizeof *taps->real_taps)))
        return fail(EXIT_DATA, "out of memory");
    for (taps->count = (size_t)estimate | 1; taps->count <= MOST; taps->count += STEP) {
        int status = penstock_taps_equiripple(taps->real_taps, taps->count, PENSTOCK_LOW_PASS, edges, 1, &ripple);
        if (status == PENSTOCK_ERR_UNSUPPORTED)
            return fail(EXIT_USAGE,
                        "--taps '%s' at %g samples/s: no equiripple filter with %g dB is found: lower "
                        "--attenuation, or take lowpass",
                        text, rate_hz, attenuation_db);
        if (status)
            return fail(EXIT_USAGE, "--taps '%s' at %g samples/s: %s", text, rate_hz, penstock_error_text());
        if (-20 * log10(ripple / BETWEEN) >= attenuation_db)
            return EXIT_DONE;
    }
    return fail(EXIT_USAGE, "--taps '%s': no equiripple filter of %d taps has %g dB", text, MOST, attenuation_db);
}

static int make_rrc(struct taps *taps, const char *text, double rate_hz)
{
    double numbers[2];
    if (!parse_numbers(numbers, 2, text + strlen("rrc:")) || !(numbers[0] > 0) ||
        !(RRC_SYMBOLS * rate_hz / numbers[0] < MOST_TAPS))
        return fail(EXIT_USAGE, "--taps '%s': write rrc:SYMBOL_RATE:ROLLOFF", text);
    taps->count = (size_t)ceil(RRC_SYMBOLS * rate_hz / numbers[0]) | 1;
    if (!(taps->real_taps = malloc(taps->count * sizeof *taps->real_taps)))
        return fail(EXIT_DATA, "out of memory");
    int status = penstock_taps_root_raised_cosine(taps->real_taps, taps->count, rate_hz / numbers[0], numbers[1]);
    return status ? fail(EXIT_USAGE, "--taps '%s': %s", text, penstock_error_text()) : EXIT_DONE;
}

/* 1: a tap, 0: an empty line or a comment, -1: neither. */
static int parse_tap(penstock_cf32 *tap, const char *line)
{
    char *end;
    line += strspn(line, " \t\r\n");
    if (!*line || *line == '#')
        return 0;
    *tap = (penstock_cf32){strtof(line, &end), 0};
    if (end == line)
        return -1;
    line = end + strspn(end, " \t,\r\n");
    if (*line) {
        tap->im = strtof(line, &end);
        if (end == line)
            return -1;
        line = end + strspn(end, " \t\r\n");
    }
    return *line || !isfinite(tap->re) || !isfinite(tap->im) ? -1 : 1;
}

static int add_tap(struct taps *taps, penstock_cf32 tap, const char *path)
{
    if (taps->count == MOST_TAPS)
        return fail(EXIT_DATA, "%s has more than %d taps", path, MOST_TAPS);
    if (!(taps->count & (taps->count - 1))) { /* room doubles at every power of two */
        penstock_cf32 *more = realloc(taps->complex_taps, (2 * taps->count + 1) * sizeof *more);
        if (!more)
            return fail(EXIT_DATA, "out of memory");
        taps->complex_taps = more;
    }
    taps->complex_taps[taps->count++] = tap;
    return EXIT_DONE;
}

static int read_lines(struct taps *taps, FILE *file, const char *path)
{
    char *line = NULL;
    size_t room = 0;
    int code = EXIT_DONE;
    for (unsigned number = 1; !code && getline(&line, &room, file) >= 0; number++) {
        penstock_cf32 tap;
        int found = parse_tap(&tap, line);
        if (found < 0)
            code = fail(EXIT_DATA, "%s: line %u is no tap: write RE or RE IM", path, number);
        else if (found)
            code = add_tap(taps, tap, path);
    }
    free(line);
    if (code)
        return code;
    if (ferror(file))
        return fail(EXIT_DATA, "cannot read %s: %s", path, strerror(errno));
    return taps->count ? EXIT_DONE : fail(EXIT_DATA, "%s holds no taps", path);
}

static int read_file(struct taps *taps, const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return fail(EXIT_DATA, "cannot open %s: %s (designs: lowpass, highpass, bandpass, bandreject, equiripple, rrc)",
                    path, strerror(errno));
    int code = read_lines(taps, file, path);
    fclose(file);
    return code;
}

int taps_check(const char *text)
{
    static const struct {
        const char *form;
        size_t numbers;
        double last_low, last_high; /* of the last number */
    } forms[] = {{"lowpass:CUT:TRANS", 2, LEAST_HZ, MOST_HZ},       {"highpass:CUT:TRANS", 2, LEAST_HZ, MOST_HZ},
                 {"bandpass:LOW:HIGH:TRANS", 3, LEAST_HZ, MOST_HZ}, {"bandreject:LOW:HIGH:TRANS", 3, LEAST_HZ, MOST_HZ},
                 {"equiripple:CUT:TRANS", 2, LEAST_HZ, MOST_HZ},    {"rrc:SYMBOL_RATE:ROLLOFF", 2, 0, 1}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        size_t name = strcspn(forms[i].form, ":") + 1, last = forms[i].numbers - 1;
        double numbers[3];
        if (strncmp(text, forms[i].form, name))
            continue;
        bool good = number_read_list(text + name, ':', numbers, last + 1) && numbers[last] >= forms[i].last_low &&
                    numbers[last] <= forms[i].last_high;
        for (size_t k = 0; k < last && good; k++)
            good = numbers[k] >= LEAST_HZ && numbers[k] <= MOST_HZ;
        if (!good)
            return fail(EXIT_USAGE, "--taps '%.80s' is impossible: write %s, %s", text, forms[i].form,
                        forms[i].last_high > 1 ? "all in hertz, 0.001 .. 1e+10" : "with 0.001 .. 1e+10 Hz and 0 .. 1");
    }
    return EXIT_DONE;
}

int taps_read(struct taps *taps, const char *text, double rate_hz, double attenuation_db)
{
    *taps = (struct taps){.designed = true};
    for (size_t i = 0; i < sizeof designs / sizeof designs[0]; i++) {
        size_t length = strlen(designs[i].name);
        if (!strncmp(text, designs[i].name, length) && text[length] == ':')
            return make_design(taps, &designs[i], text, rate_hz, attenuation_db);
    }
    if (!strncmp(text, "equiripple:", strlen("equiripple:")))
        return make_equiripple(taps, text, rate_hz, attenuation_db);
    if (!strncmp(text, "rrc:", 4))
        return make_rrc(taps, text, rate_hz);
    taps->designed = false;
    return read_file(taps, text);
}

void taps_free(struct taps *taps)
{
    free(taps->complex_taps);
    free(taps->real_taps);
}
