#!/usr/bin/env python3
"""Measures what a network that loses packets, or is slow at one port, leaves of the bandwidth.

The hosts are network namespaces. A bridge in a namespace of its own stands between them.
Segmentation and joining of packets are off at all ports, so that each packet on a cable is one
packet of the MTU, for uet and for tcp alike; it is these that are lost.

  loss    one sender, one receiver; a rule of nftables at each port of the bridge drops packets
          with --delay-us, a program moves the packets instead, and holds each for that time
  incast  several senders, one receiver behind a port of a fixed rate with a short queue

Needs root, nftables and ethtool.
"""
import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOCUMENT = os.path.join(ROOT, "docs/performance.md")
sys.path.insert(0, os.path.join(ROOT, "bench"))
from peer_programs import tcp_provider  # noqa: E402
from peers import rotate  # noqa: E402

OFFLOADS = ["tso", "gso", "gro", "tx-udp-segmentation"]
# Least share of the lossless bandwidth, by loss in percent; and of uet/tcp at 1 %.
KEPT = {0.1: 0.97, 1.0: 0.85, 5.0: 0.6}
AHEAD_OF_TCP = 5.0


def run(line, **more):
    return subprocess.run(line.split() if isinstance(line, str) else line, check=True, **more)


class Network:
    """Hosts 10.47.94.1, .2, ... around one bridge. Removed by the end of the `with`."""

    def __init__(self, options, hosts, mtu):
        self.name = f"uet-net-{os.getpid()}"
        self.count, self.mtu, self.tcp_cc = hosts, mtu, options.tcp_cc

    def host(self, i):
        return f"{self.name}-{i}"

    def address(self, i):
        return f"10.47.94.{i + 1}"

    def __enter__(self):
        try:
            self.make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def make(self):
        switch = self.name
        run(f"ip netns add {switch}")
        run(f"ip -n {switch} link add bridge type bridge")
        run(f"ip -n {switch} link set bridge mtu {self.mtu} up")
        for i in range(self.count):
            host = self.host(i)
            run(f"ip netns add {host}")
            run(f"ip -n {host} link add eth type veth peer name p{i} netns {switch}")
            run(f"ip -n {switch} link set p{i} mtu {self.mtu} master bridge up")
            self.set_up(host, self.address(i))
            for space, port in ((host, "eth"), (switch, f"p{i}")):
                off = [word for name in OFFLOADS for word in (name, "off")]
                run(["ip", "netns", "exec", space, "ethtool", "-K", port, *off])

    def set_up(self, host, address):
        run(f"ip -n {host} link set lo up")
        run(f"ip -n {host} link set eth mtu {self.mtu} up")
        run(f"ip -n {host} addr add {address}/24 dev eth")
        if self.tcp_cc:
            self.choose_tcp_cc(host)

    def choose_tcp_cc(self, host):
        line = f"ip netns exec {host} sysctl -qw net.ipv4.tcp_congestion_control={self.tcp_cc}"
        if subprocess.run(line.split(), check=False, capture_output=True).returncode != 0:
            raise RuntimeError(f"--tcp-cc: {self.tcp_cc} is not in the list of the sysctl "
                               "net.ipv4.tcp_allowed_congestion_control of this machine")

    def __exit__(self, *_):
        for space in [self.host(i) for i in range(self.count)] + [self.name]:
            subprocess.run(["ip", "netns", "del", space], check=False, stderr=subprocess.DEVNULL)

    def lose(self, percent):
        """Each IP packet that reaches a port of the bridge is lost with that probability."""
        subprocess.run(f"ip netns exec {self.name} nft delete table netdev loss".split(),
                       check=False, stderr=subprocess.DEVNULL)
        rule = f"meta protocol ip numgen random mod 100000 < {round(percent * 1000)} counter drop"
        chains = "".join(
            f'chain p{i} {{ type filter hook ingress device "p{i}" priority 0; {rule}; }}\n'
            for i in range(self.count))
        run(f"ip netns exec {self.name} nft -f -", text=True,
            input=f"table netdev loss {{\n{chains}}}\n")

    def limit(self, i, mbit, queue_bytes):
        """Gives the port toward host `i` that rate and a queue of that length in octets."""
        run(f"ip netns exec {self.name} tc qdisc add dev p{i} root tbf rate {mbit}mbit "
            f"burst {max(2 * self.mtu, 16384)} limit {queue_bytes}")

    def dropped(self, i):
        """Packets that the limit has dropped."""
        out = run(f"ip netns exec {self.name} tc -s qdisc show dev p{i}", capture_output=True,
                  text=True).stdout
        return int(re.search(r"dropped (\d+)", out).group(1))

    def enter(self, i):
        return ["ip", "netns", "exec", self.host(i)]


