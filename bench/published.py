"""Comparison transports of uet_sim beside published results, where htsim has no model of them or a
broken one: the tables of DCQCN and SRD for bench/fabric.py.
"""
import json
import pathlib
import statistics
import subprocess
import tempfile

import fluid

LIMIT = 10  # percent
MIB = 1 << 20
RACKS = "leafspine:2x16x16,latency=2950ns"  # a round trip of 25 us, as in the paper

# Shalev et al., IEEE Micro 40(6), 2020. The measurement, as a share of the ideal; from the text or
# a figure.
INCAST_2MB = [("mean", 8.22 / 8.05, "figure 3"), ("p10", 7.0 / 8.05, "curve of figure 3"),
              ("median", 8.2 / 8.05, "curve of figure 3"), ("p90", 9.5 / 8.05, "curve of figure 3"),
              ("max", 12 / 8.05, "curve of figure 3")]
INCAST_8MB = [("max", 41.2 / 32.2, "bar of figure 2")]
INCAST_32MB = [("max", 142.7 / 128.8, "bar of figure 2")]
ACROSS_RACKS = [("median", 1.15, "text"), ("max", 3.85 / 2.68, "highest bar of figure 6")]
# Name, senders, receivers, flows of a sender, octets of a flow, measurement.
SRD = [("incast 48:1, 2 MiB", 4, 1, 12, 2 * MIB, INCAST_2MB),
       ("incast 48:1, 8 MiB", 4, 1, 12, 8 * MIB, INCAST_8MB),
       ("incast 48:1, 32 MiB", 4, 1, 12, 32 * MIB, INCAST_32MB),
       ("8 servers to 8, 16 flows each, 2 MiB", 8, 8, 16, 2 * MIB, ACROSS_RACKS)]


def run(program, *words):
    done = subprocess.run([program, "run", "--quiet", "--json", "-", *map(str, words)],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def compared(ours, theirs, form):
    percent = (ours / theirs - 1) * 100
    text = f"{percent:+.1f} %" if abs(percent) <= LIMIT else f"**{percent:+.1f} %**"
    return f"{ours:{form}} / {theirs:{form}} ({text})"


def measure(values, name):
    ordered = sorted(values)
    shares = {"p10": 0.1, "median": 0.5, "p90": 0.9, "max": 1}
    if name == "mean":
        return statistics.fmean(ordered)
    return ordered[int(shares[name] * (len(ordered) - 1) + 0.5)]


def srd_lines(program, seeds):
    """Times of flows, of the time that the payload takes at the rate of the busiest port."""
    lines = ["", f"SRD, completion times of all flows of {seeds} seeds as shares of the ideal one, "
             f"uet_sim / Shalev et al.; more than {LIMIT} % apart in bold:", "",
             "| case | measure | uet_sim / paper | from |", "|---|---|---|---|"]
    for name, senders, receivers, flows, octets, published in SRD:
        pairs = [(i // flows, 16 + i // flows % receivers) for i in range(senders * flows)]
        ideal = senders // receivers * flows * octets * 8 / 1e5
        times = []
        with tempfile.TemporaryDirectory() as folder:
            matrix = pathlib.Path(folder) / "flows.cm"
            matrix.write_text(f"Nodes 32\nConnections {len(pairs)}\n" + "".join(
                f"{a}->{b} id {i + 1} start 0 size {octets}\n" for i, (a, b) in enumerate(pairs)))
            for seed in range(1, seeds + 1):
                result = run(program, "--topo", RACKS, "--matrix", matrix, "--cc", "srd",
                             "--seed", seed)
                times += [f["finish_us"] / ideal for f in result["flows"]]
        for what, share, source in published:
            lines.append(f"| {name} | {what} | {compared(measure(times, what), share, '.3f')} | "
                         f"{source} |")
    return lines


def dcqcn_run(program, senders, line, seed):
    """The queue in kB in the middle half of the time, Jain's index, and the use of the link."""
    cc = "dcqcn" if line == 1 else f"dcqcn,mark-high-us={1 + 39 * line},mark-most={0.01 * line}"
    result = run(program, "--topo", "leafspine:1x32x1", "--workload",
                 f"incast:senders={senders},bytes={8000 // senders}MB", "--cc", cc, "--pfc",
                 "--sample", "20us", "--seed", seed)
    queue = max(result["samples"]["queues"], key=lambda q: max(q["bytes"]))["bytes"]
    ends = [f["finish_us"] for f in result["flows"]]
    shares = [1 / end for end in ends]
    return (statistics.fmean(queue[len(queue) // 4:len(queue) * 3 // 4]) / 1e3,
            sum(shares) ** 2 / senders / sum(share * share for share in shares),
            8e9 * (4160 / 4096) * 8 / 1e5 / max(ends))


def dcqcn_lines(program, seeds):
    lines = ["", f"DCQCN, 8 GB of N senders to one host, medians of {seeds} seeds. Queue in kB of "
             "uet_sim / fluid model of Zhu et al., and of uet_sim / that model with marks by "
             f"chance; more than {LIMIT} % apart in bold:", "",
             "| marks | N | fluid model | by chance | Jain's index | utilisation |",
             "|---|---|---|---|---|---|"]
    for line, text in ((4, "to 4 % at 1,962.5 kB"), (1, "to 1 % at 500 kB")):
        for senders in (2, 4, 8, 10, 16):
            runs = [dcqcn_run(program, senders, line, seed) for seed in range(1, seeds + 1)]
            queue, fair, used = map(statistics.median, zip(*runs))
            chance = statistics.median(fluid.queue_kb(senders, line, seed)
                                       for seed in range(1, seeds + 1))
            lines.append(f"| {text} | {senders} | "
                         f"{compared(queue, fluid.queue_kb(senders, line), ',.1f')} | "
                         f"{compared(queue, chance, ',.1f')} | {fair:.3f} | {used:.3f} |")
    return lines
