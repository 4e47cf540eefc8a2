/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The command's reader of numbers: what is one, with the value that strtod() has for it, and what is none. */
#include "shared/number.h"

#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void check_numbers(void)
{
    static const char *const good[] = {
        "0",      "-0",     "5",
        "+5",     "-5",     "0.5",
        ".5",     "5.",     "20e6",
        "20E6",   "2.5e3",  "1e-12",
        "1e+308", "007",    "1e00",
        "9e15",   "-.5e-3", "123456789012345678",
        "0e99",   "1e0",    "3.141592653589793238462643383279502884197169399375105820974"};
    static const char *const bad[] = {"",      " ",   "nan",   "inf",      "-inf", "0x10",   "0X1p3",
                                      "1e",    "e5",  ".",     "+",        "-",    "1 ",     " 1",
                                      "1e999", "1e+", "1.2.3", "1,5",      "--1",  "1e-999", "5k",
                                      "5e5.5", "1_0", "1e5e5", "infinity", "\n1",  "1\n",    "."};
    double number;
    for (size_t i = 0; i < COUNT(good); i++) {
        number = NAN;
        CHECK(number_read(good[i], strlen(good[i]), &number), "'%s'", good[i]);
        CHECK(number == strtod(good[i], NULL), "'%s': %g", good[i], number);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        number = 42;
        CHECK(!number_read(bad[i], strlen(bad[i]), &number), "'%s'", bad[i]);
        CHECK(number == 42, "'%s': %g", bad[i], number);
    }
    CHECK(number_read("12:34", 2, &number) && number == 12, "%g", number); /* no further than the length */
}

static void check_lists(void)
{
    double numbers[3] = {0, 0, 0};
    size_t digits = 42;
    CHECK(number_read_list("1e5:-2.5:3", ':', numbers, 3), "refused or taken wrongly");
    CHECK(numbers[0] == 1e5 && numbers[1] == -2.5 && numbers[2] == 3, "refused or taken wrongly");
    CHECK(!number_read_list("1:2", ':', numbers, 3) && !number_read_list("1:2:3:4", ':', numbers, 3),
          "refused or taken wrongly");
    CHECK(!number_read_list("1:2:", ':', numbers, 3) && !number_read_list("::", ':', numbers, 3),
          "refused or taken wrongly");
    CHECK(!number_read_digits("+5", 2, 10, &digits) && !number_read_digits("11", 2, 10, &digits),
          "refused or taken wrongly");
    CHECK(!number_read_digits("", 0, 10, &digits) && !number_read_digits("1e1", 3, 10, &digits),
          "refused or taken wrongly");
    CHECK_EQ(digits, 42);
    CHECK(number_read_digits("10", 2, 10, &digits), "refused or taken wrongly");
    CHECK_EQ(digits, 10);
}

static void check_ranges(void)
{
    const struct number_range any = {.low = -1, .high = 3.5}, whole = {.low = 0, .high = 10, .whole = true};
    CHECK(number_fits(-1, &any) && number_fits(3.5, &any) && number_fits(0.1, &any), "refused or taken wrongly");
    CHECK(!number_fits(nextafter(-1, -2), &any) && !number_fits(nextafter(3.5, 4), &any), "refused or taken wrongly");
    CHECK(!number_fits(NAN, &any) && !number_fits(INFINITY, &any) && !number_fits(-INFINITY, &any),
          "refused or taken wrongly");
    CHECK(number_fits(10, &whole) && !number_fits(1.5, &whole) && !number_fits(11, &whole), "refused or taken wrongly");
}

int main(void)
{
    check_numbers();
    check_lists();
    check_ranges();
    return test_finish();
}
