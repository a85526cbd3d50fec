#!/usr/bin/env python3
"""Draws the figures of bench/peers.sh: how many times as fast uet is as a peer, test by test.

Usage: bench/plot.py [--peer NAME] OUTPUT.svg LABEL=FILE.json...

  --peer NAME    the peer of the comparison (default tcp)

FILE.json is what `bench/peers.sh --json FILE.json` wrote; LABEL says how uet ran there. Needs
python3-matplotlib.

Exit status: 0 drawn, 1 no figures of that peer, or matplotlib is missing, 2 wrong usage.
"""
import json
import pathlib
import statistics
import sys

NAMES = {"pingpong": "ping-pong", "rdm_pingpong": "ping-pong", "tagged_bw": "tagged stream",
         "rma_write": "RMA write", "rma_read": "RMA read", "cntr_pingpong": "ping-pong, asleep",
         "rolling": "rolling stream"}


def misuse(what):
    print(f"plot.py: {what} (see --help)", file=sys.stderr)
    sys.exit(2)


def read_arguments(words):
    peer, rest = "tcp", []
    words = iter(words)
    for word in words:
        if word in ("-h", "--help"):
            print(__doc__.strip())
            sys.exit(0)
        if word == "--peer":
            peer = next(words, None) or misuse("--peer needs a name")
        elif word.startswith("-"):
            misuse(f"what is {word}?")
        else:
            rest.append(word)
    if len(rest) < 2 or not all("=" in word for word in rest[1:]):
        misuse("OUTPUT.svg and LABEL=FILE.json are needed")
    return peer, rest[0], [word.split("=", 1) for word in rest[1:]]


def size_name(octets):
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if octets >= unit:
            return f"{octets // unit} {name}"
    return f"{octets} B"


def speedups(path, peer):
    """Test and size to the median of the rounds' ratios of time, peer to uet."""
    out = {}
    for test, runs in json.loads(pathlib.Path(path).read_text())["runs"].items():
        rounds = list(zip(runs.get("uet", []), runs.get(peer, [])))
        ratios = [theirs["us"] / ours["us"] for ours, theirs in rounds
                  if ours and theirs and "us" in ours and "us" in theirs]
        if ratios:
            name, octets = test.split(":")
            out[f"{NAMES.get(name, name)}\n{size_name(int(octets))}"] = statistics.median(ratios)
    return out


def draw(output, peer, series):
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    plt.rcParams["svg.hashsalt"] = "uet"
    tests = list(dict.fromkeys(test for _, figures in series for test in figures))
    height = 0.8 / len(series)
    figure, axes = plt.subplots(figsize=(8, 0.55 * len(tests) * max(1, len(series) / 2) + 1))
    for i, (label, figures) in enumerate(series):
        at = [y + i * height for y, test in enumerate(tests) if test in figures]
        values = [figures[test] for test in tests if test in figures]
        bars = axes.barh(at, values, height, label=label)
        axes.bar_label(bars, fmt="%.2f", padding=3, fontsize=8)
    axes.set_yticks([y + 0.4 - height / 2 for y in range(len(tests))], tests, fontsize=8)
    axes.invert_yaxis()
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xlabel(f"times as fast as {peer}")
    axes.legend(loc="upper right")
    figure.tight_layout()
    figure.savefig(output, metadata={"Date": None})
    drawing = pathlib.Path(output)
    drawing.write_text("".join(f"{line.rstrip()}\n" for line in drawing.read_text().splitlines()))


def main():
    peer, output, named = read_arguments(sys.argv[1:])
    series = [(label, speedups(path, peer)) for label, path in named]
    empty = [label for label, figures in series if not figures]
    if empty:
        print(f"plot.py: no figures of {peer} in {', '.join(empty)}", file=sys.stderr)
        return 1
    try:
        draw(output, peer, series)
    except ImportError:
        print("plot.py: matplotlib is missing (Debian: python3-matplotlib)", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
