#!/usr/bin/env python3
"""Runs uet_sim run with a failed link, and with many hosts, and writes tables of docs/simulator.md.
bench/fabric.py writes those that compare it with htsim.

Usage: bench/simulator.py failure|speed UET_SIM

failure: a permutation of 8 MB in which one uplink of eight of a leaf fails and nobody reroutes.
speed: processor time and memory of large runs; the machine is to do nothing else.
The matrices are those of UET_GOLDEN_DIR (../shared/golden), folder htsim.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "simulator.md"
GOLDEN = pathlib.Path(os.environ.get("UET_GOLDEN_DIR", ROOT.parent / "shared" / "golden")) / "htsim"

# Topology, what is sent, and the processor time and memory that htsim takes.
LARGE = [
    ("fattree:8", ["--workload", "permutation:bytes=2MB"], "permutation 2 MB, 128 hosts, 100G", ""),
    ("fattree:16", ["--matrix", "perm_1024n_1024c_0u_2000000b"],
     "perm_1024n, 2 MB, 100G", "17.1 s, 142 MB"),
    ("fattree:32,gbps=400", ["--workload", "permutation:bytes=2MB", "--link-gbps", "400"],
     "permutation 2 MB, 8,192 hosts, 400G", "128 s, 1,060 MB"),
]


def matrix(name):
    found = sorted((GOLDEN / "matrices").glob(name + ".*"))
    if not found:
        sys.exit(f"simulator.py: there is no matrix {name} in {GOLDEN}")
    return str(found[0])


def run(program, arguments):
    """The result as JSON, processor seconds, and the largest memory in octets."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = [program, "run", "--quiet", "--json", out.name] + arguments
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit(f"simulator.py: {' '.join(command)}: exit status {child.returncode}")
        return json.load(out), usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def speed(program):
    lines = ["| run | htsim | processor s | memory MB | M hops/s | longest flow us |",
             "|---|---|---|---|---|---|"]
    for topology, arguments, what, reference in LARGE:
        if arguments[0] == "--matrix":
            arguments = ["--matrix", matrix(arguments[1])]
        result, seconds, memory = run(program, ["--topo", topology] + arguments)
        totals = result["totals"]
        lines.append(f"| {what} | {reference} | {seconds:.1f} | {memory / 1e6:.0f} | "
                     f"{totals['hops'] / seconds / 1e6:.2f} | {totals['fct_max_us']:.1f} |")
    return lines


def failure(program):
    lines = ["| paths | max us | p99 us | mean us | lost | resent |", "|---|---|---|---|---|---|"]
    for balancing in ("reps", "mixed", "bitmap", "oblivious"):
        totals = run(program, ["--topo", "leafspine:16x8x8", "--lb", balancing, "--matrix",
                               matrix("perm_128n_128c_8MB"), "--fail", "leaf0:up1@300us",
                               "--reroute-after", "never"])[0]["totals"]
        lines.append(f"| {balancing} | {totals['fct_max_us']:.1f} | {totals['fct_p99_us']:.1f} | "
                     f"{totals['fct_mean_us']:.1f} | {totals['dropped_link_down']} | "
                     f"{totals['resent']} |")
    return lines


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("failure", "speed"):
        sys.stderr.write("simulator.py: give failure or speed, and the program uet_sim\n")
        sys.exit(2)
    lines = {"failure": failure, "speed": speed}[sys.argv[1]](sys.argv[2])
    print("\n".join(lines))
    begin, end = f"<!-- {sys.argv[1]} -->\n", f"<!-- end of {sys.argv[1]} -->"
    before, rest = PAGE.read_text().split(begin)
    PAGE.write_text(before + begin + "\n".join(lines) + "\n" + end + rest.split(end)[1])


if __name__ == "__main__":
    main()
