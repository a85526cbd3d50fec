#!/usr/bin/env python3
"""Runs the comparisons of bench/mpi_bench.sh; not meant to be called alone."""
import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys

from peer_programs import tcp_provider

UNITS = {"latency": "us", "bandwidth": "MB/s", "allreduce": "us"}


def transport(peer, provider_path):
    """The arguments of mpirun with which this peer carries the messages."""
    if peer == "ob1":
        return ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self"]
    over = ["--mca", "pml", "cm", "--mca", "mtl", "ofi", "--mca", "mtl_ofi_provider_include"]
    if peer == "tcp":
        return over + [tcp_provider()]
    return over + ["uet", "-x", f"FI_PROVIDER_PATH={provider_path}", "-x", "FI_PROVIDER=uet"]


def run(peer, args):
    """The figures of one run by (name, octets); None where it failed."""
    pinned = 'exec taskset -c $((OMPI_COMM_WORLD_RANK % $(nproc))) "$@"'
    command = (shlex.split(args.mpirun) + ["--bind-to", "none"]
               + transport(peer, args.provider_path) + shlex.split(args.split)
               + ["sh", "-c", pinned, "sh", args.program, str(args.times)])
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=args.timeout)
    except subprocess.TimeoutExpired:
        print(f"{peer}: did not finish in {args.timeout} s", file=sys.stderr)
        return None
    if done.returncode != 0:
        print(f"{peer}: status {done.returncode}\n{done.stderr[-2000:]}", file=sys.stderr)
        return None
    figures = {}
    for line in done.stdout.splitlines():
        words = line.split()
        if len(words) == 3 and words[0] in UNITS:
            figures[words[0], int(words[1])] = float(words[2])
    return figures


def median(rounds, peer, key):
    """Of the figure, and of its ratio to that of uet in the same round."""
    values = [r[peer][key] for r in rounds if r.get(peer)]
    ratios = [r["uet"][key] / r[peer][key] for r in rounds if r.get(peer) and r.get("uet")]
    return (statistics.median(values) if values else None,
            statistics.median(ratios) if ratios else None)


def report(rounds, peers):
    """Prints the table; returns it as rows."""
    rows = []
    others = [p for p in peers if p != "uet"]
    print(f"\n{'':10}{'octets':>8} {'':5}" + "".join(f"{p:>10}" for p in peers)
          + "".join(f"{'uet/' + p:>10}" for p in others))
    keys = sorted({k for r in rounds for f in r.values() if f for k in f},
                  key=lambda k: (list(UNITS).index(k[0]), k[1]))
    for key in keys:
        row = {"figure": key[0], "bytes": key[1], "unit": UNITS[key[0]]}
        line = f"{key[0]:10}{key[1]:>8} {UNITS[key[0]]:5}"
        for peer in peers:
            row[peer], ratio = median(rounds, peer, key)
            line += f"{row[peer]:>10.2f}" if row[peer] is not None else f"{'-':>10}"
            if peer != "uet":
                row[f"uet/{peer}"] = ratio
        for peer in others:
            ratio = row[f"uet/{peer}"]
            line += f"{ratio:>10.2f}" if ratio is not None else f"{'-':>10}"
        print(line)
        rows.append(row)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", default="uet,tcp,ob1")
    parser.add_argument("--times", type=float, default=1.0)
    parser.add_argument("--timeout", type=float, default=300.0)
    parser.add_argument("--json")
    for name in ("--provider-path", "--mpirun", "--split", "--program"):
        parser.add_argument(name, required=True)
    args = parser.parse_args()
    peers = args.peers.split(",")
    if args.rounds < 1 or "uet" not in peers or not set(peers) <= {"uet", "tcp", "ob1"}:
        parser.error("--rounds needs 1 or more, --peers uet and any of tcp, ob1")
    rounds = []
    for i in range(args.rounds):
        figures = {}
        for k in range(len(peers)):
            peer = peers[(i + k) % len(peers)]
            figures[peer] = run(peer, args)
            print(f"round {i + 1}/{args.rounds}: {peer} "
                  f"{'done' if figures[peer] else 'FAILED'}", file=sys.stderr)
        rounds.append(figures)
    rows = report(rounds, peers)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as out:
            json.dump({"table": rows, "cpus": os.cpu_count()}, out, indent=2)
    return 0 if all(f for r in rounds for f in r.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
