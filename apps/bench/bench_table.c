/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "bench_table.h"
#include "peers/peers.h"

#include <math.h>
#include <stdio.h>

static void print_number(const char *separator, const char *format, double value)
{
    fputs(separator, stdout);
    if (isfinite(value))
        printf(format, value);
}

static void print_csv(const struct bench_row *row)
{
    double rate = bench_rate_msps(row);
    printf("%s,%s,%zu,%u,%zu,%.0f,%.0f,%.0f,%.0f", row->name, row->device, row->batch, row->threads, row->runs,
           row->median_ns, row->min_ns, row->max_ns, row->p99_ns);
    print_number(",", "%.6g", rate);
    print_number(",", "%.6g", isfinite(row->rate_with_transfers_msps) ? row->rate_with_transfers_msps : rate);
    print_number(",", "%.6g", row->bytes_per_sample);
    print_number(",", "%.6g", row->copy_gbps);
    print_number(",", "%.4f", 1e-3 * rate * row->bytes_per_sample / row->copy_gbps);
    printf(",%s,%s", row->has_peer ? row->peer->name : "", row->has_peer ? row->peer->version() : "");
    print_number(",", "%.6g", row->has_peer ? row->peer_rate_msps : NAN);
    print_number(",", "%.4f", row->has_peer ? row->ratio : NAN);
    print_number(",", "%.4g", row->plan_cold_ms);
    print_number(",", "%.4g", row->plan_warm_ms);
    print_number(",", "%.4g", row->energy_nj);
    print_number(",", "%.4g", row->cycles);
    print_number(",", "%.4g", row->instructions);
    printf(",%s", row->peer_parts);
    print_number(",", "%.6g", row->bus_msps);
    print_number(",", "%.4f", row->rate_with_transfers_msps / row->bus_msps);
    print_number(",", "%.6g", row->copies_msps);
    print_number(",", "%.4f", rate / row->copies_msps);
    print_number(",", "%.6g", row->one_thread_msps);
    print_number(",", "%.4f", rate / row->one_thread_msps / row->threads);
    putchar('\n');
}

static void print_row(const struct bench_row *row)
{
    double rate = bench_rate_msps(row), share = 1e-3 * rate * row->bytes_per_sample / row->copy_gbps;
    printf("%-32s %-10s %7u %10.2f %10.3f", row->name, row->device, row->threads, rate, 1e-6 * row->median_ns);
    if (isfinite(share))
        printf(" %6.0f %%", 100 * share);
    else
        printf(" %8s", "");
    if (row->has_peer)
        printf("  %.2f of %s (%.2f)", row->ratio, row->peer->name, row->peer_rate_msps);
    if (*row->peer_parts)
        printf(" [%s]", row->peer_parts);
    if (isfinite(row->copies_msps) && isfinite(row->bus_msps))
        printf("  copies by all threads allow %.0f", row->copies_msps);
    if (isfinite(row->one_thread_msps))
        printf("  %.2f of one thread's", rate / row->one_thread_msps);
    if (isfinite(row->bus_msps))
        printf("  from host to host %.2f, %.0f %% of the bus", row->rate_with_transfers_msps,
               100 * row->rate_with_transfers_msps / row->bus_msps);
    if (row->frame_instructions > 0)
        printf("  %.0f instructions a transform, critical path %.0f", row->frame_instructions, row->frame_path);
    putchar('\n');
}

void bench_table_header(bool csv, bool beside)
{
    if (csv)
        puts("case,device,batch,threads,runs,median_ns,min_ns,max_ns,p99_ns,rate_msps,rate_with_transfers_msps,"
             "bytes_per_sample,copy_gbps,share_of_copy,peer,peer_version,peer_rate_msps,ratio,plan_cold_ms,"
             "plan_warm_ms,energy_nj,cycles,instructions,peer_parts,bus_msps,share_of_bus,copies_msps,share_of_copies,"
             "one_thread_msps,share_of_threads");
    else
        printf("%-32s %-10s %7s %10s %10s %8s%s\n", "case", "device", "threads", "Msample/s", "ms a run", "of copy",
               beside ? "  peer" : "");
}

void bench_table_row(const struct bench_row *row, bool csv)
{
    (csv ? print_csv : print_row)(row);
}
