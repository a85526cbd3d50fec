# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tables and graphs of data/statistics.txt show, each figure computed by hand.

Usage: statistics_test.py PLUGINS UET_PCAP
"""
import pathlib
import subprocess
import sys

import wireshark

# Three of four requests with one value and one with another: 2 - 3/4 * log2(3) = 0.81 bits; four
# values alike: 2 bits.
ENTROPY = [
    ["0", "10.0.0.1 > 10.0.0.2", "4", "2", "50000", "3", "0.81"],
    ["0", "10.0.0.2 > 10.0.0.1", "4", "4", "40000", "1", "2.00"],
    ["1", "10.0.1.1 > 10.0.1.2", "1", "1", "4660", "1", "0.00"],
]
# Of PDC 0, filtered: only those with the rarer value.
FILTERED = [["0", "10.0.0.1 > 10.0.0.2", "1", "1", "50001", "1", "0.00"]]
# Packets, requests, octets, sent again, ACKs, missing, two times in microseconds (the ACKs come
# after 0.8, 1.2 and 2.1 s), NACKs and their codes.
PDCS = [["0", "10.0.0.1 > 10.0.0.2", "11", "8", "0", "0", "3", "0", 1.2e6, 2.1e6, "0", ""],
        ["1", "10.0.1.1 > 10.0.1.2", "4", "1", "0", "0", "0", "0", 0, 0, "3",
         "TRIMMED 2, NO_RESOURCE 1"]]
# I/O graphs: the largest value in each second from the first packet on. The service time is in
# units of 128 ns.
GRAPHS = {
    "MAX(uet.pds.rcvd_bytes)uet.pds.rcvd_bytes": ["3", "7", "0", "0"],
    "MAX(uet.pds.credit)uet.pds.credit": ["0", "0", "1000", "0"],
    "MAX(uet.pds.ooo_count)uet.pds.ooo_count": ["1", "0", "2", "0"],
    "MAX(uet.pds.service_time_ns)uet.pds.service_time_ns": ["1280", "3840", "0", "0"],
}


def rows(text):
    """Lines of a table as lists of words between bars, without the head."""
    lines = [[cell.strip() for cell in line.strip().removeprefix("|").split("|")][:-1]
             for line in text.split("\n") if "|" in line]
    return [line for line in lines if line[0][:1].isdigit()]


def same(shown, expected):
    """Rows by cell; numbers are times, which are right to 5 %."""
    def cell(text, value):
        return text == value if isinstance(value, str) else (
            abs(float(text) - value) <= 0.05 * value)
    return len(shown) == len(expected) and all(
        len(row) == len(values) and all(map(cell, row, values))
        for row, values in zip(shown, expected))


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    tshark = wireshark.Tshark(sys.argv[1])
    text = pathlib.Path(__file__).resolve().parent / "data/statistics.txt"
    pairs = []
    with wireshark.folder() as folder:
        capture = pathlib.Path(folder) / "statistics.pcapng"
        subprocess.run([sys.argv[2], "make", text, capture], check=True)
        capture.chmod(0o644)
        for tap, expected in (("uet,entropy", ENTROPY), ("uet,pdc", PDCS),
                              ("uet,entropy,uet.entropy==50001", FILTERED),
                              ("uet,pdc,uet.pds.pdc==1", PDCS[1:])):
            shown = rows(tshark.run("-r", capture, "-q", "-z", tap))
            pairs.append((tap, shown, expected))
        for graph, expected in GRAPHS.items():
            shown = rows(tshark.run("-r", capture, "-q", "-z", f"io,stat,1,{graph}"))
            pairs.append((graph, [row[1:2] for row in shown if "<>" in row[0]],
                          [[value] for value in expected]))
    wrong = [pair for pair in pairs if not same(*pair[1:])]
    for what, shown, expected in wrong:
        print(f"{what}: {shown}, expected {expected}")
    print(f"{len(pairs)} tables and graphs, {len(wrong)} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
