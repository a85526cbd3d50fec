#!/usr/bin/env python3
"""Runs the comparisons of bench/peers.sh; not meant to be called alone.

A run is one server and one client process, each pinned to a processor. What is printed for each
test is the median, over the rounds, of the ratio of two runs of the same round.
"""
import argparse
import contextlib
import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import time

# Length of each run, about a second: shorter ones mostly show the start.
PINGPONG_ITERATIONS = {8: 100000, 4096: 50000, 65536: 10000, 1048576: 2000}

# name: program, its options, the figure that counts, sizes with iterations and what is wanted of
# the ratio uet/tcp of that figure (None: nothing).
FABTESTS = {
    "tagged_bw": ("fi_rdm_tagged_bw", [], "mb_s",
                  {64: (500000, 2.0), 4096: (200000, 2.0), 65536: (30000, 1.0),
                   1048576: (3000, 0.85)}),
    "rma_write": ("fi_rma_bw", ["-e", "rdm", "-o", "write"], "mb_s",
                  {4096: (200000, 2.0), 1048576: (3000, 1.5)}),
    "rma_read": ("fi_rma_bw", ["-e", "rdm", "-o", "read"], "mb_s",
                 {4096: (200000, 2.0), 1048576: (3000, 1.5)}),
    "rdm_pingpong": ("fi_rdm_pingpong", [], "us", {64: (100000, 0.8)}),
    "cntr_pingpong": ("fi_rdm_cntr_pingpong", [], "us", {64: (30000, 1 / 3)}),
}
FIGURES = ("us", "mb_s")
WINDOWS = ("aimd", "fixed")  # peers that are uet with that FI_UET_CC


def tcp_provider():
    """The RDM tcp provider is called net in libfabric 1.17 and tcp from 2.0."""
    out = subprocess.run(["fi_info", "--version"], capture_output=True, text=True, check=False)
    version = next((line.split()[-1] for line in out.stdout.splitlines()
                    if line.startswith("libfabric:")), "1.17")
    return "net" if version.startswith("1.") else "tcp"


