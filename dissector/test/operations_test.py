# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds what tshark finds in a capture of the provider against what the application did.

Usage: operations_test.py PLUGINS CAPTURE OPERATIONS [KEYLOG]

OPERATIONS (JSON) lists the operations of the node that was captured, each begun when the one before
was complete; the capture knows nothing of them but what is on the wire. With KEYLOG, which the
provider wrote, every packet of the capture is sealed and opens with it.
"""
import json
import os
import sys

import wireshark

OUTBOUND = 2
FIELDS = ["frame.number", "frame.packet_flags_direction", "uet.ses.message", "uet.ses.opcode",
          "uet.ses.som", "uet.ses.request_length", "uet.ses.buffer_offset", "uet.ses.memory_key",
          "uet.ses.atomic_opcode", "uet.ses.atomic_datatype", "uet.ses.compare_value",
          "uet.ses.swap_value", "uet.payload", "uet.ses.reassembled_length",
          "uet.ses.reassembled_data", "uet.ses.analysis.linked_frame",
          "uet.ses.analysis.linked_count", "uet.ses.analysis.request_frame", "_ws.malformed",
          "_ws.expert.group", "_ws.col.Protocol", "uet.pds.analysis.retransmission"]
OPCODES = {"WRITE": 1, "READ": 2, "ATOMIC": 3, "FETCHING_ATOMIC": 4, "SEND": 5, "TAGGED_SEND": 9}
RENDEZVOUS = {"SEND": 6, "TAGGED_SEND": 10}
DEFERRABLE = {"SEND": 8, "TAGGED_SEND": 11}
RTR = 12
ATOMICS = {"SUM": 2, "BXOR": 10, "MAX": 1, "READ": 11, "CSWAP": 13, "MSWAP": 19}
UINT32 = 5
PAYLOAD = 4096


class Packet:
    def __init__(self, row):
        self.text = dict(zip(FIELDS, row))
        self.outbound = int(self.text["frame.packet_flags_direction"], 0) == OUTBOUND
        self.number = self.value("frame.number")
        self.message = self.value("uet.ses.message")
        self.opcode = self.value("uet.ses.opcode")
        self.payload = self.text["uet.payload"].replace(":", "")

    def value(self, name):
        """The first value of a number; none when the packet does not have it."""
        text = self.text[name].split(",")[0]
        return int(text, 0) if text else None


class Message:
    """The packets of one message, and of the answers to it."""

    def __init__(self, packets, number):
        mine = [p for p in packets if p.message == number]
        self.requests = [p for p in mine if p.opcode is not None]
        self.answers = [p for p in mine if p.opcode is None and p.payload]
        self.first = self.requests[0]
        self.opcode, self.length = self.first.opcode, self.first.value("uet.ses.request_length")
        self.linked = {int(text) for p in self.requests
                       for text in p.text["uet.ses.analysis.linked_frame"].split(",") if text}

    def assembled(self, packets):
        """Length and beginning of what was put together of several packets, or of the one."""
        for packet in packets:
            if packet.text["uet.ses.reassembled_length"]:
                return (packet.value("uet.ses.reassembled_length"),
                        packet.text["uet.ses.reassembled_data"].replace(":", ""))
        whole = packets[0].payload if packets else ""
        return len(whole) // 2, whole


def low_octets(text):
    return int(text.replace(":", "") or "0", 16)


def of_operation(message, done):
    """Pairs of what should be equal, for an operation that is one message."""
    name = done["operation"]
    yield "opcode", message.opcode, OPCODES[name]
    if "key" in done:
        yield "key", message.first.value("uet.ses.memory_key"), done["key"]
        yield "offset", message.first.value("uet.ses.buffer_offset"), done["offset"]
    if "data" in done:
        length, data = message.assembled(message.requests)
        yield "length", (message.length, length), (done["length"], done["length"])
        yield "data", data[:len(done["data"])], done["data"]
    if "result" in done:
        length, data = message.assembled(message.answers)
        yield "length", (message.length, length), (done["length"], done["length"])
        yield "result", data[:len(done["result"])], done["result"]
    if "atomic" in done:
        yield from of_atomic(message, done)


def of_atomic(message, done):
    """Operands are big-endian on the wire, as are the values of compare and swap, which are in the
    last octets of their fields. [WIRE-071, WIRE-073]"""
    first = message.first
    yield "operation", first.value("uet.ses.atomic_opcode"), ATOMICS[done["atomic"]]
    yield "data type", first.value("uet.ses.atomic_datatype"), UINT32
    if "compare" in done:
        yield "compare", low_octets(first.text["uet.ses.compare_value"]), done["compare"]
        yield "swap", low_octets(first.text["uet.ses.swap_value"]), done["swap"]
    elif done["atomic"] != "READ":
        yield "operand", first.payload, f"{done['operand']:08x}"
    if "old" in done:
        answers = {p.payload for p in message.answers}
        yield "old value", answers, {f"{done['old']:08x}"}


def of_chain(messages, done):
    """A send that went by rendezvous or was deferrable, with what follows from it."""
    name, first = done["operation"], messages[0]
    if first.opcode == RENDEZVOUS[name]:
        reads = [m for m in messages[1:] if m.opcode == OPCODES["READ"]]
        yield "messages of a rendezvous", len(reads), len(messages) - 1
        yield "first read", first.linked, {reads[0].first.number} if reads else "a read"
        for read in reads:
            yield "rendezvous of a read", read.linked, {first.first.number}
        yield "octets read", sum(read.length for read in reads), done["length"] - PAYLOAD
        for read in reads:
            yield "data of a read", read.assembled(read.answers)[0], read.length
    else:
        chain = [first.opcode] if not done["late"] else [DEFERRABLE[name], RTR, DEFERRABLE[name]]
        yield "opcodes of a deferrable send", [m.opcode for m in messages], chain
        yield "opcode", first.opcode, DEFERRABLE[name]
        frames = [m.first.number for m in messages]
        for at, message in enumerate(messages):
            yield f"links of part {at}", message.linked, set(
                frames[max(at - 1, 0):at] + frames[at + 1:at + 2])
        length, data = messages[-1].assembled(messages[-1].requests)
        yield "length", length, done["length"]
        yield "data", data[:len(done["data"])], done["data"]


def split(messages, count, is_first):
    """Messages by operation: each list begins with one that an operation begins with."""
    parts = []
    for message in messages:
        if is_first(message, len(parts)):
            parts.append([])
        if parts:
            parts[-1].append(message)
    return parts if len(parts) == count else []


def main():
    if len(sys.argv) not in (4, 5):
        print(__doc__)
        return 2
    _, plugins, capture, operations_file, *keys = sys.argv
    os.chmod(capture, 0o644)
    with open(operations_file) as file:
        operations = json.load(file)
    tshark = wireshark.Tshark(plugins)
    options = ["-2", "-o", "udp.try_heuristic_first:TRUE"]
    if keys:
        os.chmod(keys[0], 0o644)
        # A sealed packet to a port of a later process looks like nothing.
        options += ["-o", f"uet.tss.key_file:{keys[0]}", "-o", "uet.udp.port:4793,16384-32767"]
        opened = [row[0] for row in tshark.rows(capture, ["uet.tss.icv.good"], *options)]
        if set(opened) != {"1"}:
            print(f"{opened.count('1')} of {len(opened)} packets are sealed and open")
            return 1
    rows = tshark.rows(capture, FIELDS, *options)
    packets = [Packet(row) for row in rows]
    numbers = sorted({p.message for p in packets if p.opcode is not None})
    messages = [Message(packets, number) for number in numbers]
    chains = "late" in operations[0] and messages[0].opcode not in OPCODES.values()

    def begins(message, parts):
        del parts
        return not chains or (message.first.outbound and message.opcode != OPCODES["READ"] and
                              not any(f < message.first.number for f in message.linked))

    findings = [("packets that are UET", {p.text["_ws.col.Protocol"] for p in packets}, {"UET"}),
                ("malformed packets", [p.number for p in packets if p.text["_ws.malformed"] or
                                       "117440512" in p.text["_ws.expert.group"]], [])]
    parts = split(messages, len(operations), begins)
    findings.append(("operations", len(parts), len(operations)))
    for part, done in zip(parts, operations):
        pairs = of_chain(part, done) if chains else of_operation(part[0], done)
        findings += [(f"{done['operation']} in frame {part[0].first.number}: {name}", *pair)
                     for name, *pair in pairs]
    wrong = [finding for finding in findings if finding[1] != finding[2]]
    for name, found, expected in wrong:
        print(f"{name}: {found}, expected {expected}")
    print(f"{len(packets)} packets, {len(operations)} operations, {len(findings)} comparisons, "
          f"{len(wrong)} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