class Streams:
    """Runs bench/stream: one receiver on host 0, senders on the others."""

    def __init__(self, options, network):
        self.options, self.network = options, network
        self.program = os.path.join(options.build, "bench/stream")
        self.ctl = os.path.join(options.build, "tools/uet_ctl")
        self.processors = sorted(os.sched_getaffinity(0))

    def run(self, peer, seconds, arguments=(), cc="", senders=1, pin=True):
        """{mb_s, each, timeouts, early}; each: MB/s of each sender; the others: see timeouts()."""
        env = dict(os.environ, FI_PROVIDER_PATH=os.path.join(self.options.build, "prov/uet"))
        env["FI_UET_IO"] = self.options.io
        if cc and peer == "uet":
            env["FI_UET_CC"] = cc
        provider = tcp_provider() if peer == "tcp" else "uet"
        line = [self.program, "-p", provider, "--seconds", str(seconds), *arguments]
        server = self.network.address(0)

        def start(host, processor, what, **more):
            pinned = ["taskset", "-c", str(self.processors[processor % len(self.processors)])]
            return subprocess.Popen([*self.network.enter(host), *(pinned if pin else []), *line,
                                     *what], env=env, text=True, **more)
        running = []
        try:
            receiver = start(0, 0, ["receive", server, "--senders", str(senders)],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            running.append(receiver)
            if receiver.stderr.readline() != "ready\n":
                raise RuntimeError(f"{peer}: no receiver: {receiver.stderr.read().strip()}")
            ends = []
            for i in range(senders):
                ends.append(start(i + 1, 1, ["send", server, "--id", str(i)],
                                  stdout=subprocess.DEVNULL))
                running.append(ends[-1])
            early, timeouts = self.timeouts(ends, seconds) if peer == "uet" else (None, None)
            out, err = receiver.communicate(timeout=seconds + 90)
            failed = [p for p in ends if p.wait(timeout=30) != 0]
        except subprocess.TimeoutExpired as late:
            raise RuntimeError(f"{peer} {cc}: no end within the time limit") from late
        finally:
            for process in running:
                if process.poll() is None:
                    process.kill()
                    process.wait()
        if receiver.returncode != 0 or failed or not out:
            raise RuntimeError(f"{peer} {cc}: a stream failed: {err.strip()}")
        result = json.loads(out)
        if result["seconds"] <= 0:
            raise RuntimeError(f"{peer} {cc}: the senders never sent at the same time")
        each = [octets / result["seconds"] / 1e6 for octets in result["bytes"]]
        return {"mb_s": sum(each), "each": each, "timeouts": timeouts, "early": early}

    def timeouts(self, ends, seconds):
        """Time-outs of the senders: in the first two seconds, and from then on. None: not known.

        A process takes nearly a second before it sends.
        """
        time.sleep(2)
        first = self.count_timeouts(ends)
        time.sleep(seconds - 2)
        last = self.count_timeouts(ends)
        return first, None if first is None or last is None else last - first

    def count_timeouts(self, ends):
        total = 0
        for i, process in enumerate(ends):
            ask = [*self.network.enter(i + 1), self.ctl, "stats", str(process.pid), "--json"]
            out = subprocess.run(ask, capture_output=True, text=True, check=False)
            match = re.search(r'"retx_rto": *(\d+)', out.stdout)
            if match is None:
                return None
            total += int(match.group(1))
        return total


def tell(text):
    print(text, file=sys.stderr, flush=True)


def jain(shares):
    return sum(shares) ** 2 / (len(shares) * sum(s * s for s in shares)) if any(shares) else 0.0


def median_of(runs, key):
    """None if a run could not measure it."""
    values = [r[key] for r in runs]
    return None if None in values else statistics.median(values)


def numbers(text):
    return [float(word) for word in text.split(",")]


class Cable(Network):
    """Two hosts, and a program between them that holds each packet for a time."""

    def __init__(self, options, mtu):
        super().__init__(options, 2, mtu)
        self.line = [os.path.join(options.build, "bench/cable"), "p0", "p1", "--delay-us",
                     str(options.delay_us)]
        self.program = None

    def make(self):
        run(f"ip netns add {self.name}")
        self.program = subprocess.Popen(["ip", "netns", "exec", self.name, *self.line], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if self.program.stdout.readline() != "ready\n":
            raise RuntimeError("bench/cable does not start")
        for i in range(2):
            host = self.host(i)
            run(f"ip netns add {host}")
            run(f"ip -n {self.name} link set p{i} netns {host} name eth")
            self.set_up(host, self.address(i))

    def __exit__(self, *_):
        if self.program is not None:
            self.program.communicate()
        super().__exit__()

    def lose(self, percent):
        self.program.stdin.write(f"loss {percent}\n")
        self.program.stdin.flush()


def measure_loss(options):
    """Rows {mtu, loss, peer: {mb_s, kept}}, medians of the rounds; kept: of the same round."""
    rows = []
    for mtu in [int(m) for m in numbers(options.mtu)]:
        with Cable(options, mtu) if options.delay_us else Network(options, 2, mtu) as network:
            streams = Streams(options, network)
            figures = {}
            for number in range(options.rounds):
                for peer in rotate(options.peers.split(","), number):
                    for loss in [0.0] + numbers(options.loss):
                        network.lose(loss)
                        one = streams.run(peer, options.seconds, cc=options.cc)
                        figures.setdefault((peer, loss), []).append(one["mb_s"])
                        tell(f"mtu {mtu} round {number + 1}/{options.rounds} {peer} {loss:g} %: "
                             f"{one['mb_s']:.1f} MB/s, time-outs {one['timeouts']}")
            for loss in [0.0] + numbers(options.loss):
                row = {"mtu": mtu, "loss": loss}
                for peer in options.peers.split(","):
                    mine, free = figures[peer, loss], figures[peer, 0.0]
                    row[peer] = {"mb_s": statistics.median(mine),
                                 "kept": statistics.median(a / b for a, b in zip(mine, free))}
                if "uet" in row and "tcp" in row:
                    row["ratio"] = statistics.median(
                        a / b for a, b in zip(figures["uet", loss], figures["tcp", loss]))
                rows.append(row)
    return rows


def loss_table(rows):
    lines = ["| MTU | loss | uet MB/s | uet kept | goal | tcp MB/s | tcp kept | uet/tcp |",
             "|---|---|---|---|---|---|---|---|"]
    for row in rows:
        uet, tcp = row.get("uet"), row.get("tcp")
        goal = f"{KEPT[row['loss']]:.2f}" if row["loss"] in KEPT else ""
        cells = [f"{row['mtu']:,}", f"{row['loss']:g} %"]
        cells += [f"{uet['mb_s']:,.0f}", f"{uet['kept']:.2f}", goal] if uet else ["", "", goal]
        cells += [f"{tcp['mb_s']:,.1f}", f"{tcp['kept']:.2f}"] if tcp else ["", ""]
        cells.append(f"{row['ratio']:.1f}" if "ratio" in row else "")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def measure_incast(options):
    """Rows {mtu, peer, cc, goodput, jain, early, timeouts, dropped}.

    goodput: share of the port's rate; early and timeouts: see Streams.timeouts().
    """
    rows = []
    ways = [("uet", cc) for cc in options.cc.split(",")] + [("tcp", "")]
    for mtu in [int(m) for m in numbers(options.mtu)]:
        for peer, cc in ways:
            if peer not in options.peers.split(","):
                continue
            runs = []
            for number in range(options.rounds):
                with Network(options, options.senders + 1, mtu) as network:
                    network.limit(0, options.port, options.queue * 1024)
                    one = Streams(options, network).run(
                        peer, options.seconds, ["--bytes", "65536", "--window", "4", "--sleep"], cc,
                        options.senders, pin=False)
                    one["dropped"] = network.dropped(0)
                one["goodput"] = one["mb_s"] * 8 / options.port
                one["jain"] = jain(one["each"])
                runs.append(one)
                tell(f"mtu {mtu} round {number + 1}/{options.rounds} {peer} {cc}: "
                     f"{one['goodput']:.3f} of the port, Jain {one['jain']:.3f}, "
                     f"time-outs {one['early']} and {one['timeouts']}, dropped {one['dropped']}")
            figures = {k: median_of(runs, k)
                       for k in ("goodput", "jain", "dropped", "early", "timeouts")}
            rows.append({"mtu": mtu, "peer": peer, "cc": cc, **figures})
    return rows


def incast_table(rows):
    lines = ["| MTU | peer | of the port | Jain | time-outs at the start | later | dropped |",
             "|---|---|---|---|---|---|---|"]
    for row in rows:
        early, later = ("" if row[k] is None else f"{row[k]:g}" for k in ("early", "timeouts"))
        lines.append(f"| {row['mtu']:,} | {row['peer']} {row['cc']} | {row['goodput']:.3f} | "
                     f"{row['jain']:.3f} | {early} | {later} | {row['dropped']:g} |")
    return "\n".join(lines)


def write_between(marks, table):
    """Replaces what is between <!-- marks --> and <!-- end of marks --> in the document."""
    with open(DOCUMENT, encoding="utf-8") as f:
        text = f.read()
    begin, end = f"<!-- {marks} -->\n", f"<!-- end of {marks} -->"
    before, rest = text.split(begin)
    with open(DOCUMENT, "w", encoding="utf-8") as f:
        f.write(before + begin + table + "\n" + end + rest.split(end)[1])


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build/release"),
                        help="build folder with the provider, bench/stream and uet_ctl")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", default="uet,tcp")
    parser.add_argument("--io", default="auto", choices=["auto", "udp", "packet"])
    parser.add_argument("--mtu", default="9000,1500")
    parser.add_argument("--tcp-cc", default="",
                        help="congestion control of the kernel's TCP, such as cubic; the machine's "
                        "own if not given")
    parser.add_argument("--json", help="also write the figures there")
    parser.add_argument("--write", action="store_true",
                        help="write the table into docs/performance.md")
    commands = parser.add_subparsers(dest="command", required=True)
    loss = commands.add_parser("loss", help="one sender, packets lost at random")
    loss.add_argument("--loss", default="0.1,1,5", help="percent")
    loss.add_argument("--cc", default="", help="FI_UET_CC of uet")
    loss.add_argument("--seconds", type=float, default=3, help="at least 3")
    loss.add_argument("--delay-us", type=float, default=0,
                      help="time that each packet takes from host to host; 0: a bridge, no delay")
    incast = commands.add_parser("incast", help="several senders behind one slow port")
    incast.add_argument("--senders", type=int, default=8)
    incast.add_argument("--port", type=int, default=200, help="Mbit/s")
    incast.add_argument("--queue", type=int, default=512, help="KiB that the port keeps")
    incast.add_argument("--cc", default="aimd,nscc", help="FI_UET_CC of uet, one after the other")
    incast.add_argument("--seconds", type=float, default=8, help="at least 3")
    options = parser.parse_args()
    if options.seconds < 3:
        parser.error("--seconds: 3 at least")
    if options.command == "loss" and options.delay_us and max(numbers(options.mtu)) > 9000:
        parser.error("--delay-us: bench/cable carries an MTU of 9000 at most")
    for tool in ("nft", "ethtool", "ip", "tc"):
        if shutil.which(tool) is None:
            parser.error(f"{tool} is missing: apt-get install nftables ethtool iproute2")
    if os.geteuid() != 0:
        parser.error("network namespaces need root")
    if not os.access(os.path.join(options.build, "bench/stream"), os.X_OK):
        parser.error(f"no bench/stream in {options.build}: build it, or give --build")
    return options


def main():
    options = parse_arguments()
    with open("/proc/sys/net/ipv4/tcp_congestion_control", encoding="utf-8") as f:
        tell(f"congestion control of tcp: {options.tcp_cc or f.read().strip()}")
    if options.command == "loss":
        rows = measure_loss(options)
        table = loss_table(rows)
    else:
        rows = measure_incast(options)
        table = incast_table(rows)
    print(table)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as f:
            json.dump(rows, f, indent=2)
    if options.write:
        is_far = options.command == "loss" and options.delay_us != 0
        write_between("far loss" if is_far else options.command, table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
