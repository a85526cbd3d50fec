#!/usr/bin/env python3
"""Runs uet_sim run with a failed link, and with many hosts, and writes tables of docs/simulator.md
and of docs/howto/simulator.md.
bench/fabric.py writes those that compare it with htsim.

Usage: bench/simulator.py failure|speed|growth|swarm|howto UET_SIM

failure: a permutation of 8 MB in which one uplink of eight of a leaf fails and no switch reroutes,
  with ten seeds.
speed: processor time and memory of large runs; the machine is to do nothing else.
growth: processor time from 128 to 8,192 hosts, and from 1,024 to 16,384 flows of 1,024 hosts, with
  a picture in docs/pictures; needs python3-matplotlib.
swarm: packets per processor second of uet_sim without a subcommand, medians of five runs.
howto: all tables of docs/howto/simulator.md, from its commands; about 20 s.
The matrices are those of UET_GOLDEN_DIR (../shared/golden), folder htsim.
"""
import csv
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "simulator.md"
HOWTO = ROOT / "docs" / "howto" / "simulator.md"
PICTURE = ROOT / "docs" / "pictures" / "growth.svg"
GOLDEN = pathlib.Path(os.environ.get("UET_GOLDEN_DIR", ROOT.parent / "shared" / "golden")) / "htsim"

# Topology, traffic, and the processor time and memory that htsim takes.
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


