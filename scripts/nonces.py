#!/usr/bin/env python3
"""Kills sealing processes and starts them again; no nonce may repeat in their captures.

Usage: scripts/nonces.py BUILD [--rounds N] [--seed N]

Each round is an fi_pingpong of two processes with the same key (FI_UET_TSS=file), both of which are
killed after some milliseconds and record what they send until then. A packet that is there twice
with the same counter is a copy; two packets with the same source and counter are a fault. [T-16]
"""
import argparse
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import time

OUTBOUND = 2


def packets(path):
    """(source address, UDP payload) of what a process sent; a block that was cut ends the file."""
    octets = path.read_bytes()
    at = 0
    while at + 12 <= len(octets):
        kind, size = struct.unpack_from("<II", octets, at)
        if size < 12 or at + size > len(octets):
            return
        if kind == 6:
            length = struct.unpack_from("<I", octets, at + 20)[0]
            ip = octets[at + 28:at + 28 + length]
            options = octets[at + 28 + (length + 3) // 4 * 4:at + size - 4]
            if flags(options) & 3 == OUTBOUND:
                yield ip[12:16], ip[28:]
        at += size


def flags(options):
    """The flags of a packet (option 2)."""
    at = 0
    while at + 4 <= len(options):
        code, size = struct.unpack_from("<HH", options, at)
        if code == 2:
            return struct.unpack_from("<I", options, at + 4)[0]
        at += 4 + (size + 3) // 4 * 4
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    build = options.build.resolve()
    rng = random.Random(options.seed)
    seen, sent = {}, 0
    with tempfile.TemporaryDirectory(prefix="uet-nonces-") as name:
        folder = pathlib.Path(name)
        keys = build / "tools/uet_keys"
        subprocess.run([keys, "counters", "--quiet", folder / "counters"], check=True)
        subprocess.run([keys, "generate", "--quiet", folder / "keys.toml", "--sdi", "7"],
                       check=True)
        env = dict(os.environ, FI_PROVIDER_PATH=str(build / "prov/uet"), FI_PROVIDER="uet",
                   FI_UET_TSS="file", FI_UET_TSS_KEYS=str(folder / "keys.toml"),
                   FI_UET_TSS_COUNTERS=str(folder / "counters"), FI_UET_SHM="off",
                   FI_UET_IO="udp", FI_UET_PCAP=str(folder / "%p.pcapng"))
        for number in range(options.rounds):
            port = str(20000 + number % 10000)
            program = ["fi_pingpong", "-p", "uet", "-e", "rdm", "-I", "1000000", "-S", "64"]
            server = subprocess.Popen(program + ["-B", port], env=env, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL)
            time.sleep(0.4)
            client = subprocess.Popen(program + ["-P", port, "127.0.0.1"], env=env,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(1.7 + rng.random() / 2)  # captures are written once a second
            for process in (server, client):
                process.kill()
                process.wait()
            for capture in folder.glob("*.pcapng"):
                for source, octets in packets(capture):
                    sent += 1
                    known = seen.setdefault((source, octets[:12]), octets)
                    if known != octets:
                        print(f"round {number}: {octets[:12].hex()} was sealed twice")
                        return 1
                capture.unlink()
    print(f"{options.rounds} rounds, {sent} packets sent, {len(seen)} counters: none repeats")
    return 0 if sent > options.rounds else 1


if __name__ == "__main__":
    sys.exit(main())
