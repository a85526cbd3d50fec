# SPDX-License-Identifier: GPL-2.0-or-later
"""Which messages follow from which, in data/chains.txt: each fact written by hand.

Usage: chains_test.py PLUGINS UET_PCAP

[SES-089, SES-093..095, SES-098, SES-099]
"""
import pathlib
import subprocess
import sys

import wireshark

# By packet: the message it is of, and what it is linked with. A rendezvous is linked with its first
# read and says how many there are.
MESSAGE = {1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 5, 7: 6, 8: 6, 9: 6, 10: 7, 11: 8, 12: 8, 13: 9, 14: 10,
           15: 11, 16: 12}
LINKED = {1: {4}, 2: {3}, 3: {2}, 4: {1}, 5: {1}, 6: {1}, 7: {10}, 8: {10}, 10: {7, 11}, 11: {10},
          12: {10}, 13: {14}, 14: {13, 15}, 15: {14}}
COUNT = {1: 2}
DEFERRED = {9}


def numbers(packet, name):
    return {int(text) for text in packet.values.get(name, [])}


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    tshark = wireshark.Tshark(sys.argv[1])
    text = pathlib.Path(__file__).resolve().parent / "data/chains.txt"
    with wireshark.folder() as folder:
        capture = pathlib.Path(folder) / "chains.pcapng"
        subprocess.run([sys.argv[2], "make", text, capture], check=True)
        capture.chmod(0o644)
        packets = tshark.packets(capture, "-2")
    wrong = 0
    for number, packet in enumerate(packets, 1):
        for name, expected in (
                ("uet.ses.message", {MESSAGE[number]}),
                ("uet.ses.analysis.linked_frame", LINKED.get(number, set())),
                ("uet.ses.analysis.linked_count", {COUNT[number]} if number in COUNT else set())):
            if numbers(packet, name) != expected:
                print(f"packet {number}: {name} {numbers(packet, name)}, expected {expected}")
                wrong += 1
        if ("uet.ses.deferred" in packet.remarks) != (number in DEFERRED):
            print(f"packet {number}: deferred is not {number in DEFERRED}")
            wrong += 1
        if packet.malformed():
            print(f"packet {number}: malformed")
            wrong += 1
    if len(packets) != len(MESSAGE):
        print(f"{len(packets)} packets, expected {len(MESSAGE)}")
        wrong += 1
    print(f"{len(packets)} packets, {wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
