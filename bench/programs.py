#!/usr/bin/env python3
"""Runs programs over uet and over tcp in turn and prints medians and ratios; see programs.sh."""
import argparse
import json
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

from peer_programs import tcp_provider

PEERS = ("tcp", "uet")

MELT = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 {edge} 0 {edge} 0 {edge}
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
thermo 100
run {steps}
"""

# The order of the matrix, and a grid of P x Q processes; the rest is what the format asks for.
HPCC = """HPLinpack benchmark input file
bench/programs.sh
HPL.out
8
1
{order}
1
80
0
1
{rows}
{columns}
16.0
1
2
1
4
1
2
1
1
1
0
1
0
2
64
0
0
1
8
0
0
0
0
0
"""

# The parts of HPCC's summary that depend on the network: name there, unit, factor.
SUMMARY = {
    "MPIRandomAccess_GUPs": ("MUP/s", 1e3),
    "PTRANS_GBs": ("MB/s", 1e3),
    "MPIFFT_Gflops": ("Gflop/s", 1),
    "HPL_Tflops": ("Gflop/s", 1e3),
    "MaxPingPongLatency_usec": ("us", 1),
    "RandomlyOrderedRingLatency_usec": ("us", 1),
    "MinPingPongBandwidth_GBytes": ("MB/s", 1e3),
    "RandomlyOrderedRingBandwidth_GBytes": ("MB/s", 1e3),
}

NETPIPE = (64, 4096, 65536, 262144, 1048576, 4194304)  # octets


def transport(peer, args):
    over = ["--mca", "pml", "cm", "--mca", "mtl", "ofi", "--mca", "mtl_ofi_provider_include"]
    if peer == "uet":
        return over + ["uet", "-x", "FI_PROVIDER=uet",
                       "-x", f"FI_PROVIDER_PATH={pathlib.Path(args.provider_path).resolve()}"]
    return over + [tcp_provider(), "-x", f"FI_PROVIDER={tcp_provider()}"]


def mpirun(peer, ranks, program, folder, args):
    """The output and the seconds that it took, or None."""
    command = (shlex.split(args.mpirun) + ["-n", str(ranks)] + transport(peer, args) + program)
    begin = time.monotonic()
    try:
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True,
                             timeout=args.timeout, check=False)
    except subprocess.TimeoutExpired:
        print(f"{program[0]} over {peer}: not over after {args.timeout} s", file=sys.stderr)
        return None
    if run.returncode != 0:
        print(f"{program[0]} over {peer} failed:\n{run.stdout[-800:]}{run.stderr[-800:]}",
              file=sys.stderr)
        return None
    return run.stdout, time.monotonic() - begin


def run_lammps(peer, ranks, folder, args):
    """{(figure, unit): value}, or None."""
    (folder / "melt").write_text(MELT.format(edge=args.edge, steps=args.steps), encoding="utf-8")
    done = mpirun(peer, ranks, ["lmp", "-in", "melt", "-log", "none"], folder, args)
    found = done and re.search(r"Loop time of ([0-9.]+)", done[0])
    return {("loop", "s"): float(found.group(1))} if found else None


def grid(ranks):
    rows = int(ranks ** 0.5)
    while ranks % rows != 0:
        rows -= 1
    return rows, ranks // rows


def run_hpcc(peer, ranks, folder, args):
    """The same of the whole HPC Challenge."""
    rows, columns = grid(ranks)
    (folder / "hpccinf.txt").write_text(
        HPCC.format(order=args.order, rows=rows, columns=columns), encoding="utf-8")
    out = folder / "hpccoutf.txt"
    out.unlink(missing_ok=True)  # HPCC appends
    done = mpirun(peer, ranks, ["hpcc"], folder, args)
    text = out.read_text(encoding="utf-8") if out.exists() else ""
    if not done or "Success=1" not in text:
        return None
    figures = {("whole run", "s"): done[1]}
    for name, (unit, factor) in SUMMARY.items():
        found = re.search(rf"^{name}=([-+0-9.e]+)$", text, re.M)
        if found and float(found.group(1)) > 0:
            figures[(name.rsplit("_", 1)[0], unit)] = float(found.group(1)) * factor
    return figures


def run_netpipe(peer, ranks, folder, args):
    """The time of a message one way, for some lengths."""
    out = folder / "netpipe"
    out.unlink(missing_ok=True)
    last = NETPIPE[-1]
    program = ["NPopenmpi", "-p", "0", "-l", "64", "-u", str(last), "-o", str(out)]
    if not mpirun(peer, ranks, program, folder, args):
        return None
    lines = [line.split() for line in out.read_text(encoding="utf-8").splitlines()]
    return {(f"{int(octets):,} octets", "us"): float(seconds) * 1e6
            for octets, _, seconds in lines if int(octets) in NETPIPE}


RUNS = {"lammps": run_lammps, "hpcc": run_hpcc, "netpipe": run_netpipe}


def report(title, rounds):
    """Prints medians, and the median and range of the rounds' ratios. Returns rows."""
    rows = []
    keys = [k for k in next((r["uet"] for r in rounds if r["uet"]), {})]
    print(f"\n{title:34}{'':8}{'tcp':>10}{'uet':>10}{'uet/tcp':>9}  range")
    for key in keys:
        pairs = [(r["tcp"][key], r["uet"][key]) for r in rounds
                 if r["tcp"] and r["uet"] and key in r["tcp"] and key in r["uet"]]
        if not pairs:
            continue
        ratios = sorted(uet / tcp for tcp, uet in pairs)
        tcp, uet = (statistics.median(values) for values in zip(*pairs))
        ratio = statistics.median(ratios)
        print(f"{key[0]:34}{key[1]:8}{tcp:>10.2f}{uet:>10.2f}{ratio:>9.2f}"
              f"  {ratios[0]:.2f} to {ratios[-1]:.2f}")
        rows.append({"run": title, "figure": key[0], "unit": key[1], "tcp": tcp, "uet": uet,
                     "uet/tcp": ratio, "ratios": ratios})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", default="lammps,hpcc,netpipe")
    parser.add_argument("--ranks", default="2,4,8")
    for name, default in (("rounds", 3), ("edge", 20), ("steps", 300), ("order", 600),
                          ("timeout", 600)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--json")
    for name in ("--provider-path", "--mpirun"):
        parser.add_argument(name, required=True)
    args = parser.parse_args()
    programs, ranks = args.programs.split(","), args.ranks.split(",")
    if not set(programs) <= set(RUNS) or not all(r.isdigit() and int(r) > 1 for r in ranks):
        parser.error("--programs lammps, hpcc and netpipe, --ranks of 2 or more")
    rounds = {(p, int(r)): [] for p in programs for r in (ranks if p != "netpipe" else ["2"])}
    with tempfile.TemporaryDirectory() as folder:
        for i in range(args.rounds):
            for program, count in rounds:
                order = PEERS if i % 2 == 0 else PEERS[::-1]
                figures = {peer: RUNS[program](peer, count, pathlib.Path(folder), args)
                           for peer in order}
                rounds[(program, count)].append(figures)
                print(f"round {i + 1}/{args.rounds}: {program}, {count} ranks", file=sys.stderr)
    rows = []
    for (program, count), measured in rounds.items():
        rows += report(f"{program}, {count} ranks", measured)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as out:
            json.dump({"table": rows, "cpus": os.cpu_count()}, out, indent=2)
    return 0 if all(f for m in rounds.values() for r in m for f in r.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
