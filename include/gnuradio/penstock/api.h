/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* What the library of blocks exports. */
#ifndef INCLUDED_PENSTOCK_API_H
#define INCLUDED_PENSTOCK_API_H

#include <gnuradio/attributes.h>

#ifdef gnuradio_penstock_EXPORTS
#define GR_PENSTOCK_API __GR_ATTR_EXPORT
#else
#define GR_PENSTOCK_API __GR_ATTR_IMPORT
#endif

#endif
