# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds what tshark finds in a lossy capture of the provider against the provider's own counters.

Usage: lossy_test.py PLUGINS CAPTURE COUNTERS (nodes | pingpong)

The capture is of one of two programs, COUNTERS (JSON) are those of the one that was captured.
nodes: they exchange 24 tagged messages, 4 writes and 4 reads of 60000 octets each; pingpong: 50
messages of that length each way, and a short one before them.
"""
import json
import os
import sys
import typing

import wireshark


class Traffic(typing.NamedTuple):
    """What there would be without loss; messages are of 15 packets (4096)."""
    messages: int
    reads: int
    sent: int  # requests


TRAFFIC = {"nodes": Traffic(24 + 4 + 4, 4, (12 + 4 + 4) * 15),
           "pingpong": Traffic(50 + 50, 0, 50 * 15 + 1)}
OUTBOUND = 2
REQUESTS = {"2", "3", "13", "14"}
NACKS = {"10", "12"}
FIELDS = ["frame.number", "frame.packet_flags_direction", "_ws.col.Protocol", "uet.pds.type",
          "uet.pds.ctl_type",
          "uet.pds.analysis.retransmission", "uet.pds.analysis.duplicate",
          "uet.pds.analysis.request_frame", "uet.pds.analysis.ack_frame",
          "uet.pds.analysis.previous_frame", "uet.pds.analysis.cause",
          "uet.pds.analysis.cause_frame", "uet.pds.nack_code",
          "uet.ses.reassembled_length", "uet.ses.opcode", "uet.ses.analysis.data_frame",
          "uet.pds.analysis.closed_in", "uet.pds.pdc", "_ws.malformed", "_ws.expert.group"]
READ = 2


class Packet:
    def __init__(self, row):
        values = dict(zip(FIELDS, row))
        self.__dict__.update({name.split(".")[-1]: value for name, value in values.items()})
        self.outbound = int(values["frame.packet_flags_direction"], 0) == OUTBOUND
        self.is_request = self.type in REQUESTS
        self.is_nack = self.type in NACKS


def count(packets, condition):
    return sum(1 for p in packets if condition(p))


def findings(packets, counters, traffic):
    """Pairs of what should be equal, with a name."""
    resent = counters["tx_requests"] - traffic.sent
    decided = sum(value for name, value in counters.items() if name.startswith("retx_"))
    yield "packets that are UET", count(packets, lambda p: p.Protocol == "UET"), len(packets)
    yield "malformed packets", count(packets, lambda p: p.malformed or "117440512" in p.group), 0
    yield ("retransmissions sent",
           count(packets, lambda p: p.outbound and p.is_request and p.retransmission), resent)
    yield ("requests sent", count(packets, lambda p: p.outbound and p.is_request),
           counters["tx_requests"])
    yield ("requests received", count(packets, lambda p: not p.outbound and p.is_request),
           counters["rx_requests"])
    for name, outbound in (("nacks_tx", True), ("nacks_rx", False)):
        yield (name, count(packets, lambda p, o=outbound: p.is_nack and p.outbound == o),
               counters[name])
    yield ("NACKs received without the frame they answer",
           count(packets, lambda p: p.is_nack and not p.outbound and not p.request_frame), 0)
    rod_ooo = str(0x0D)
    yield ("NACKs ROD_OOO received",
           count(packets, lambda p: p.is_nack and not p.outbound and
                 str(int(p.nack_code, 0)) == rod_ooo), counters["nack_rx_rod_ooo"])
    yield ("retransmissions sent that do not know the first transmission",
           count(packets, lambda p: p.outbound and p.retransmission and not p.previous_frame), 0)
    yield ("retransmissions sent without a cause",
           count(packets, lambda p: p.outbound and p.retransmission and p.cause in ("", "0")), 0)
    # Some are decided on and not sent, because an ACK comes first.
    yield "retransmissions sent and not decided on", max(resent - decided, 0), 0
    asked = counters["retx_go_back_n"] + counters["retx_nack"]
    for_nacks = [p for p in packets if p.outbound and p.retransmission and p.cause == "1"]
    nacks = {p.number for p in packets if p.is_nack and not p.outbound}
    yield ("retransmissions for NACKs that did not come",
           count(for_nacks, lambda p: p.cause_frame not in nacks), 0)
    yield "NACKs that caused retransmissions", for_nacks != [], asked > 0
    yield ("requests sent that no ACK covers",
           count(packets, lambda p: p.outbound and p.is_request and not p.ack_frame), 0)
    yield ("messages put together", count(packets, lambda p: p.reassembled_length == "60000"),
           traffic.messages)
    reads = [p for p in packets if p.opcode and int(p.opcode, 0) == READ and p.data_frame]
    yield "reads whose data is found", len({p.data_frame for p in reads}), traffic.reads
    yield "PDCs", len({p.pdc for p in packets if p.pdc}), 2
    yield "PDCs that are closed", len({p.closed_in for p in packets if p.closed_in}), 2


def main():
    if len(sys.argv) != 5 or sys.argv[4] not in TRAFFIC:
        print(__doc__)
        return 2
    _, plugins, capture, counters_file, traffic = sys.argv
    if not os.path.exists(capture):
        wireshark.skip("who makes the capture was skipped")
    os.chmod(capture, 0o644)
    with open(counters_file) as file:
        counters = json.load(file)
    tshark = wireshark.Tshark(plugins)
    # Its source ports are entropy values: some are ports of other protocols.
    rows = tshark.rows(capture, FIELDS, "-2", "-o", "udp.try_heuristic_first:TRUE")
    packets = [Packet(row) for row in rows]
    wrong = 0
    for name, found, expected in findings(packets, counters, TRAFFIC[traffic]):
        print(f"{name}: {found}" + ("" if found == expected else f", expected {expected}"))
        wrong += found != expected
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
