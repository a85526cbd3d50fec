#!/usr/bin/env python3
"""What transport security costs on this machine: bandwidth and latency over UDP sockets, packet
sockets and shared memory, in the clear and sealed, beside AES-256-GCM alone and TLS over TCP.

Usage: bench/secured.py BUILD [--rounds N] [--seconds S] [--json FILE]

BUILD is a build folder with the targets uet-fi, uet_keys and stream; fi_pingpong and openssl are in
PATH. All ways take turns, and of each the best round counts: other programs only make it slower.
Both ends run on 127.0.0.1, with FI_UET_SHM=off but for shared memory. Packet sockets need
CAP_NET_RAW.
"""
import argparse
import json
import os
import pathlib
import re
import socket
import ssl
import subprocess
import sys
import tempfile
import time

MIB = 1 << 20
GOAL_SHARE = 0.65   # of the cipher alone, 1 MiB over UDP sockets
GOAL_EXTRA_US = 1.5  # 64 B, over clear


# Name, whether it is sealed, FI_UET_IO, FI_UET_SHM.
WAYS = [("clear", False, "udp", "off"), ("sealed", True, "udp", "off"),
        ("clear, packet sockets", False, "packet", "off"),
        ("sealed, packet sockets", True, "packet", "off"),
        ("clear, shared memory", False, "udp", "auto"),
        ("sealed, shared memory", True, "udp", "auto")]


def environment(build, folder, is_secured, io, shm):
    env = dict(os.environ, FI_PROVIDER_PATH=str(build / "prov/uet"), FI_PROVIDER="uet",
               FI_UET_IO=io, FI_UET_SHM=shm)
    if is_secured:
        env.update(FI_UET_TSS="file", FI_UET_TSS_KEYS=str(folder / "keys.toml"),
                   FI_UET_TSS_COUNTERS=str(folder / "counters"))
    return env


def stream(build, env, seconds):
    """MB/s of messages of 1 MiB, one way."""
    program = [str(build / "bench/stream"), "--seconds", str(seconds)]
    taker = subprocess.Popen(program + ["receive", "127.0.0.1"], env=env, stdout=subprocess.PIPE,
                             text=True)
    time.sleep(0.5)
    subprocess.run(program + ["send", "127.0.0.1"], env=env, stdout=subprocess.DEVNULL, check=True)
    report = json.loads(taker.communicate(timeout=60)[0])
    return sum(report["bytes"]) / report["seconds"] / 1e6


def pingpong(env, octets, iterations):
    """Microseconds one way."""
    program = ["fi_pingpong", "-p", "uet", "-e", "rdm", "-S", str(octets), "-I", str(iterations),
               "-B", "47990"]
    taker = subprocess.Popen(program, env=env, stdout=subprocess.DEVNULL)
    time.sleep(0.7)
    out = subprocess.run(program[:-2] + ["-P", "47990", "127.0.0.1"], env=env, check=True,
                         capture_output=True, text=True).stdout
    taker.wait(timeout=60)
    return float(out.strip().split("\n")[-1].split()[-2])


def cipher(seconds):
    """MB/s of AES-256-GCM in blocks of 4 KiB."""
    out = subprocess.run(["openssl", "speed", "-mr", "-seconds", str(seconds), "-bytes", "4096",
                          "-evp", "aes-256-gcm"], capture_output=True, text=True, check=True).stdout
    return float(re.search(r"^\+F:.*:([0-9.]+)$", out, re.M).group(1)) / 1e6


def tls(folder, seconds):
    """MB/s of TLS 1.3 with AES-256-GCM over TCP, one way, by OpenSSL in user space."""
    pem = folder / "tls.pem"
    if not pem.exists():
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", pem,
                        "-out", str(pem) + ".cert", "-subj", "/CN=uet"], capture_output=True,
                       check=True)
        pem.write_text(pem.read_text() + pathlib.Path(str(pem) + ".cert").read_text())
    listener = socket.create_server(("127.0.0.1", 0))

    def send():
        end = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        end.load_cert_chain(pem)
        plain, _ = listener.accept()
        data = bytes(MIB)
        with end.wrap_socket(plain, server_side=True) as to:
            stop = time.monotonic() + seconds
            while time.monotonic() < stop:
                to.sendall(data)
    pid = os.fork()
    if pid == 0:
        send()
        os._exit(0)
    end = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    end.check_hostname, end.verify_mode = False, ssl.CERT_NONE
    buffer = bytearray(MIB)
    total = 0
    with end.wrap_socket(socket.create_connection(listener.getsockname())) as of:
        name = of.cipher()[0]
        begun = time.monotonic()
        while (got := of.recv_into(buffer)) > 0:
            total += got
        took = time.monotonic() - begun
    os.waitpid(pid, 0)
    if "AES_256_GCM" not in name:
        sys.exit(f"TLS chose {name}")
    return total / took / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--iterations", type=int, default=20000)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    build = options.build.resolve()
    best = {}

    def keep(name, value, better):
        best[name] = value if name not in best else better(best[name], value)

    with tempfile.TemporaryDirectory(prefix="uet-secured-") as name:
        folder = pathlib.Path(name)
        keys = str(build / "tools/uet_keys")
        subprocess.run([keys, "counters", "--quiet", folder / "counters"], check=True)
        subprocess.run([keys, "generate", "--quiet", folder / "keys.toml", "--sdi", "7"],
                       check=True)
        for _ in range(options.rounds):
            keep("cipher MB/s", cipher(max(1, int(options.seconds))), max)
            keep("TLS MB/s", tls(folder, options.seconds), max)
            for way, is_secured, io, shm in WAYS:
                env = environment(build, folder, is_secured, io, shm)
                keep(f"{way} MB/s", stream(build, env, options.seconds), max)
                keep(f"{way} us", pingpong(env, 64, options.iterations), min)
    share = best["sealed MB/s"] / best["cipher MB/s"]
    extra = best["sealed us"] - best["clear us"]
    print("| way | 1 MiB, one way | share of the cipher | 64 B, one way |")
    print("|---|---|---|---|")
    print(f"| AES-256-GCM alone, 4 KiB | {best['cipher MB/s']:,.0f} MB/s | | |")
    latencies = {way: f"{best[way + ' us']:.2f} us" for way, *_ in WAYS}
    for way, latency in (latencies | {"TLS": ""}).items():
        rate = best[f"{way} MB/s"]
        print(f"| {way} | {rate:,.0f} MB/s | {rate / best['cipher MB/s']:.2f} | {latency} |")
    print(f"\nsealed: {share:.2f} of the cipher (goal {GOAL_SHARE}), {extra:+.2f} us at 64 B "
          f"(goal +{GOAL_EXTRA_US})")
    if options.json:
        options.json.write_text(json.dumps(best | {"share": share, "extra us": extra}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
