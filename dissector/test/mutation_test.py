# SPDX-License-Identifier: GPL-2.0-or-later
"""Sends mutated captures through tshark: it must neither crash nor find a bug in the plugin.

Usage: mutation_test.py PLUGINS [--seconds S] [--seed N] [CAPTURE.pcap...]

Packets come from the vectors of wire/test/data, sealed ones with and without their keys, and the
given captures (pcap). Each round draws its mutations from a seed, which is printed when the round
fails; --seed N repeats that round alone. For a plugin built with the address sanitizer
UET_TSHARK_PRELOAD names its runtime.
"""
import argparse
import json
import os
import pathlib
import random
import resource
import struct
import subprocess
import sys
import tempfile
import time

import capture_file
import wireshark
from link_test import FRAMES, MORE
from tss_test import VECTORS, frame_of, key_line
from vectors_test import framed

PACKETS = 4000  # in a round
UDP_PAYLOAD = 14 + 20 + 8


def vectors():
    data = pathlib.Path(__file__).resolve().parents[2] / "wire/test/data/wire-vectors.json"
    for vector in json.loads(data.read_text()):
        frame = framed(vector)
        if frame is not None:
            yield frame


def with_lengths(frame):
    """Makes the lengths of IPv4 and UDP right again, so that the rest is looked at."""
    if len(frame) < UDP_PAYLOAD or frame[12:14] != b"\x08\x00":
        return frame
    fixed = bytearray(frame)
    struct.pack_into(">H", fixed, 16, len(frame) - 14)
    if frame[23] == 17:
        struct.pack_into(">H", fixed, 38, len(frame) - 34)
    return bytes(fixed)


def mutated(rng, frame):
    octets = bytearray(frame)
    first = min(UDP_PAYLOAD, len(octets) - 1)
    for _ in range(rng.choice((0, 1, 1, 2, 4, 16))):
        octets[rng.randrange(first, len(octets))] = rng.choice(
            (0, 0xFF, 0x7F, 0x80, rng.randrange(256)))
    if rng.random() < 0.3:
        del octets[rng.randrange(first, len(octets) + 1):]
    elif rng.random() < 0.2:
        octets += rng.randbytes(rng.randrange(1, 64))
    return with_lengths(bytes(octets)) if rng.random() < 0.9 else bytes(octets)


def round_of(seed, frames):
    """A conversation of sorts: few packets, mutated and repeated, in any order."""
    rng = random.Random(seed)
    chosen = [rng.choice(frames) for _ in range(rng.choice((3, 30, 300)))]
    return [mutated(rng, rng.choice(chosen)) for _ in range(PACKETS)]


def write_keys(path):
    """Those of the sealed vectors."""
    path.write_text("".join(line + "\n" for line in sorted(map(key_line, VECTORS["packets"]))))
    path.chmod(0o644)


def limit_processor_time():
    """Time of the process alone: the machine may have other work."""
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))


def run_round(tshark, seed, frames, folder):
    """What is wrong, or None."""
    capture = pathlib.Path(folder) / "mutated.pcap"
    capture_file.write_pcap(capture, round_of(seed, frames))
    arguments = ["tshark", "-r", str(capture), "-V", "-n"] + (["-2"] if seed % 2 else [])
    arguments += ["-o", f"uet.trailer:{'crc' if seed % 3 == 0 else 'none'}"]
    arguments += ["-o", f"uet.tss.key_file:{pathlib.Path(folder) / 'keys'}"] if seed % 4 else []
    arguments += ["-z", "expert", "-z", "uet,pdc", "-z", "uet,ses", "-z", "uet,entropy"]
    environment = dict(tshark.environment, WIRESHARK_ABORT_ON_DISSECTOR_BUG="1")
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        try:
            done = subprocess.run(tshark.before + arguments, env=environment, stdout=output,
                                  stderr=errors, check=False, timeout=900,
                                  preexec_fn=limit_processor_time)
        except subprocess.TimeoutExpired:
            return "still there after 15 minutes"
        output.seek(0)
        errors.seek(0)
        said = errors.read().decode(errors="replace")
        shown = output.read()
    if done.returncode != 0:
        return f"status {done.returncode}: {said[-2000:]}"
    if b"issector bug" in shown or "issector bug" in said or "CRITICAL" in said:
        return f"bug found: {said[-2000:]}"
    if b"Ultra Ethernet Transport" not in shown and b"UE Link Layer" not in shown:
        return "no packet was taken for UET"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plugins")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int)
    parser.add_argument("captures", nargs="*")
    options = parser.parse_intermixed_args()
    tshark = wireshark.Tshark(options.plugins)
    tshark.must_load()
    frames = list(vectors()) + 4 * [bytes.fromhex(f) for f in FRAMES + MORE]
    frames += 2 * [frame_of(packet) for packet in VECTORS["packets"]]
    frames += [f for path in options.captures for f in capture_file.frames_of(path)]
    first = options.seed if options.seed is not None else int.from_bytes(os.urandom(4), "big")
    deadline = time.monotonic() + options.seconds
    rounds = 0
    with wireshark.folder() as folder:
        write_keys(pathlib.Path(folder) / "keys")
        while rounds == 0 or (options.seed is None and time.monotonic() < deadline):
            seed = first + rounds
            problem = run_round(tshark, seed, frames, folder)
            rounds += 1
            if problem is not None:
                print(f"seed {seed}: {problem}")
                return 1
    print(f"{rounds} rounds of {PACKETS} packets from seed {first}: nothing wrong")
    return 0


if __name__ == "__main__":
    sys.exit(main())
