/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The device table and the texts that name devices. */
#include "core/base/context.h"
#include "core/base/memory.h"
#include "core/device/backends.h"
#include "core/device/devices.h"
#include "test.h"

#include <penstock/penstock.h>

static void table(penstock_context *context)
{
    penstock_device_info info;
    bool cpu = false, null = false;
    size_t count;
    CHECK_OK(penstock_device_count(context, &count));
    CHECK(count >= 4, "only %zu rows: cpu, reference, trace and null are expected at the least", count);
    for (size_t i = 0; i < count; i++) {
        info = PENSTOCK_DEVICE_INFO;
        CHECK_OK(penstock_device_get(context, i, &info));
        CHECK(info.name && *info.name && info.product && info.driver && info.licence && *info.licence,
              "row %zu lacks a text", i);
        CHECK(!info.reason || *info.reason, "row %zu is absent without a reason", i);
        CHECK(!info.automatic || !info.reason, "%s is absent but automatic", info.name);
        CHECK((!strcmp(info.name, "reference") || !strcmp(info.name, "trace") || !strcmp(info.name, "null"))
                  ? !info.automatic
                  : true,
              "%s is automatic", info.name);
        cpu = cpu || (!strcmp(info.name, "cpu") && !info.reason && info.automatic && info.compute_units > 0);
        null = null || (!strcmp(info.name, "null") && !info.reason);
    }
    CHECK(cpu && null, "cpu or null is missing");
    info = PENSTOCK_DEVICE_INFO;
    CHECK_EQ(penstock_device_get(context, count, &info), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_device_get(context, 0, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_device_get(NULL, 0, &info), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_device_count(NULL, &count), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_device_count(context, NULL), PENSTOCK_ERR_ARGUMENT);
    /* An earlier caller, whose struct ends after `product`: nothing beyond it is written. */
    memset(&info, 0x55, sizeof info);
    info.size = offsetof(penstock_device_info, driver);
    CHECK_OK(penstock_device_get(context, 0, &info));
    CHECK(*(unsigned char *)&info.driver == 0x55 && info.size == offsetof(penstock_device_info, driver),
          "written beyond the caller's struct");
}

struct table {
    const char *kind, *name, *product, *reason;
};

/* A table that this test knows: two devices of one kind, one absent kind; other kinds have no rows. */
static void make_rows(penstock_context *context, struct penstock__kind *kinds, struct penstock_device *rows)
{
    static const struct table table[] = {{"cpu", "cpu", "Maker Processor 1000", ""},
                                         {"opencl", "opencl:0", "Maker Graphics 2000", ""},
                                         {"opencl", "opencl:1", "Other graphics 3000", ""},
                                         {"reference", "reference", "", "libliquid not found"}};
    for (size_t i = 0; i < penstock__backend_count; i++)
        kinds[i] = (struct penstock__kind){.state = PENSTOCK__LISTED};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        rows[i] = (struct penstock_device){.context = context};
        snprintf(rows[i].name, sizeof rows[i].name, "%s", table[i].name);
        snprintf(rows[i].product, sizeof rows[i].product, "%s", table[i].product);
        snprintf(rows[i].reason, sizeof rows[i].reason, "%s", table[i].reason);
        for (size_t k = 0; k < penstock__backend_count; k++)
            if (!strcmp(penstock__backends[k].name, table[i].kind) && !kinds[k].count++)
                kinds[k].rows = &rows[i];
    }
    context->kinds = kinds;
}

