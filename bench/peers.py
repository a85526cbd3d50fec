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

from peer_programs import OF_FABTESTS, TESTS, Test, make_peers



class Bench:
    def __init__(self, options):
        self.options = options
        self.peers = make_peers(options)
        self.env = dict(os.environ)
        self.env.pop("FI_PROVIDER", None)
        self.processors = sorted(os.sched_getaffinity(0))[:2]
        if len(self.processors) < 2:
            self.processors *= 2

    def start(self, host, processor, command, peer):
        line = shlex.split(host) + ["taskset", "-c", str(processor), *command]
        return subprocess.Popen(line, env={**self.env, **peer.environment}, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, test, name):
        """One run: its figures by name, or None when it failed."""
        peer, options = self.peers[name], self.options
        server = self.start(options.host_a, self.processors[0],
                            peer.command(test, options, False), peer)
        ready = peer.ready_line(test)
        if ready is None:
            time.sleep(0.3)
        else:
            while server.stderr.readline() not in (ready, ""):
                pass
        client = self.start(options.host_b, self.processors[1],
                            peer.command(test, options, True), peer)
        try:
            out, err = client.communicate(timeout=60)
            server_out, _ = server.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            out, err, server_out = "", "no end within the time limit", ""
        for process in (client, server):
            if process.poll() is None:
                process.kill()
                process.communicate()
        try:
            return peer.parse(test, out, server_out)
        except (ValueError, IndexError, KeyError, StopIteration, ZeroDivisionError):
            print(f"{test.key()} {name}: failed: {err.strip()[-200:]}", file=sys.stderr)
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
    names = [name for name in pairs[0][0] if name in pairs[0][1]]
    ratios = {k: [a[k] / b[k] for a, b in pairs] for k in names}
    result = {"test": test.name, "octets": test.size, "peer": peer, "rounds": len(pairs),
              "figure": test.figure,
              "uet": {k: statistics.median(a[k] for a, _ in pairs) for k in names},
              "peer_figures": {k: statistics.median(b[k] for _, b in pairs) for k in names},
              "ratio": {k: statistics.median(ratios[k]) for k in names},
              "lowest": {k: min(ratios[k]) for k in names},
              "highest": {k: max(ratios[k]) for k in names}}
    if peer == "tcp" and test.goal is not None:
        ratio = result["ratio"][test.figure]
        result["goal"] = {"figure": test.figure, "ratio": test.goal,
                          "reached": ratio <= test.goal if test.is_smaller_better() else
                          ratio >= test.goal}
    return result


def goal_text(row):
    goal = row.get("goal")
    if goal is None:
        return ""
    sign = ">=" if goal["figure"] in ("mb_s", "k_s") else "<="
    return f"  {sign} {goal['ratio']:.2f} {'yes' if goal['reached'] else 'NO'}"


UNITS = {"us": "us", "mb_s": "MB/s", "k_s": "k/s", "s_per_gb": "s/GB"}


def print_table(rows):
    """A line for each test and peer, of the figure that counts there."""
    print(f"{'test':<14} {'octets':>8} {'peer':>8} {'unit':>5} {'uet':>10} {'peer':>10} "
          f"{'uet/peer':>9} {'of rounds':>12}  goal")
    for row in rows:
        figure = row["figure"]
        span = f"{row['lowest'][figure]:.2f}-{row['highest'][figure]:.2f}"
        print(f"{row['test']:<14} {row['octets']:>8} {row['peer']:>8} {UNITS[figure]:>5} "
              f"{row['uet'][figure]:>10.2f} {row['peer_figures'][figure]:>10.2f} "
              f"{row['ratio'][figure]:>9.2f} {span:>12}{goal_text(row)}")


def chosen_tests(parser, options):
    names = list(TESTS) if options.tests == "all" else options.tests.split(",")
    wanted = [int(s) for s in options.sizes.split(",")] if options.sizes else None
    tests = []
    for name in names:
        if name not in TESTS:
            parser.error(f"no test {name}: {', '.join(TESTS)}, or all")
        tests += [Test(name, size) for size in wanted or TESTS[name][2]]
    if any(t.name == "many_peers" and t.size > 64 for t in tests):
        parser.error("many_peers: --sizes is how many receivers there are, 64 at most")
    if any(t.name in OF_FABTESTS for t in tests):
        if not options.fabtests:
            beside = shutil.which("fi_rdm_pingpong")
            options.fabtests = os.path.dirname(beside) if beside else ""
        if not os.access(os.path.join(options.fabtests, "fi_rdm_pingpong"), os.X_OK):
            parser.error("no fabtests in PATH: give --fabtests, the folder of their programs")
    return tests


def chosen_peers(parser, options, known):
    peers = options.peers.split(",")
    for peer in peers:
        if peer not in known:
            parser.error(f"no peer {peer}: {', '.join(known)}")
        if peer.startswith("ucx") and not shutil.which("ucx_perftest"):
            parser.error(f"{peer} needs ucx_perftest (the package ucx-utils)")
    return peers


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
    parser.add_argument("--many", required=True, help="first of the addresses of many receivers")
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
    bench = Bench(options)
    peers = chosen_peers(parser, options, bench.peers)
    figures = {test: {peer: [] for peer in peers if bench.peers[peer].applies_to(test)}
               for test in tests}
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
