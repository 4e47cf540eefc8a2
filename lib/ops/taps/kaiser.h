/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Kaiser's window: J. Kaiser, "Nonrecursive digital filter design using the I0-sinh window function", Proc. IEEE Int.
 * Symp. Circuits and Systems, 1974. */
#ifndef PENSTOCK_OPS_KAISER_H
#define PENSTOCK_OPS_KAISER_H

/* Modified Bessel function of the first kind, order zero, where it is no more than a double holds. */
double penstock__bessel_i0(double x);

/* The window's parameter for a filter's attenuation. */
double penstock__kaiser_beta(double attenuation_db);

#endif
