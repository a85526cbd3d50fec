# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds the report for Wireshark (docs/reports/wireshark-upstream.md) against its packets.

Usage: report_test.py PLUGINS UET_PCAP

Octets are written by hand in the report: uet_pcap must make the same of the text beside it. A row
of a table says which octets a field is read from, there and by us, and what is shown: both values
must follow from those octets, and tshark with our plugin must show ours.
[WIRE-002, WIRE-037, WIRE-045..047, WIRE-056, WIRE-066, WIRE-070, WIRE-078]
"""
import os
import pathlib
import re
import subprocess
import sys

import wireshark

REPORT = pathlib.Path(__file__).resolve().parents[2] / "docs/reports/wireshark-upstream"
SECTIONS, ROWS = 9, 22
PLACE = re.compile(r"(\d+)(?:-(\d+))?(?: & 0x([0-9A-F]+))?( signed)?")


def read(octets, place):
    """The value at `24`, `14-15`, `24 & 0x80`, `14-15 signed`."""
    first, last, mask, signed = PLACE.fullmatch(place).groups()
    value = int.from_bytes(octets[int(first):int(last or first) + 1], "big", signed=bool(signed))
    if mask is None:
        return value
    bits = int(mask, 16)
    return (value & bits) // (bits & -bits)


def sections():
    """Octets and rows of each numbered section."""
    text = REPORT.with_suffix(".md").read_text()
    for section in re.split(r"^## \d+\. ", text, flags=re.M)[1:]:
        section = section.split("\n## ")[0]
        octets = re.search(r"^Octets: (.*?)\n\n", section, flags=re.M | re.S).group(1)
        spans = "".join(re.findall(r"`([^`]*)`", octets))
        rows = [[cell.strip() for cell in line.strip("|").split("|")]
                for line in section.split("\n") if line.startswith("|")][2:]
        yield bytes.fromhex("".join(spans.split())), rows


def wrong_row(octets, row, packet):
    name, there, shows, place, to_show, ours = row
    for where, value in ((there, shows), (place, to_show)):
        if where == "-" and value != "nothing":
            yield f"{name}: {value} without octets"
        if where != "-" and read(octets, where) != int(value):
            yield f"{name}: octets {where} are {read(octets, where)}, not {value}"
    if shows == to_show:
        yield f"{name}: nothing is wrong"
    if not ours:
        return
    ours = ours.strip("`")
    if ours not in packet or packet.number(ours) != int(to_show):
        yield f"{ours} is {packet.values.get(ours)}, not {to_show}"


def findings(tshark, capture):
    report = list(sections())
    packets = tshark.packets(capture)
    payloads = [row[0] for row in tshark.rows(capture, ["udp.payload"])]
    if len(report) != SECTIONS or len(packets) != SECTIONS:
        yield f"{len(report)} sections, {len(packets)} packets, expected {SECTIONS}"
        return
    if sum(len(rows) for _, rows in report) != ROWS:
        yield f"{sum(len(rows) for _, rows in report)} rows, expected {ROWS}"
    for number, ((octets, rows), payload) in enumerate(zip(report, payloads), 1):
        if octets.hex() != payload:
            yield f"{number}: octets {octets.hex()}, uet_pcap makes {payload}"
        for row in rows:
            yield from (f"{number}: {text}" for text in
                        wrong_row(octets, row, packets[number - 1]))
    for number, packet in enumerate(packets, 1):
        if packet.malformed():
            yield f"{number}: malformed"


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    tshark = wireshark.Tshark(sys.argv[1])
    with wireshark.folder() as folder:
        capture = f"{folder}/report.pcapng"
        subprocess.run([sys.argv[2], "make", REPORT.with_suffix(".txt"), capture], check=True)
        os.chmod(capture, 0o644)
        found = list(findings(tshark, capture))
    for finding in found:
        print(finding)
    print(f"{SECTIONS} packets, {len(found)} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
