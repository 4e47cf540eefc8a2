/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* SoapySDR's messages into the log of a context, for sources that ask for them. */
#include "radio/soapy_device.h"

#include <SoapySDR/Logger.h>

static struct penstock_guard guard = PENSTOCK_GUARD;
static struct penstock__soapy_listener *listeners; /* the newest first */

/* Called by drivers, from any thread. */
static void forward(const SoapySDRLogLevel level, const char *message)
{
    penstock_log_level ours = level <= SOAPY_SDR_WARNING ? PENSTOCK_LOG_WARNING
                              : level <= SOAPY_SDR_INFO  ? PENSTOCK_LOG_INFO
                                                         : PENSTOCK_LOG_DEBUG;
    if (level == SOAPY_SDR_SSI)
        return; /* single letters for overflows, which are counted anyway */
    if (!penstock__guard(&guard))
        return;
    if (listeners)
        penstock__log(listeners->context, ours, "SoapySDR: %s", message);
    penstock__unguard(&guard);
}

void penstock__soapy_listen(struct penstock__soapy_listener *listener)
{
    if (!penstock__guard(&guard))
        return;
    listener->next = listeners;
    listeners = listener;
    SoapySDR_registerLogHandler(forward);
    penstock__unguard(&guard);
}

void penstock__soapy_unlisten(struct penstock__soapy_listener *listener)
{
    if (!penstock__guard(&guard))
        return;
    for (struct penstock__soapy_listener **at = &listeners; *at; at = &(*at)->next)
        if (*at == listener) {
            *at = listener->next;
            break;
        }
    if (!listeners)
        SoapySDR_registerLogHandler(NULL);
    penstock__unguard(&guard);
}
