#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""How fast Sionna decodes 5G NR's LDPC codes on a GPU, as it is and compiled by PyTorch: the peer of
`penstock bench cuda:0 --case ldpc:nr:bg1:384:5:x6336`. Information bits a second, from soft bits that are on the GPU.

Needs PyTorch and sionna (or sionna-no-rt) 2.2 from PyPI. A row of CSV for each way and batch."""

import argparse
import statistics
import sys
import time

sys.path.pop(0)  # this file's folder, where "sionna" is this file
try:
    import torch
    from sionna.phy.fec.ldpc import LDPC5GDecoder, LDPC5GEncoder
except ImportError as error:
    sys.exit(f"sionna.py: {error}")

LIFTING, COLUMNS = 384, 22  # of base graph 1 at its longest


def rate_gbps(decode, soft, bits, rounds):
    decode(soft)  # compiles
    times = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        start = time.perf_counter()
        decode(soft)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return 1e-9 * bits / statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5, help="of base graph 1 (default 5)")
    parser.add_argument("--batch", type=int, nargs="+", default=[512, 4096], help="blocks a call")
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--ebn0", type=float, default=4.1, help="dB (default 4.1)")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("sionna.py: PyTorch finds no GPU")
    k, n = COLUMNS * LIFTING, (COLUMNS + options.rows - 2) * LIFTING
    encoder = LDPC5GEncoder(k, n, device="cuda:0")
    print("way,batch,iterations,information_gbps,wrong_blocks")
    for batch in options.batch:
        data = torch.randint(0, 2, (batch, k), device="cuda:0").to(torch.float32)
        sent = 2 * encoder(data) - 1
        variance = 1 / (2 * k / n * 10 ** (options.ebn0 / 10))
        soft = 2 / variance * (sent + variance**0.5 * torch.randn_like(sent))
        for way in ("as it is", "compiled"):
            decoder = LDPC5GDecoder(encoder, cn_update="offset-minsum", num_iter=options.iterations, device="cuda:0")
            decode = torch.compile(decoder) if way == "compiled" else decoder
            with torch.no_grad():
                rate = rate_gbps(decode, soft, batch * k, 10)
                wrong = (decode(soft) != data).any(dim=1).sum().item()
            print(f"{way},{batch},{options.iterations},{rate:.4g},{wrong}", flush=True)


if __name__ == "__main__":
    main()
