# SPDX-License-Identifier: GPL-2.0-or-later
"""What is taken for UET, as the table of docs/howto/wireshark.md has it.

Usage: carriage_test.py PLUGINS

[WIRE-006, WIRE-008, WIRE-009]
"""
import pathlib
import sys

import capture_file
import wireshark

PROBE = bytes.fromhex("5b0898760000000700010002" "00000003")
ENTROPY = bytes.fromhex("beef0000")
DNS = bytes.fromhex("123401000001000000000000" "0161" "00" "00010001")


def over_udp(source, target, payload=PROBE):
    return wireshark.ethernet(wireshark.ipv4(wireshark.udp(payload, source, target), 17))


def over_ip(protocol):
    return wireshark.ethernet(wireshark.ipv4(ENTROPY + PROBE, protocol))


# Packet, options of tshark, whether it is UET.
CASES = [
    (over_udp(50000, 4793), (), True),
    (over_udp(4793, 50000), (), True),
    (over_udp(50000, 16384), (), True),  # by its octets
    (over_udp(50000, 16384), ("--disable-heuristic", "uet_udp"), False),
    (over_udp(50000, 16384), ("--disable-heuristic", "uet_udp", "-o", "uet.udp.port:16384"), True),
    (over_udp(50000, 16384), ("--disable-heuristic", "uet_udp", "-o", "uet.udp.port:4793,16384"),
     True),
    (over_udp(50000, 16384, DNS), (), False),
    (over_udp(50000, 53, DNS), (), False),
    (over_udp(50000, 16384, PROBE[:11]), (), False),  # shorter than any packet with a PDC
    (over_udp(50000, 4793, PROBE[:11]), (), True),  # malformed, and sent to the port of UET
    (over_ip(253), (), True),
    (over_ip(200), (), False),
    (over_ip(200), ("-o", "uet.ip.proto:200"), True),
]


def main():
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    tshark = wireshark.Tshark(sys.argv[1])
    wrong = 0
    with wireshark.folder() as folder:
        capture = pathlib.Path(folder) / "one.pcap"
        for number, (frame, options, expected) in enumerate(CASES, 1):
            capture_file.write_pcap(capture, [frame])
            shown = tshark.packets(capture, *options)[0]
            if ("uet" in shown.layers) != expected:
                print(f"case {number}: taken for UET: {not expected}, layers {shown.layers}")
                wrong += 1
            entropy = shown.number("uet.entropy") if "uet.entropy" in shown else None
            over_native = frame[23] != 17
            if expected and entropy != (0xBEEF if over_native else
                                        int.from_bytes(frame[34:36], "big")):
                print(f"case {number}: entropy value {entropy}")
                wrong += 1
    print(f"{len(CASES)} packets, {wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
