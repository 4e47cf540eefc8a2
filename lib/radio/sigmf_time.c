/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Dates by the proleptic Gregorian calendar, counted from 1 March, so that a leap day is a year's last one. */
#include "radio/sigmf_time.h"

#include <stdio.h>

#define SECOND_NS   INT64_C(1000000000)
#define DAYS_OF_400 146097 /* years */
#define DAYS_OF_100 36524
#define DAYS_OF_4   1461
#define EPOCH       719468 /* 1970-01-01 by the day from 0000-03-01 on */

static int64_t days_since_1970(int64_t year, int month, int day)
{
    int64_t y = month > 2 ? year : year - 1;
    int from_march = (month + 9) % 12;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * from_march + 2) / 5 + day - 1 - EPOCH;
}

static int days_of_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 || year % 400 == 0);
    return days[month - 1] + (leap && month == 2);
}

/* `count` digits; moves `*text` behind them. -1 where there is another character. */
static int digits(const char **text, int count)
{
    int value = 0;
    for (; count; count--, ++*text) {
        if (**text < '0' || **text > '9')
            return -1;
        value = 10 * value + (**text - '0');
    }
    return value;
}

static bool literal(const char **text, char wanted)
{
    return *(*text)++ == wanted;
}

/* ".25": any number of digits; nothing is zero. */
static bool fraction(const char **text, int64_t *ns)
{
    int64_t unit = SECOND_NS / 10;
    *ns = 0;
    if (**text != '.')
        return true;
    const char *first = ++*text;
    for (; **text >= '0' && **text <= '9'; ++*text, unit /= 10) {
        *ns += unit * (**text - '0');
        if (*text - first == 9) /* the tenth digit rounds */
            *ns += **text >= '5';
    }
    return *text > first;
}

bool penstock__sigmf_time_parse(int64_t *time_ns, const char *text)
{
    int year, month, day, hour, minute, second;
    int64_t ns;
    if ((year = digits(&text, 4)) < 0 || !literal(&text, '-') || (month = digits(&text, 2)) < 1 || month > 12 ||
        !literal(&text, '-') || (day = digits(&text, 2)) < 1 || day > days_of_month(year, month) ||
        !literal(&text, 'T') || (hour = digits(&text, 2)) < 0 || hour > 23 || !literal(&text, ':') ||
        (minute = digits(&text, 2)) < 0 || minute > 59 || !literal(&text, ':') || (second = digits(&text, 2)) < 0 ||
        second > 60 || !fraction(&text, &ns) || !literal(&text, 'Z') || *text)
        return false;
    if (year < 1678 || year > 2261)
        return false;
    int64_t seconds = 86400 * days_since_1970(year, month, day) + 3600 * hour + 60 * minute + second;
    *time_ns = seconds * SECOND_NS + ns;
    return true;
}

void penstock__sigmf_time_text(char text[PENSTOCK__SIGMF_TIME_BYTES], int64_t time_ns)
{
    int64_t ns = time_ns % SECOND_NS, seconds = time_ns / SECOND_NS;
    if (ns < 0) {
        ns += SECOND_NS;
        seconds--;
    }
    int64_t second = seconds % 86400, day = seconds / 86400 + EPOCH;
    if (second < 0) {
        second += 86400;
        day--;
    }
    int64_t age = day / DAYS_OF_400, in_age = day % DAYS_OF_400;
    int64_t year = (in_age - in_age / (DAYS_OF_4 - 1) + in_age / DAYS_OF_100 - in_age / (DAYS_OF_400 - 1)) / 365;
    int64_t in_year = in_age - (365 * year + year / 4 - year / 100), from_march = (5 * in_year + 2) / 153;
    int month = (int)(from_march < 10 ? from_march + 3 : from_march - 9);
    int day_of_month = (int)(in_year - (153 * from_march + 2) / 5 + 1);
    int places = ns % 1000 ? 9 : ns % 1000000 ? 6 : 3;
    int64_t shown = places == 9 ? ns : places == 6 ? ns / 1000 : ns / 1000000;
    snprintf(text, PENSTOCK__SIGMF_TIME_BYTES, "%04d-%02d-%02dT%02d:%02d:%02d.%0*dZ",
             (int)(400 * age + year + (month <= 2)), month, day_of_month, (int)(second / 3600), (int)(second / 60 % 60),
             (int)(second % 60), places, (int)shown);
}
