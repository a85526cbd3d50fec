"""The programs that bench/peers.py runs: which command, with which environment, and what it prints.

A peer is one transport. Its class has, for each test that applies to it, the command of either end
and the figures in what both ends print: `us` for a message, `mb_s` (10^6 octets a second), `k_s`
(thousand messages a second), or `s_per_gb`, seconds of processor time of both ends together for
10^9 octets.
"""
import json
import os
import subprocess

# Length of each run, about a second: shorter ones mostly show the start.
PINGPONG_ITERATIONS = {8: 100000, 4096: 50000, 65536: 10000, 1048576: 2000}
PROCESSOR_RATE = 1000  # MB/s
SHORT = 64  # octets of a message to many peers

# name: program of fabtests and its options, the figure that counts, sizes with iterations and what
# is wanted of the ratio uet/tcp of that figure (None: nothing).
TESTS = {
    "pingpong": (["fi_pingpong", "-e", "rdm"], "us",
                 {size: (count, None) for size, count in PINGPONG_ITERATIONS.items()}),
    "tagged_bw": (["fi_rdm_tagged_bw"], "mb_s",
                  {64: (500000, 2.0), 4096: (200000, 2.0), 65536: (30000, 1.0),
                   1048576: (3000, 0.85)}),
    "rma_write": (["fi_rma_bw", "-e", "rdm", "-o", "write"], "mb_s",
                  {4096: (200000, 2.0), 1048576: (3000, 1.5)}),
    "rma_read": (["fi_rma_bw", "-e", "rdm", "-o", "read"], "mb_s",
                 {4096: (200000, 2.0), 1048576: (3000, 1.5)}),
    "rdm_pingpong": (["fi_rdm_pingpong"], "us", {64: (100000, 0.8)}),
    "cntr_pingpong": (["fi_rdm_cntr_pingpong"], "us", {64: (30000, 1 / 3)}),
    # bench/stream, whose length is seconds, not iterations: 64 messages at once, a new one for each
    # that is done.
    "rolling": ([], "mb_s", {64: (1, 4.0), 4096: (1, 4.0), 65536: (1, 1.0)}),
    "processor": ([], "s_per_gb", {65536: (2, 0.8), 1048576: (2, 0.8)}),
    # Here the size is how many receivers there are; 64 octets, 64 at once to each.
    "many_peers": ([], "k_s", {1: (1, None), 8: (1, None), 64: (1, None)}),
}
OF_STREAM = {"rolling", "processor", "many_peers"}
OF_FABTESTS = {"tagged_bw", "rma_write", "rma_read", "rdm_pingpong", "cntr_pingpong"}


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
        self.program, self.figure, sizes = TESTS[name]
        self.iterations, self.goal = sizes.get(size, (1000, None))

    def key(self):
        return f"{self.name}:{self.size}"

    def is_smaller_better(self):
        return self.figure not in ("mb_s", "k_s")


class Libfabric:
    """A provider of libfabric."""

    def __init__(self, provider, environment=None, slowness=1):
        self.provider, self.slowness = provider, slowness
        self.environment = environment or {}

    def applies_to(self, _test):
        return True

    def ready_line(self, test):
        """The line on standard error that says that the server can be used; None: there is none."""
        return "ready\n" if test.name in OF_STREAM else None

    def stream_command(self, test, options, client):
        line = [os.path.join(options.build, "bench/stream"), "-p", self.provider, "--seconds",
                str(test.iterations)]
        address, more = options.server, []
        if test.name == "processor":
            line += ["--sleep", "--bytes", str(test.size)]
            more = ["--rate", str(PROCESSOR_RATE)]
        elif test.name == "rolling":
            line += ["--bytes", str(test.size), "--window", "64"]
        else:
            line += ["--receivers", str(test.size), "--bytes", str(SHORT), "--window", "64"]
            address = options.many
        return line + (["send", *more, address] if client else ["receive", address])

    def command(self, test, options, client):
        if test.name in OF_STREAM:
            return self.stream_command(test, options, client)
        iterations = test.iterations // self.slowness
        line = [*test.program, "-p", self.provider, "-S", str(test.size),
                "-I", str(max(iterations, min(50, test.iterations)))]
        if test.name in OF_FABTESTS:
            line[0] = os.path.join(options.fabtests, line[0])
        return line + ([options.server] if client else [])

    def parse(self, test, client_out, server_out):
        if test.name == "processor":
            ends = [json.loads(out) for out in (client_out, server_out)]
            return {"s_per_gb": sum(end["processor_seconds"] / sum(end["bytes"]) * 1e9
                                    for end in ends)}
        if test.name == "many_peers":
            counts = json.loads(server_out)
            return {"k_s": sum(counts["bytes"]) / SHORT / counts["seconds"] / 1e3}
        if test.name == "rolling":
            counts = json.loads(server_out)
            mb_s = sum(counts["bytes"]) / counts["seconds"] / 1e6
            return {"mb_s": mb_s, "us": test.size / mb_s}
        rows = [line.split() for line in client_out.splitlines()]
        if test.name == "pingpong":
            row = rows[-1]
            return {"us": float(row[6]), "mb_s": float(row[5])}
        names = next(row for row in rows if row and row[0] == "bytes")
        row = next(row for row in reversed(rows) if len(row) == len(names) and row is not names)
        return {"us": float(row[names.index("usec/xfer")]),
                "mb_s": float(row[names.index("MB/sec")])}


