#!/usr/bin/env python3
"""Runs the ping-pongs of tools/bench_peers.sh and compares them; not meant to be called alone.

A run is one server and one client process, each pinned to a processor. What is printed per size is
the median, over the rounds, of the ratio of two runs of the same round.
"""
import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import time

ITERATIONS = {8: 20000, 4096: 10000, 65536: 3000, 1048576: 500}


def tcp_provider():
    """The RDM tcp provider is called net in libfabric 1.17 and tcp from 2.0."""
    out = subprocess.run(["fi_info", "--version"], capture_output=True, text=True, check=False)
    version = next((line.split()[-1] for line in out.stdout.splitlines()
                    if line.startswith("libfabric:")), "1.17")
    return "net" if version.startswith("1.") else "tcp"


class Bench:
    def __init__(self, options):
        self.options = options
        self.env = dict(os.environ)
        self.env.pop("FI_PROVIDER", None)
        self.processors = sorted(os.sched_getaffinity(0))[:2]
        if len(self.processors) < 2:
            self.processors *= 2

    def command(self, peer, size, client):
        iterations = ITERATIONS.get(size, 1000)
        server = self.options.server
        if peer == "raw":
            tool = [os.path.join(self.options.build, "tools/raw_pingpong"), "--json",
                    "--sizes", str(size), "--iterations", str(iterations)]
            return tool + (["client", server] if client else ["server", server])
        provider = {"uet": "uet", "tcp": tcp_provider(), "rxd": "udp;ofi_rxd"}[peer]
        if peer == "rxd":
            iterations = max(iterations // 20, 50)
        tool = ["fi_pingpong", "-p", provider, "-e", "rdm", "-S", str(size), "-I", str(iterations)]
        return tool + ([server] if client else [])

    def run(self, peer, size):
        """One ping-pong: {us, mb_s}, or None when it failed."""
        env = dict(self.env)
        if peer == "uet":
            env["FI_UET_IO"] = self.options.io
            env["FI_PROVIDER_PATH"] = os.path.join(self.options.build, "prov/uet")

        def start(host, processor, client):
            line = shlex.split(host) + ["taskset", "-c", str(processor)]
            return subprocess.Popen(line + self.command(peer, size, client), env=env,
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
            return self.parse(peer, out)
        except (ValueError, IndexError, KeyError):
            print(f"{peer} {size}: failed: {err.strip()[-200:]}", file=sys.stderr)
            return None

    @staticmethod
    def parse(peer, out):
        if peer == "raw":
            row = json.loads(out)["sizes"][0]
            return {"us": row["us"], "mb_s": row["mb_s"]}
        row = out.strip().splitlines()[-1].split()
        return {"us": float(row[6]), "mb_s": float(row[5])}


def rotate(items, by):
    by %= len(items)
    return items[by:] + items[:by]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--host-a", default="")
    parser.add_argument("--host-b", default="")
    parser.add_argument("--server", required=True)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--sizes", default="8,4096,65536,1048576")
    parser.add_argument("--peers", default="uet,tcp,rxd,raw")
    parser.add_argument("--io", default="udp", choices=["udp", "packet"])
    parser.add_argument("--json")
    options = parser.parse_args()
    sizes = [int(s) for s in options.sizes.split(",")]
    peers = options.peers.split(",")
    bench = Bench(options)
    figures = {size: {peer: [] for peer in peers} for size in sizes}
    failed = False
    for number in range(options.rounds):
        for size in sizes:
            for peer in rotate(peers, number):
                figure = bench.run(peer, size)
                figures[size][peer].append(figure)
                failed |= figure is None
        print(f"round {number + 1} of {options.rounds} done", file=sys.stderr)

    report = {"rounds": options.rounds, "sizes": {}}
    print(f"{'octets':>9} {'peer':>5} {'uet us':>9} {'peer us':>9} {'us ratio':>9} "
          f"{'uet MB/s':>9} {'peer MB/s':>10} {'MB/s ratio':>10}")
    for size in sizes:
        entry = report["sizes"][str(size)] = {"runs": figures[size], "ratios": {}}
        for peer in peers:
            if peer == "uet" or "uet" not in peers:
                continue
            pairs = [(a, b) for a, b in zip(figures[size]["uet"], figures[size][peer]) if a and b]
            if not pairs:
                continue
            ratios = {k: statistics.median(a[k] / b[k] for a, b in pairs) for k in ("us", "mb_s")}
            entry["ratios"][peer] = ratios
            mine = {k: statistics.median(a[k] for a, _ in pairs) for k in ("us", "mb_s")}
            theirs = {k: statistics.median(b[k] for _, b in pairs) for k in ("us", "mb_s")}
            print(f"{size:>9} {peer:>5} {mine['us']:>9.2f} {theirs['us']:>9.2f} "
                  f"{ratios['us']:>9.2f} {mine['mb_s']:>9.1f} {theirs['mb_s']:>10.1f} "
                  f"{ratios['mb_s']:>10.2f}")
    if options.json:
        with open(options.json, "w") as f:
            json.dump(report, f, indent=2)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
