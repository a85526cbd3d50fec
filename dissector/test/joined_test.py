# SPDX-License-Identifier: GPL-2.0-or-later
"""Datagrams that a host has joined (segmentation offload) are shown as the packets that they are.

Usage: joined_test.py PLUGINS UET_PCAP

Packets are captured one by one, and joined: what is said of each must be the same.
"""
import pathlib
import subprocess
import sys

import capture_file
import wireshark

UDP_PAYLOAD = 14 + 20 + 8
HEAD = "10.0.0.1 > 10.0.0.2 | RUD_REQ "
KEY = "sdi=1 an=0 mode=cluster key=" + "34" * 32


def message(first_psn, length, part, pdc, identifier=5):
    """A message in packets of `part` octets; `pdc` is what the PDS headers have besides."""
    lines = []
    for offset in range(0, length, part):
        here = min(part, length - offset)
        which = "som" if offset == 0 else f"payload_length={here} message_offset={offset}"
        last = " eom" if offset + here == length else ""
        psn = first_psn + offset // part
        lines.append(f"{HEAD}psn={psn} {pdc(psn)} | STANDARD opcode=SEND message_id={identifier} "
                     f"request_length={length} {which}{last} | payload *{here}")
    return lines


def confirmed(psn):
    del psn
    return "spdcid=9 dpdcid=77"


def syn(psn):
    return f"syn psn_offset={psn - 100} spdcid=9"


# Name, packets, options of uet_pcap.
RUNS = [
    ("one message", message(100, 5000, 1000, confirmed), False),
    ("the last is shorter", message(100, 4500, 1000, confirmed), False),
    ("two packets", message(100, 2000, 1000, confirmed), False),
    ("SYNs", message(100, 40000, 8192, syn), False),
    ("of two messages, with a gap between their PSNs",
     message(100, 2000, 1000, confirmed) + message(110, 2000, 1000, confirmed, 6), False),
    ("reads", [f"{HEAD}psn={n} spdcid=9 dpdcid=77 | STANDARD opcode=READ som eom message_id={n} "
               "request_length=8" for n in (1, 2, 3)], False),
    ("sealed", message(100, 5000, 1000, confirmed), True),
    ("sealed, with an SSI", [line.replace("10.0.0.2 |", "10.0.0.2 ssi=7 |")
                             for line in message(100, 5000, 1000, confirmed)], True),
]
# Fields of the packet or of the message, not of the frame.
FIELDS = ["uet.pds.psn", "uet.pds.analysis.psn_rel", "uet.pds.analysis.gap", "uet.ses.message",
          "uet.ses.request_length", "uet.ses.som", "uet.ses.eom", "uet.payload",
          "uet.ses.reassembled_length", "uet.ses.reassembled_data", "uet.tss.icv.status",
          "uet.tss.counter", "uet.surplus", "uet.pds.analysis.retransmission"]


def joined(frames):
    payload = b"".join(frame[UDP_PAYLOAD:] for frame in frames)
    return [wireshark.ethernet(wireshark.ipv4(wireshark.udp(payload, 49152), 17))]


class Checks:
    def __init__(self, tshark, program, folder):
        self.tshark, self.program, self.folder = tshark, program, pathlib.Path(folder)
        self.wrong = 0

    def expect(self, found, expected, what):
        if found != expected:
            self.wrong += 1
            print(f"{what}: {found}, expected {expected}")

    def made(self, lines, sealed):
        keys, made, capture = (self.folder / name for name in ("keys", "made", "capture"))
        keys.write_text(KEY + "\n")
        keys.chmod(0o644)
        text = "\n".join(f"0.{n:03} {line}" for n, line in enumerate(lines))
        arguments = ["--keys", keys, "--sdi", "1"] if sealed else []
        subprocess.run([self.program, "make", "-", made, *arguments], input=text, text=True,
                       check=True)
        subprocess.run(["editcap", "-F", "pcap", made, capture], check=True)
        return list(capture_file.frames_of(capture))

    def values(self, frames, fields):
        """Of each field all values in the capture, in order."""
        capture = self.folder / "shown.pcap"
        capture_file.write_pcap(capture, frames)
        rows = self.tshark.rows(capture, fields, "-2", "-E", "occurrence=a", "-o",
                                f"uet.tss.key_file:{self.folder / 'keys'}")
        return {name: [v for row in rows for v in row[at].split(",") if v]
                for at, name in enumerate(fields)}

    def run(self, name, lines, sealed):
        frames = self.made(lines, sealed)
        expected = self.values(frames, FIELDS)
        marks = ["uet.joined.count", "uet.joined.number", "_ws.expert.group"]
        shown = self.values(joined(frames), FIELDS + marks)
        for field in FIELDS:
            self.expect(shown[field], expected[field], f"{name}: {field}")
        count = [str(len(frames))] * len(frames)
        numbers = [str(n + 1) for n in range(len(frames))]
        self.expect(shown["uet.joined.count"], count, f"{name}: count")
        self.expect(shown["uet.joined.number"], numbers, f"{name}: numbers")
        self.expect(str(0x07000000) in shown["_ws.expert.group"], False, f"{name}: malformed")

    def one_packet(self, name, payload):
        """A packet stays one, whatever is in it."""
        line = f"{HEAD}psn=5 {confirmed(5)} | SMALL opcode=WRITE request_length={len(payload)}"
        frame = self.made([f"{line} | payload {payload.hex()}"], False)
        marks = self.values(frame, ["uet.joined.count", "uet.payload"])
        self.expect(marks["uet.joined.count"], [], f"{name}: joined")
        self.expect(marks["uet.payload"], [payload.hex()], f"{name}: payload")


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    with wireshark.folder() as folder:
        checks = Checks(wireshark.Tshark(sys.argv[1]), sys.argv[2], folder)
        for name, lines, sealed in RUNS:
            checks.run(name, lines, sealed)
        own = bytes.fromhex("108000000000000500090" "04d")  # its own head, and one of another PDC
        other = bytes.fromhex("10800000000000060009004e")
        checks.one_packet("zeros", bytes(4000))
        checks.one_packet("its own head", bytes(32) + own * 50)
        checks.one_packet("heads of another PDC", bytes(32) + other * 50)
    print(f"{len(RUNS)} runs and 3 packets, {checks.wrong} differences")
    return 1 if checks.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
