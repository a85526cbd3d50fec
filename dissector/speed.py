#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How fast tshark reads a capture of UET, beside one of TCP with as many packets of the same sizes.

Usage: speed.py PLUGINS [--megabytes N] [--rounds N] [--pdcs N] [-- TSHARK-ARGUMENT...]

Each PDC sends messages of 16 packets of 1 KiB, a quarter of the packets out of order and one in 200
lost and sent again; every fourth packet is acknowledged with a SACK. In the other capture as many
connections send the same number of octets in frames of the same sizes, without loss. The two are
read in turn; the ratio is that of packets a second. Captures lie in TMPDIR and are removed.
"""
import argparse
import os
import pathlib
import random
import struct
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent / "test"))
import capture_file  # noqa: E402
import wireshark  # noqa: E402

PACKETS_OF_MESSAGE, PAYLOAD = 16, 1024
ETHERNET = bytes.fromhex("020000000002020000000001") + b"\x08\x00"
RUD_REQ, ACK_CC = 2, 8
STANDARD, RESPONSE = 3, 4
RETX_REQ = 0x10


def frame_head(protocol, length, source, target):
    return ETHERNET + struct.pack(">BBHHHBBHII", 0x45, 0, 20 + length, 0, 0x4000, 64, protocol, 0,
                                  source, target)


class Pdc:
    """The packets of one PDC, and the segments of the connection that stands beside it."""

    def __init__(self, number, rng):
        self.rng = rng
        self.a, self.b = 0x0A000001 + number, 0x0A800001 + number
        self.pdcid = number + 1
        self.psn = 1000
        self.message = 0
        self.sent = self.acked = 0  # octets of TCP
        self.port = 20000 + number
        self.cack = 999
        self.missing = set()

    def request(self, psn, retx):
        at = (psn - 1000) % PACKETS_OF_MESSAGE
        message = (psn - 1000) // PACKETS_OF_MESSAGE % 65535 + 1
        word = RUD_REQ << 11 | STANDARD << 7 | (RETX_REQ if retx else 0)
        head = struct.pack(">HhIHH", word, 0, psn, self.pdcid, self.pdcid + 0x4000)
        flags = (1 if at == 0 else 0) | (2 if at == PACKETS_OF_MESSAGE - 1 else 0)
        offset = (PAYLOAD << 32 | at * PAYLOAD) if at else 0
        head += struct.pack(">BBHIIQIQQI", 5, flags, message, 1, 0, 0, 1, 0, offset,
                            PACKETS_OF_MESSAGE * PAYLOAD)
        return self.udp(self.a, self.b, head + bytes(PAYLOAD))

    def acknowledgement(self, highest):
        while self.cack < highest and self.cack + 1 not in self.missing:
            self.cack += 1
        bits = 0
        for psn in range(self.cack + 1, min(highest, self.cack + 64) + 1):
            bits |= (psn not in self.missing) << (psn - self.cack - 1)
        done = not self.missing and (highest - 999) % PACKETS_OF_MESSAGE == 0
        word = ACK_CC << 11 | (RESPONSE if done else 0) << 7
        head = struct.pack(">HhIHHBBhQQ", word, highest - self.cack, self.cack,
                           self.pdcid + 0x4000, self.pdcid, 0, 8, 1, bits, 0)
        if done:
            message = (highest - 1000) // PACKETS_OF_MESSAGE % 65535 + 1
            head += struct.pack(">BBHII", 1, 1, message, 1, PACKETS_OF_MESSAGE * PAYLOAD)
        return self.udp(self.b, self.a, head)

    def udp(self, source, target, uet):
        port = self.rng.randrange(49152, 65536)
        return (frame_head(17, 8 + len(uet), source, target) +
                struct.pack(">HHHH", port, 4793, 8 + len(uet), 0) + uet)

    def burst(self):
        """Four new packets, what is sent again, and the ACK of them."""
        psns = list(range(self.psn, self.psn + 4))
        self.psn += 4
        if self.rng.random() < 0.25:
            self.rng.shuffle(psns)
        frames = [self.request(psn, True) for psn in sorted(self.missing)]
        self.missing = {psn for psn in psns if self.rng.random() < 0.005}
        frames += [self.request(psn, False) for psn in psns if psn not in self.missing]
        return frames + [self.acknowledgement(self.psn - 1)]

    def segment(self, length):
        """TCP of the same direction and size as a frame of UET: data, or an ACK with options."""
        is_data = length > 200
        options = 12 if is_data else length - 54
        payload = length - 54 - options
        source, target = (self.a, self.b) if is_data else (self.b, self.a)
        ports = (self.port, 5001) if is_data else (5001, self.port)
        head = struct.pack(">HHIIBBHHH", *ports, 1 + self.sent if is_data else 1,
                           1 if is_data else 1 + self.sent, (20 + options) << 2, 0x10, 65535, 0, 0)
        stamps = b"\x01\x01\x08\x0a" + struct.pack(">II", self.sent & 0xFFFF, 1)
        head += stamps + b"\x01" * (options - 12)
        self.sent = (self.sent + payload) & 0xFFFFFFFF
        return frame_head(6, 20 + options + payload, source, target) + head + bytes(payload)


def write_captures(folder, megabytes, pdcs):
    rng = random.Random(1)
    uet, tcp = (capture_file.CaptureFile(folder / f"{kind}.pcap", step_us=1)
                for kind in ("uet", "tcp"))
    all_pdcs = [Pdc(number, rng) for number in range(pdcs)]
    while uet.octets < megabytes * 1000000:
        pdc = rng.choice(all_pdcs)
        for frame in pdc.burst():
            uet.add(frame)
            tcp.add(pdc.segment(len(frame)))
    for capture in (uet, tcp):
        capture.file.close()
    return uet.count


def timed(tshark, capture, arguments):
    """Seconds of processor time and the highest resident size in MiB."""
    process = subprocess.Popen(tshark.before + ["tshark", "-n", "-r", str(capture), *arguments],
                               env=tshark.environment, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"tshark: status {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plugins")
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pdcs", type=int, default=64)
    words = sys.argv[1:] + ([] if "--" in sys.argv else ["--"])
    options = parser.parse_args(words[:words.index("--")])
    arguments = words[words.index("--") + 1:]  # of tshark
    tshark = wireshark.Tshark(options.plugins)
    with wireshark.folder() as name:
        folder = pathlib.Path(name)
        begun = time.monotonic()
        count = write_captures(folder, options.megabytes, options.pdcs)
        print(f"{count} packets, {options.megabytes} MB, made in "
              f"{time.monotonic() - begun:.0f} s", flush=True)
        for number in range(options.rounds):
            seconds, size = {}, {}
            for kind in ("tcp", "uet"):
                seconds[kind], size[kind] = timed(tshark, folder / f"{kind}.pcap",
                                                  arguments)
            print(f"round {number + 1}: tcp {count / seconds['tcp']:.0f} packets/s "
                  f"{size['tcp']:.0f} MiB, uet {count / seconds['uet']:.0f} packets/s "
                  f"{size['uet']:.0f} MiB, ratio {seconds['tcp'] / seconds['uet']:.2f}, "
                  f"memory {size['uet'] / size['tcp']:.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