class Raw:
    """UDP sockets with GSO and GRO without any protocol: bench/raw."""
    environment = {}

    def applies_to(self, test):
        is_stream = test.name == "tagged_bw" and test.size % 4096 == 0
        return test.name == "pingpong" or is_stream

    def ready_line(self, _test):
        return None

    def command(self, test, options, client):
        tool = os.path.join(options.build, "bench/raw_pingpong")
        if not client:
            return [tool, "server", options.server]
        stream = ["--stream"] if test.name == "tagged_bw" else []
        return [tool, "client", options.server, "--json", "--sizes", str(test.size),
                "--iterations", str(test.iterations), *stream]

    def parse(self, _test, client_out, _server_out):
        row = json.loads(client_out)["sizes"][0]
        return {figure: row[figure] for figure in ("us", "mb_s")}


class Copy:
    """No transport: one copy of each message, by one processor."""
    environment = {}

    def applies_to(self, test):
        return test.name in ("pingpong", "tagged_bw", "rma_write", "rma_read")

    def ready_line(self, _test):
        return None

    def command(self, test, options, client):
        if not client:
            return ["true"]
        return [os.path.join(options.build, "bench/copy_limit"), "--bytes", str(test.size),
                "--iterations", str(test.iterations)]

    def parse(self, _test, client_out, _server_out):
        row = json.loads(client_out)
        return {figure: row[figure] for figure in ("us", "mb_s")}


class Ucx:
    """UCX, by its own ucx_perftest."""
    TESTS = {"pingpong": "tag_lat", "rdm_pingpong": "tag_lat", "tagged_bw": "tag_bw",
             "rma_write": "ucp_put_bw", "rma_read": "ucp_get"}

    def __init__(self, transports):
        self.environment = {"UCX_TLS": transports}

    def applies_to(self, test):
        return test.name in self.TESTS

    def ready_line(self, _test):
        return None

    def command(self, test, options, client):
        # As many messages at once as the programs of fabtests have.
        line = ["ucx_perftest", "-t", self.TESTS[test.name], "-s", str(test.size),
                "-n", str(test.iterations), "-w", str(test.iterations // 20 + 10), "-O", "64",
                "-f", "-v"]
        return line + ([options.server] if client else [])

    def parse(self, _test, client_out, _server_out):
        names, row = [line.split(",") for line in client_out.splitlines()][-2:]
        figures = dict(zip(names, map(float, row)))
        return {"us": figures["overall_lat"], "mb_s": figures["overall_bw"] * (1 << 20) / 1e6}


def make_peers(options):
    """Each peer by its name."""
    uet = {"FI_PROVIDER_PATH": os.path.join(options.build, "prov/uet"), "FI_UET_IO": options.io,
           "FI_UET_SHM": "off" if options.no_shm else "auto"}
    return {
        "uet": Libfabric("uet", uet),
        "aimd": Libfabric("uet", {**uet, "FI_UET_CC": "aimd"}),
        "fixed": Libfabric("uet", {**uet, "FI_UET_CC": "fixed"}),
        "sockets": Libfabric("uet", {**uet, "FI_UET_SHM": "off"}),
        "tcp": Libfabric(tcp_provider()),
        "rxm": Libfabric("tcp;ofi_rxm"),
        "rxd": Libfabric("udp;ofi_rxd", slowness=20),
        "shm": Libfabric("shm"),
        "raw": Raw(),
        "copy": Copy(),
        "ucx": Ucx("tcp"),
        "ucx_shm": Ucx("shm,cma"),
    }