static void names(penstock_context *context)
{
    static const struct {
        const char *name, *found, *error; /* found, or else chunks of the error text, divided by '|' */
    } cases[] = {
        {"cpu", "cpu", NULL},
        {"opencl", "opencl:0", NULL},
        {"opencl:0", "opencl:0", NULL},
        {"opencl:1", "opencl:1", NULL},
        {"OTHER", "opencl:1", NULL},
        {"graphics 2", "opencl:0", NULL},
        {"processor 1000", "cpu", NULL},
        {"graphics", NULL, "opencl:0, opencl:1"},
        {"maker", NULL, "cpu, opencl:0"},
        {"opencl:2", NULL, "cpu, opencl:0, opencl:1"},
        {"opencl:", NULL, "opencl:"},
        {"reference", NULL, "libliquid not found"},
        {"reference:0", NULL, "libliquid not found"},
        {"teapot", NULL, "no device 'teapot'; there are: cpu, opencl:0, opencl:1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct penstock_device *device;
        size_t index;
        int status = penstock__device_find(context, cases[i].name, &device);
        CHECK_EQ(status, cases[i].found ? PENSTOCK_OK : PENSTOCK_ERR_NO_DEVICE);
        CHECK(!status == (device != NULL), "'%s': status and device disagree", cases[i].name);
        CHECK_EQ(penstock_device_find(context, cases[i].name, &index), status);
        CHECK(status || penstock__device_row(context, NULL, index) == device, "'%s': row %zu", cases[i].name, index);
        if (cases[i].found)
            CHECK(device && !strcmp(device->name, cases[i].found), "'%s' found %s", cases[i].name,
                  device ? device->name : penstock_error_text());
        else
            CHECK(strstr(penstock_error_text(), cases[i].error), "'%s': '%s'", cases[i].name, penstock_error_text());
    }
}

static void preferences(void)
{
    static const struct {
        const char *text;
        int status;
        enum penstock_preference preference;
        const char *name;
    } cases[] = {
        {NULL, 0, PENSTOCK_DEVICE_AUTO, NULL},
        {"auto", 0, PENSTOCK_DEVICE_AUTO, NULL},
        {"cpu", 0, PENSTOCK_DEVICE_NAMED, "cpu"},
        {"opencl:1", 0, PENSTOCK_DEVICE_NAMED, "opencl:1"},
        {"prefer:opencl:1", 0, PENSTOCK_DEVICE_PREFERRED, "opencl:1"},
        {"automatic", 0, PENSTOCK_DEVICE_NAMED, "automatic"},
        {"prefer:", PENSTOCK_ERR_ARGUMENT, 0, NULL},
        {"", PENSTOCK_ERR_ARGUMENT, 0, NULL},
        {"prefer:auto", PENSTOCK_ERR_ARGUMENT, 0, NULL},
        {"prefer:prefer:cpu", PENSTOCK_ERR_ARGUMENT, 0, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        enum penstock_preference preference;
        const char *name, *text = cases[i].text ? cases[i].text : "NULL";
        CHECK_EQ(penstock__device_parse(&preference, &name, cases[i].text), cases[i].status);
        if (cases[i].status)
            continue;
        CHECK_EQ(preference, cases[i].preference);
        CHECK(!name == !cases[i].name && (!name || !strcmp(name, cases[i].name)), "'%s' names '%s'", text,
              name ? name : "NULL");
    }
}

/* Naming a kind probes it alone. */
static void probes_what_is_named(void)
{
    struct penstock_device *device;
    penstock_context *context;
    CHECK_OK(penstock_context_new(&context, NULL));
    CHECK_OK(penstock__device_find(context, "null", &device));
    for (size_t i = 0; i < penstock__backend_count; i++)
        CHECK_EQ(context->kinds[i].state != PENSTOCK__UNASKED, !strcmp(penstock__backends[i].name, "null"));
    penstock_context_free(context);
}

static void bad_arguments(void)
{
    penstock_context *context;
    size_t index;
    CHECK_OK(penstock_context_new(&context, NULL));
    CHECK_EQ(penstock_device_find(NULL, "cpu", &index), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_device_find(context, NULL, &index), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_device_find(context, "", &index), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_device_find(context, "cpu", NULL), PENSTOCK_ERR_ARGUMENT);
    penstock_context_free(context);
}

int main(void)
{
    struct penstock_device rows[4];
    struct penstock__kind kinds[16], *real;
    penstock_context *context;
    CHECK_OK(penstock_context_new(&context, NULL));
    table(context);
    real = context->kinds;
    make_rows(context, kinds, rows);
    names(context);
    context->kinds = real;
    penstock_context_free(context);
    probes_what_is_named();
    bad_arguments();
    preferences();
    CHECK_EQ(penstock__memory_live(), 0);
    return test_finish();
}