class Test:
    """One program with one message size."""

    def __init__(self, name, size):
        self.name, self.size = name, size
        if name == "pingpong":
            self.program, self.arguments, self.figure = "fi_pingpong", ["-e", "rdm"], "us"
            self.iterations, self.goal = PINGPONG_ITERATIONS.get(size, 1000), None
        else:
            self.program, self.arguments, self.figure, sizes = FABTESTS[name]
            self.iterations, self.goal = sizes.get(size, (1000, None))

    def key(self):
        return f"{self.name}:{self.size}"

    def applies_to(self, peer):
        return peer != "raw" or self.name == "pingpong"

    def command(self, peer, options, client):
        """What to run at one end."""
        if peer == "raw":
            tool = [os.path.join(options.build, "bench/raw_pingpong"), "--json",
                    "--sizes", str(self.size), "--iterations", str(self.iterations)]
            return tool + (["client", options.server] if client else ["server", options.server])
        provider = {"tcp": tcp_provider(), "rxd": "udp;ofi_rxd", "shm": "shm"}.get(peer, "uet")
        iterations = max(self.iterations // 20, 50) if peer == "rxd" else self.iterations
        folder = "" if self.name == "pingpong" else options.fabtests
        tool = [os.path.join(folder, self.program), "-p", provider, *self.arguments,
                "-S", str(self.size), "-I", str(iterations)]
        return tool + ([options.server] if client else [])

    def parse(self, peer, out):
        """{us, mb_s} of one run's output."""
        if peer == "raw":
            row = json.loads(out)["sizes"][0]
            return {k: row[k] for k in FIGURES}
        rows = [line.split() for line in out.splitlines()]
        if self.name == "pingpong":
            row = rows[-1]
            return {"us": float(row[6]), "mb_s": float(row[5])}
        names = next(row for row in rows if row and row[0] == "bytes")
        row = next(row for row in reversed(rows) if len(row) == len(names) and row is not names)
        return {"us": float(row[names.index("usec/xfer")]),
                "mb_s": float(row[names.index("MB/sec")])}


class Bench:
    def __init__(self, options):
        self.options = options
        self.env = dict(os.environ)
        self.env.pop("FI_PROVIDER", None)
        self.processors = sorted(os.sched_getaffinity(0))[:2]
        if len(self.processors) < 2:
            self.processors *= 2

    def run(self, test, peer):
        """One run: {us, mb_s}, or None when it failed."""
        env = dict(self.env)
        if peer in ("uet", "sockets", *WINDOWS):
            env["FI_UET_SHM"] = "off" if peer == "sockets" or self.options.no_shm else "auto"
            if peer in WINDOWS:
                env["FI_UET_CC"] = peer
            env["FI_UET_IO"] = self.options.io
            env["FI_PROVIDER_PATH"] = os.path.join(self.options.build, "prov/uet")

        def start(host, processor, client):
            line = shlex.split(host) + ["taskset", "-c", str(processor)]
            return subprocess.Popen(line + test.command(peer, self.options, client), env=env,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        server = start(self.options.host_a, self.processors[0], False)
        time.sleep(0.3)
        client = start(self.options.host_b, self.processors[1], True)
        try:
            out, err = client.communicate(timeout=60)
            server.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            out, err = "", "no end within the time limit"
        for process in (client, server):
            if process.poll() is None:
                process.kill()
                process.communicate()
        try:
            return test.parse(peer, out)
        except (ValueError, IndexError, KeyError, StopIteration):
            print(f"{test.key()} {peer}: failed: {err.strip()[-200:]}", file=sys.stderr)
            return None


@contextlib.contextmanager
def computing_programs(processors):
    """A program that computes all the time on each of the processors."""
    programs = [subprocess.Popen(["taskset", "-c", str(p), "sh", "-c", "while :; do :; done"])
                for p in processors]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def rotate(items, by):
    by %= len(items)
    return items[by:] + items[:by]


def compare(test, figures, peer):
    """Medians of uet and of a peer, and of the ratios of their runs in one round, if there are."""
    pairs = [(a, b) for a, b in zip(figures["uet"], figures[peer]) if a and b]
    if not pairs:
        return None
    ratios = {k: [a[k] / b[k] for a, b in pairs] for k in FIGURES}
    result = {"test": test.name, "octets": test.size, "peer": peer, "rounds": len(pairs),
              "uet": {k: statistics.median(a[k] for a, _ in pairs) for k in FIGURES},
              "peer_figures": {k: statistics.median(b[k] for _, b in pairs) for k in FIGURES},
              "ratio": {k: statistics.median(ratios[k]) for k in FIGURES},
              "lowest": {k: min(ratios[k]) for k in FIGURES},
              "highest": {k: max(ratios[k]) for k in FIGURES}}
    if peer == "tcp" and test.goal is not None:
        ratio = result["ratio"][test.figure]
        result["goal"] = {"figure": test.figure, "ratio": test.goal,
                          "reached": ratio <= test.goal if test.figure == "us" else
                          ratio >= test.goal}
    return result


def goal_text(goal):
    if goal is None:
        return ""
    sign = "<=" if goal["figure"] == "us" else ">="
    return f"  {goal['figure']} {sign} {goal['ratio']:.2f} {'yes' if goal['reached'] else 'NO'}"


def print_table(rows):
    print(f"{'test':<14} {'octets':>8} {'peer':>7} {'uet us':>9} {'peer us':>9} {'us ratio':>9} "
          f"{'uet MB/s':>9} {'peer MB/s':>10} {'MB/s ratio':>10} {'of rounds':>12}  goal")
    for row in rows:
        mine, theirs, ratio = row["uet"], row["peer_figures"], row["ratio"]
        span = f"{row['lowest']['mb_s']:.2f}-{row['highest']['mb_s']:.2f}"
        print(f"{row['test']:<14} {row['octets']:>8} {row['peer']:>7} {mine['us']:>9.2f} "
              f"{theirs['us']:>9.2f} {ratio['us']:>9.2f} {mine['mb_s']:>9.1f} "
              f"{theirs['mb_s']:>10.1f} {ratio['mb_s']:>10.2f} {span:>12}"
              f"{goal_text(row.get('goal'))}")


def chosen_tests(parser, options):
    names = ["pingpong", *FABTESTS] if options.tests == "all" else options.tests.split(",")
    wanted = [int(s) for s in options.sizes.split(",")] if options.sizes else None
    tests = []
    for name in names:
        if name != "pingpong" and name not in FABTESTS:
            parser.error(f"no test {name}: pingpong, {', '.join(FABTESTS)}, or all")
        sizes = wanted or (PINGPONG_ITERATIONS if name == "pingpong" else FABTESTS[name][3])
        tests += [Test(name, size) for size in sizes]
    if any(t.name != "pingpong" for t in tests):
        if not options.fabtests:
            beside = shutil.which("fi_rdm_pingpong")
            options.fabtests = os.path.dirname(beside) if beside else ""
        if not os.access(os.path.join(options.fabtests, "fi_rdm_pingpong"), os.X_OK):
            parser.error("no fabtests in PATH: give --fabtests, the folder of their programs")
    return tests


def run_rounds(bench, figures, rounds):
    """Adds the figures of the runs to `figures`. True: a run failed."""
    failed = False
    for number in range(rounds):
        for test, peers in figures.items():
            for peer in rotate(list(peers), number):
                figure = bench.run(test, peer)
                peers[peer].append(figure)
                failed |= figure is None
        print(f"round {number + 1} of {rounds} done", file=sys.stderr)
    return failed


def main():
    parser = argparse.ArgumentParser(prog="bench/peers.sh", description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--host-a", default="")
    parser.add_argument("--host-b", default="")
    parser.add_argument("--server", required=True)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--tests", default="pingpong")
    parser.add_argument("--fabtests", default="")
    parser.add_argument("--sizes", default="")
    parser.add_argument("--peers", default="uet,tcp,rxd,raw")
    parser.add_argument("--io", default="auto", choices=["auto", "udp", "uring", "packet", "xdp"])
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--no-shm", action="store_true")
    parser.add_argument("--json")
    options = parser.parse_args()
    tests = chosen_tests(parser, options)
    peers = options.peers.split(",")
    bench = Bench(options)
    figures = {test: {peer: [] for peer in peers if test.applies_to(peer)} for test in tests}
    with computing_programs(bench.processors if options.busy else []):
        failed = run_rounds(bench, figures, options.rounds)

    rows = [compare(test, figures[test], peer) for test in tests for peer in figures[test]
            if peer != "uet" and "uet" in peers]
    rows = [row for row in rows if row is not None]
    print_table(rows)
    if options.json:
        runs = {test.key(): figures[test] for test in tests}
        with open(options.json, "w") as f:
            json.dump({"rounds": options.rounds, "comparisons": rows, "runs": runs}, f, indent=2)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
