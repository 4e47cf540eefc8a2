/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Tables of IEEE 802.11-2020 clauses 17.3.3 and 17.3.5.9 - 17.3.5.10. */
#include "tx/wifi_training.h"

/* clang-format off */
#define P {1.4719601443879744f, 1.4719601443879744f} /* sqrt(13/6) (1 + i) */
#define N {-1.4719601443879744f, -1.4719601443879744f}
const penstock_cf32 penstock__wifi_short_training[PENSTOCK__WIFI_FFT] = {
    [64 - 24] = P, [64 - 20] = N, [64 - 16] = P, [64 - 12] = N, [64 - 8] = N, [64 - 4] = P, /* carriers -24 .. -4 */
    [4] = N, [8] = N, [12] = P, [16] = P, [20] = P, [24] = P,
};
#undef P
#undef N

#define P {1}
#define N {-1}
const penstock_cf32 penstock__wifi_long_training[PENSTOCK__WIFI_FFT] = {
    [64 - 26] = P, P, N, N, P, P, N, P, N, P, P, P, P, P, P, N, N, P, P, N, P, N, P, P, P, P, /* carriers -26 .. -1 */
    [1] = P, N, N, P, P, N, P, N, P, N, N, N, N, N, P, P, N, N, P, N, P, N, P, P, P, P,
};
#undef P
#undef N
/* clang-format on */

const int32_t penstock__wifi_data_carriers[48] = {
    -26, -25, -24, -23, -22, -20, -19, -18, -17, -16, -15, -14, -13, -12, -11, -10, /* first third */
    -9,  -8,  -6,  -5,  -4,  -3,  -2,  -1,  1,   2,   3,   4,   5,   6,   8,   9,   /* second */
    10,  11,  12,  13,  14,  15,  16,  17,  18,  19,  20,  22,  23,  24,  25,  26,  /* third */
};

const int32_t penstock__wifi_pilot_carriers[PENSTOCK__WIFI_PILOTS] = {-21, -7, 7, 21};
const float penstock__wifi_pilot_values[PENSTOCK__WIFI_PILOTS] = {1, 1, 1, -1};

/* clang-format off */
const signed char penstock__wifi_pilot_polarity[127] = {
     1,  1,  1,  1, -1, -1, -1,  1, -1, -1, -1, -1,  1,  1, -1,  1, -1, -1,  1,  1,
    -1,  1,  1, -1,  1,  1,  1,  1,  1,  1, -1,  1,  1,  1, -1,  1,  1, -1, -1,  1,
     1,  1, -1,  1, -1, -1, -1,  1, -1,  1, -1, -1,  1, -1, -1,  1,  1,  1,  1,  1,
    -1, -1,  1,  1, -1, -1,  1, -1,  1, -1,  1,  1, -1, -1, -1,  1,  1, -1, -1, -1,
    -1,  1, -1, -1,  1, -1,  1,  1,  1,  1, -1,  1, -1,  1, -1,  1, -1, -1, -1, -1,
    -1,  1, -1,  1,  1, -1,  1, -1,  1,  1,  1, -1, -1,  1, -1, -1, -1,  1,  1,  1,
    -1, -1, -1, -1, -1, -1, -1,
};
/* clang-format on */
