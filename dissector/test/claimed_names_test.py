# SPDX-License-Identifier: GPL-2.0-or-later
"""The plugin beside another one that has claimed its names, in both orders of registration.

Usage: claimed_names_test.py PLUGINS CLAIMANT UET_PCAP

CLAIMANT (test/claimant.cpp) claims the protocol names, port, tap and tables of the dissector "uet"
of Wireshark 5.0, and some of our field names with other types. Wireshark starts all the same. The
plugin, now called "uetx", dissects what goes to port 4793. Its fields keep their names, except
those whose types differ.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import wireshark

HERE = pathlib.Path(__file__).resolve().parent
ORDERS = {"before", "after"}  # the claimant hands off before or after the plugin
TRIES = 16  # the file system decides on the order: names of files until both were seen

PROTOCOLS = {"uet": "UET", "uetx": "UETX", "uet.tss": "UET TSS", "uet.pds": "UET PDS",
             "uet.ses": "UET SES", "uet.link": "UE link", "uet.link.mac": "UE MAC control"}
RENAMED = {"uetx.pds.rcvd_bytes", "uetx.pds.service_time", "uetx.pds.cack_psn", "uetx.pds.nack"}
# Filter, and how many packets of conversation.txt it takes, counted by hand. `uet` is the protocol
# of the claimant, which is given none of them.
FILTERS = {"uet": 0, "uetx": 29, "uet.pds": 29, "uet.entropy": 29, "uet.pds.psn == 1000": 2,
           "uet.pds.type == 8": 1, "uet.pds.opens": 4, "uetx.pds.nack": 2,
           "uetx.pds.cack_psn == 1202": 1}


class Wrong(Exception):
    pass


def expect(what, seen, expected):
    if seen != expected:
        raise Wrong(f"{what}: {seen}, expected {expected}")


def order_of(tshark):
    done = subprocess.run(tshark.before + ["tshark", "-G", "protocols"], env=tshark.environment,
                          capture_output=True, text=True, timeout=60, check=True)
    return re.findall(r"claimant: (\w+) uetx", done.stderr)


def both_orders(plugin, claimant, folder):
    """For each order a Tshark whose folder of plugins gives it."""
    found = {}
    for number in range(TRIES):
        epan = pathlib.Path(folder) / str(number) / plugin.parents[1].name / "epan"
        epan.mkdir(parents=True)
        pair = [(claimant, f"c{number}.so"), (plugin, "uet.so")]
        for source, target in pair if number % 2 else reversed(pair):
            shutil.copy(source, epan / target)
        tshark = wireshark.Tshark(epan.parents[1])
        for order in order_of(tshark):
            found.setdefault(order, tshark)
        if set(found) == ORDERS:
            return found
    raise Wrong(f"only {sorted(found)} seen of {sorted(ORDERS)}")


def column(tshark, report, at):
    return {row[at] for row in (line.split("\t") for line in
                                tshark.run("-G", report).split("\n")) if len(row) > at}


def check_names(tshark, alone):
    rows = [line.split("\t") for line in tshark.run("-G", "protocols").split("\n")]
    expect("protocols", {row[2]: row[1] for row in rows if row[0] and row[2].startswith("uet")},
           PROTOCOLS)
    fields = column(tshark, "fields", 2)
    expect("fields renamed", {name for name in fields if name.startswith("uetx.")}, RENAMED)
    expect("fields lost", {name for name in alone - fields if name.startswith("uet.")}, set())


def check_packets(tshark, capture):
    expect("protocol column", {row[0] for row in tshark.rows(capture, ["_ws.col.Protocol"])},
           {"UETX"})
    for text, count in FILTERS.items():
        expect(text, len(tshark.run("-r", capture, "-Y", text).splitlines()), count)
    decode_as = ["-d", "udp.port==4793,uet", "-Y", "uet"]  # a user who wants the other one
    expect("packets decoded as uet", len(tshark.run("-r", capture, *decode_as).splitlines()), 29)
    head = "PDC |Initiator > target"
    expect("table of PDCs", head in tshark.run("-r", capture, "-q", "-z", "uetx,pdc"), True)
    # Preferences follow the name of the protocol; with a CRC that is not there, packets are wrong.
    bad = tshark.run("-r", capture, "-o", "uetx.trailer:crc", "-o", "uetx.udp.port:5000",
                     "-Y", "uet.crc.bad").splitlines()
    expect("packets with a bad CRC", bool(bad), True)


def main():
    if len(sys.argv) != 4:
        print(__doc__)
        return 2
    plugin = next(pathlib.Path(sys.argv[1]).glob("*/epan/uet.so"))
    alone = column(wireshark.Tshark(sys.argv[1]), "fields", 2)
    if any(name.startswith("uetx") for name in alone):
        print("names are replaced though no file claims them")
        return 1
    with wireshark.folder() as folder:
        capture = f"{folder}/conversation.pcapng"
        subprocess.run([sys.argv[3], "make", HERE / "data/conversation.txt", capture], check=True)
        os.chmod(capture, 0o644)
        try:
            orders = both_orders(plugin, sys.argv[2], folder)
            for order, tshark in orders.items():
                print(f"claimant {order} uetx")
                check_names(tshark, alone)
                check_packets(tshark, capture)
        except Wrong as wrong:
            print(wrong)
            return 1
    print(f"{len(FILTERS)} filters in {len(orders)} orders")
    return 0


if __name__ == "__main__":
    sys.exit(main())