def measure(command, out):
    """Processor seconds, and the largest memory in octets."""
    child = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"simulator.py: {' '.join(command)}: exit status {child.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def run(program, arguments):
    """The result as JSON, processor seconds, and the largest memory in octets."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = [program, "run", "--quiet", "--json", out.name] + arguments
        seconds, memory = measure(command, subprocess.DEVNULL)
        return json.load(out), seconds, memory


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


# Endpoints and operations of a calm run of the swarm.
SWARMS = [(16, 20_000), (256, 20_000), (256, 200_000)]


def swarm(program):
    lines = ["| endpoints | operations | packets | processor s | packets per s | memory MB |",
             "|---|---|---|---|---|---|"]
    for endpoints, operations in SWARMS:
        command = [program, "--calm", "--lengths-only", "--json", "--endpoints", str(endpoints),
                   "--operations", str(operations)]
        rows = []
        for _ in range(5):
            with tempfile.TemporaryFile("w+") as out:
                seconds, memory = measure(command, out)
                out.seek(0)
                rows.append((seconds, memory, json.load(out)["packets"]))
        seconds, memory, packets = sorted(rows)[2]
        lines.append(f"| {endpoints} | {operations:,} | {packets:,} | {seconds:.2f} | "
                     f"{packets / seconds:,.0f} | {memory / 1e6:.0f} |")
    return lines


FAILURE_SEEDS = 10


def failure(program):
    lines = [f"Over seeds 1 to {FAILURE_SEEDS}, the longest flow of each; the rest are medians:",
             "", "| paths | max us: seed 1 | median | worst | p99 us | mean us | lost | resent |",
             "|---|---|---|---|---|---|---|---|"]
    given = ["--matrix", matrix("perm_128n_128c_8MB")]
    drawn = ["--workload", "permutation:bytes=8MB"]
    rows = [(name, name, given) for name in ("reps", "mixed", "bitmap", "oblivious")]
    for name, balancing, traffic in [*rows, ("reps, a permutation of each seed", "reps", drawn)]:
        totals = [run(program, ["--topo", "leafspine:16x8x8", "--lb", balancing, *traffic,
                                "--fail", "leaf0:up1@300us", "--reroute-after", "never",
                                "--seed", str(seed)])[0]["totals"]
                  for seed in range(1, FAILURE_SEEDS + 1)]
        longest = [one["fct_max_us"] for one in totals]
        middle = {name: statistics.median(one[name] for one in totals)
                  for name in ("fct_p99_us", "fct_mean_us", "dropped_link_down", "resent")}
        lines.append(f"| {name} | {longest[0]:.1f} | {statistics.median(longest):.1f} | "
                     f"{max(longest):.1f} | {middle['fct_p99_us']:.1f} | "
                     f"{middle['fct_mean_us']:.1f} | {middle['dropped_link_down']:.0f} | "
                     f"{middle['resent']:.0f} |")
    return lines


# A tree in which only the highest switches grow: leaves and middle switches have 8 links down and 8
# up, so that a packet takes the same path at any size. 64 hosts are a pod.
TREE = """Nodes {hosts}
Tiers 3
Podsize 64
Tier 0
Downlink_speed_Gbps 100
Radix_Down 8
Radix_Up 8
Downlink_Latency_ns 1000
Tier 1
Downlink_speed_Gbps 100
Radix_Down 8
Radix_Up 8
Downlink_Latency_ns 1000
Bundle 1
Tier 2
Downlink_speed_Gbps 100
Radix_Down {pods}
Downlink_Latency_ns 1000
Bundle 1
"""


def run_tree(program, folder, hosts, flows_of_host, flow_bytes):
    """Flows, packet hops and processor seconds. Each host sends and receives `flows_of_host` flows
    at once: that number of permutations, drawn from a seed."""
    topology, flows = folder / "tree.topo", folder / "flows.cm"
    topology.write_text(TREE.format(hosts=hosts, pods=hosts // 64))
    draw, lines = random.Random(1), []
    for _ in range(flows_of_host):
        to = list(range(hosts))
        while any(i == host for i, host in enumerate(to)):
            shift = draw.randrange(1, hosts)
            order = draw.sample(range(hosts), hosts)
            for place, host in enumerate(order):
                to[host] = order[(place + shift) % hosts]
        lines += [f"{i}->{host} start 0 size {flow_bytes}" for i, host in enumerate(to)]
    flows.write_text(f"Nodes {hosts}\nConnections {len(lines)}\n" + "\n".join(lines) + "\n")
    result, seconds, _ = run(program, ["--topo", str(topology), "--matrix", str(flows)])
    return len(lines), result["totals"]["hops"], seconds


def exponent(points):
    """Slope of the line of least squares through the logarithms: processor seconds go with the
    packet hops to this power."""
    xs = [math.log(hops) for _, hops, _ in points]
    ys = [math.log(seconds) for _, _, seconds in points]
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    return (sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys)) /
            sum((x - x_mean) ** 2 for x in xs))


def draw_growth(series):
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    plt.rcParams["svg.hashsalt"] = "uet"
    figure, axes = plt.subplots(figsize=(7, 4.5))
    for label, points in series:
        axes.loglog([hops for _, hops, _ in points], [s for _, _, s in points], "o-",
                    label=f"{label}: exponent {exponent(points):.2f}")
    first = series[0][1][0]
    last = max(hops for _, points in series for _, hops, _ in points)
    axes.loglog([first[1], last], [first[2], first[2] * (last / first[1]) ** 1.15], "--",
                color="gray", label="exponent 1.15")
    axes.set_xlabel("packet hops")
    axes.set_ylabel("processor seconds")
    axes.grid(True, which="major", alpha=.4)
    axes.legend()
    figure.tight_layout()
    figure.savefig(PICTURE, metadata={"Date": None})
    lines = PICTURE.read_text().splitlines()
    PICTURE.write_text("".join(line.rstrip() + "\n" for line in lines))


def growth(program):
    lines = ["| hosts | flows | octets of a flow | M packet hops | processor s | M hops/s |",
             "|---|---|---|---|---|---|"]
    by_hosts, by_flows = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def add(points, hosts, flows_of_host, flow_bytes):
            flows, hops, seconds = run_tree(program, folder, hosts, flows_of_host, flow_bytes)
            points.append((flows, hops, seconds))
            lines.append(f"| {hosts:,} | {flows:,} | {flow_bytes:,} | {hops / 1e6:.1f} | "
                         f"{seconds:.2f} | {hops / seconds / 1e6:.2f} |")
            print(lines[-1], file=sys.stderr)

        for hosts in (128, 256, 512, 1024, 2048, 4096, 8192):
            add(by_hosts, hosts, 1, 1_000_000)
        for flows_of_host in (1, 2, 4, 8, 16):
            add(by_flows, 1024, flows_of_host, 250_000)
    draw_growth([("128 to 8,192 hosts", by_hosts),
                 ("1,024 hosts, 1,024 to 16,384 flows", by_flows)])
    lines += ["", "Processor seconds go with the packet hops to the power of "
              f"{exponent(by_hosts):.2f} from 128 to 8,192 hosts, and of {exponent(by_flows):.2f} "
              "from 1,024 to 16,384 flows",
              "(least squares through the logarithms of all rows of each kind)."]
    return lines


OVERSUBSCRIBED = "leafspine:8x16x4"
TRANSPORTS = ("nscc", "roce --pfc", "dcqcn --pfc", "hpcc --pfc", "swift", "srd", "eqds", "roce")


def row(*cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def spines(program):
    lines = ["| | end of the all-to-all, us | flow, mean us | p50 us | p99 us | "
             "utilisation of the hosts' links |", "|---|---|---|---|---|---|"]
    for topology in ("leafspine:4x8x8", "leafspine:4x8x2"):
        got, _, _ = run(program, ["--topo", topology, "--workload",
                                  "all-to-all:bytes=200kB,parallel=4"])
        t = got["totals"]
        lines.append(row(f"`{topology}`", f"{got['end_us']:,.0f}", f"{t['fct_mean_us']:,.0f}",
                         f"{t['fct_p50_us']:,.0f}", f"{t['fct_p99_us']:,.0f}",
                         f"{t['utilisation']:.2f}"))
    return lines


def of_permutation(program):
    lines = ["| | mean us | max us |", "|---|---|---|"]
    for cc in TRANSPORTS:
        t = run(program, ["--topo", OVERSUBSCRIBED, "--workload", "permutation:bytes=2MB", "--cc",
                          *cc.split()])[0]["totals"]
        lines.append(row(f"`--cc {cc}`", f"{t['fct_mean_us']:,.0f}", f"{t['fct_max_us']:,.0f}"))
    return lines


def with_victim(program, folder):
    """The matrix of the page: an incast to host 0, and one flow to its neighbour."""
    path = pathlib.Path(folder) / "incast.cm"
    subprocess.run([program, "traffic", "incast", "--hosts", "128", "--senders", "32", "--bytes",
                    "2MB", "--seed", "1", "-o", path], check=True)
    text = path.read_text().replace("Connections 32", "Connections 33")
    path.write_text(text + "127->1 start 0 size 2000000\n")
    return path


def times_of(result):
    """The longest flow of the incast, and the victim."""
    spans = [(flow["to"], flow["finish_us"] - flow["start_us"]) for flow in result["flows"]]
    return (max(span for to, span in spans if to == 0),
            next(span for to, span in spans if to == 1))


def of_victim(program):
    lines = ["| | incast, max us | victim us | longest queue kB |", "|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        path = with_victim(program, folder)
        for cc in TRANSPORTS:
            if cc == "srd":
                continue
            got, _, _ = run(program, ["--topo", OVERSUBSCRIBED, "--matrix", path, "--cc",
                                      *cc.split()])
            queue = max(port["data_max_bytes"] for port in got["ports"]) / 1000
            lines.append(row(f"`--cc {cc}`", *(f"{us:,.0f}" for us in times_of(got)),
                             f"{queue:,.0f}"))
    return lines


def of_targets(program):
    lines = ["| target-us | mean us | p99 us | max us | trimmed |", "|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "sweep", folder, "--seeds", "1-5", "--vary",
                        "cc.target-us=1,3.5,7,14,28", "--", "--cc", "nscc", "--topo",
                        OVERSUBSCRIBED, "--workload", "permutation:bytes=2MB"],
                       check=True, stderr=subprocess.DEVNULL)
        with open(pathlib.Path(folder) / "table.csv", newline="") as file:
            points = list(csv.DictReader(file))
    for target in dict.fromkeys(point["cc.target-us"] for point in points):
        some = [point for point in points if point["cc.target-us"] == target]
        lines.append(row(target, *(f"{sum(float(p[name]) for p in some) / len(some):,.0f}" for name
                                   in ("fct_mean_us", "fct_p99_us", "fct_max_us", "trimmed"))))
    return lines


def put(page, name, lines):
    """Between the two marks of that name in a page."""
    print("\n".join(lines))
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, rest = page.read_text().split(begin)
    page.write_text(before + begin + "\n".join(lines) + "\n" + end + rest.split(end)[1])


def main():
    tables = {"failure": failure, "speed": speed, "growth": growth, "swarm": swarm}
    howto = {"spines": spines, "permutation": of_permutation, "victim": of_victim,
             "targets": of_targets}
    if len(sys.argv) != 3 or sys.argv[1] not in [*tables, "howto"]:
        sys.stderr.write("simulator.py: give one of " + ", ".join(tables) + ", howto, and "
                         "uet_sim\n")
        sys.exit(2)
    if sys.argv[1] == "howto":
        for name, table in howto.items():
            put(HOWTO, name, table(sys.argv[2]))
    else:
        put(PAGE, sys.argv[1], tables[sys.argv[1]](sys.argv[2]))


if __name__ == "__main__":
    main()
