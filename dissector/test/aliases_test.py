# SPDX-License-Identifier: GPL-2.0-or-later
"""Filters with names of the dissector of Wireshark 5.0 select our packets.

Usage: aliases_test.py PLUGINS UET_PCAP

Its names and types are those of commit 2e69f352 of its source. A packet of every format
(data/formats.txt) must have an alias exactly where it has our field, with the same value, and
hidden. The table of docs/howto/wireshark.md must have the same aliases, and name fields that exist.
"""
import os
import pathlib
import re
import subprocess
import sys

import wireshark

HERE = pathlib.Path(__file__).resolve().parent

# Its name, its type, our name.
ALIASES = """
nh                           UINT16   next_hdr
flags.m                      BOOLEAN  m
flags.retx                   BOOLEAN  retx
flags.ar                     BOOLEAN  ar
flags.p                      BOOLEAN  p
flags.nt                     BOOLEAN  nt
flags.syn                    BOOLEAN  syn
flags.req                    UINT8    req
pdc_mode_use_rsv             BOOLEAN  use_rsv_pdc
nack.psn                     UINT32   nack_psn
nack.code                    UINT8    nack_code
nack.vendor_code             UINT8    vendor_code
cc_state.ccc_id              UINT8    ccc_id
cc_state.credit_target       UINT24   credit_target
ack.cc_type                  UINT8    cc_type
ack.mpr                      UINT8    mpr
ack.sack_bitmap              UINT64   sack_bitmap
ack.cc_state.service_time    UINT16   service_time
ack.cc_state.rc              BOOLEAN  rc
ack.cc_state.rcv_cwnd_pend   UINT8    rcv_cwnd_pend
ack.cc_state.rcvd_bytes      UINT24   rcvd_bytes
ack.cc_state.credit          UINT24   credit
ack.cc_state.ooo_count       UINT16   ooo_count
ack.ccx_state                BYTES    ack_ccx_state
rudi.pkt_id                  UINT32   pkt_id
"""
# Types of one group compare in filters.
GROUPS = [{"UINT8", "UINT16", "UINT24", "UINT32"}, {"UINT64"}, {"BOOLEAN"}, {"BYTES"}]
# How many packets of conversation.txt a filter takes, counted by hand.
FILTERS = {"uet.pds.flags.retx == 1": 5, "uet.pds.nack.code == 11": 1,
           "uet.pds.rudi.pkt_id == 5": 2, "uet.pds.nh == 4": 2, "uet.pds.ack.mpr == 1": 1}


def aliases():
    for line in ALIASES.split("\n"):
        if line:
            other, kind, ours = line.split()
            yield f"uet.pds.{other}", kind, f"uet.pds.{ours}"


HIDDEN = {other for other, _, _ in aliases()}  # for tests that compare all fields of a packet


def types_of_fields(tshark):
    return {row[2]: row[3].removeprefix("FT_") for row in
            (line.split("\t") for line in tshark.run("-G", "fields").split("\n"))
            if row[0] == "F"}


def wrong_table(types):
    """Rows of the table: names of both sides in backticks, without `uet.`; then remarks."""
    text = (HERE.parents[1] / "docs/howto/wireshark.md").read_text()
    table = text.split("### Its names and ours")[1].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in table.split("\n") if line.startswith("|")][2:]
    named = set()
    for theirs, ours, remark in rows:
        names = [f"uet.{name}" for name in re.findall(r"`([^`]+)`", ours)]
        yield from (f"table: no field {name}" for name in names if name not in types)
        if re.match(r" alias\b", remark):
            named.add((f"uet.{theirs.strip().strip('`')}", *names))
    for pair in sorted(named ^ {(other, ours) for other, _, ours in aliases()}):
        yield f"table and test differ in {pair}"


def wrong_types(types):
    for other, kind, _ in aliases():
        group = next(group for group in GROUPS if kind in group)
        if types.get(other) not in group:
            yield f"{other} is {types.get(other)}, in Wireshark {kind}"


def wrong_values(tshark, capture):
    names = [(other, ours) for other, _, ours in aliases()]
    rows = tshark.rows(capture, [name for pair in names for name in pair])
    for index, (other, ours) in enumerate(names):
        pairs = [(row[2 * index], row[2 * index + 1]) for row in rows]
        if not any(seen for seen, _ in pairs):
            yield f"no packet has {other}"
        for number, (seen, expected) in enumerate(pairs, 1):
            if seen != expected:
                yield f"packet {number}: {other} is '{seen}', {ours} '{expected}'"


def shown(tshark, capture):
    """PDML says of each field whether Wireshark hides it in its trees."""
    text = tshark.run("-r", capture, "-T", "pdml")
    for other, _, _ in aliases():
        elements = re.findall(f'<field name="{re.escape(other)}"[^>]*>', text)
        if not elements or any(' hide="yes"' not in element for element in elements):
            yield f"{other} is not hidden"


def wrong_filters(tshark, capture):
    for text, count in FILTERS.items():
        taken = len(tshark.run("-r", capture, "-Y", text).splitlines())
        if taken != count:
            yield f"{text}: {taken} packets, expected {count}"


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    tshark = wireshark.Tshark(sys.argv[1])
    with wireshark.folder() as folder:
        captures = {}
        for name in ("formats", "conversation"):
            captures[name] = f"{folder}/{name}.pcapng"
            subprocess.run([sys.argv[2], "make", HERE / f"data/{name}.txt", captures[name]],
                           check=True)
            os.chmod(captures[name], 0o644)
        types = types_of_fields(tshark)
        findings = [*wrong_types(types), *wrong_table(types),
                    *wrong_values(tshark, captures["formats"]), *shown(tshark, captures["formats"]),
                    *wrong_filters(tshark, captures["conversation"])]
    for finding in findings[:30]:
        print(finding)
    print(f"{len(list(aliases()))} aliases, {len(findings)} differences")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
