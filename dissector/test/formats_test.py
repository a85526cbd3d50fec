# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds a packet of every format against the layouts of the wire reference.

Usage: formats_test.py PLUGINS UET_PCAP

data/formats.txt says what is in each packet. The layouts below are written by hand after
docs/reference/wire.md; by them the octets that uet_pcap makes and the fields that tshark shows, all
of them and no others, must be what the text says. Names of codes are those of the reference, and
every code that it names is there.
[WIRE-036..058, WIRE-059..078, WIRE-079, WIRE-081..084, WIRE-087, WIRE-088, WIRE-121]
"""
import pathlib
import re
import subprocess
import sys

import capture_file
import wireshark
from aliases_test import HIDDEN
from names_test import LISTS, NEXT_HEADERS, TABLES, expected_names

ROOT = pathlib.Path(__file__).resolve().parents[2]
REFERENCE = (ROOT / "docs/reference/wire.md").read_text()
CODES = {field: {name: code for code, name in expected_names(REFERENCE, field, *table).items()}
         for field, *table in TABLES}
CODES["uet.pds.next_hdr"] = {name: code for code, name in enumerate(NEXT_HEADERS)}
CODES["uet.ses.list"] = {name: code for code, name in enumerate(LISTS)}
CODES["uet.pds.req"] = {"CLEAR": 1, "CLOSE": 2}  # [WIRE-038]
CODES["uet.pds.cc_type"] = {"NSCC": 0, "CREDIT": 1}  # [WIRE-046]

# Where a field is: octet, its first bit (7 is the highest of an octet), its bits.
PROLOGUE = "type 0.7:5 next_hdr 0.2:4"
REQUEST = (PROLOGUE + " retx 1.4:1 ar 1.3:1 syn 1.2:1 clear_psn_offset 2.7:16 psn 4.7:32"
           " spdcid 8.7:16")
CONFIRMED = " dpdcid 10.7:16"
SYN = " use_rsv_pdc 10.7:1 private_mark 10.5:1 psn_offset 10.3:12"
REQUEST_CC = " ccc_id 12.7:8 credit_target 13.7:24"
ACK = " m 1.5:1 retx 1.4:1 p 1.3:1 req 1.2:2 cack_psn 4.7:32 spdcid 8.7:16 dpdcid 10.7:16"
ACKED = " ack_psn_offset 2.7:16"
PROBED = " probe_opaque 2.7:16"
SACK = " cc_flags 12.3:4 mpr 13.7:8 sack_psn_offset 14.7:16 sack_bitmap 16.7:64"
NSCC = (" cc_type 12.7:4 service_time 24.7:16 rc 26.7:1 rcv_cwnd_pend 26.6:7 rcvd_bytes 27.7:24"
        " ooo_count 30.7:16")
CREDIT = " cc_type 12.7:4 credit 24.7:24 ooo_count 30.7:16"
NACK = (PROLOGUE + " m 1.5:1 retx 1.4:1 nt 1.3:1 nack_code 2.7:8 vendor_code 3.7:8 spdcid 8.7:16"
        " dpdcid 10.7:16 payload 12.7:32")
CONTROL = ("type 0.7:5 ctl_type 0.2:4 isrod 1.5:1 retx 1.4:1 ar 1.3:1 syn 1.2:1"
           " probe_opaque 2.7:16 psn 4.7:32 spdcid 8.7:16 payload 12.7:32")
COMMON = ("opcode 0.5:6 ver 1.7:2 dc 1.5:1 ie 1.4:1 rel 1.3:1 hd 1.2:1 eom 1.1:1 som 1.0:1"
          " ri_generation 4.7:8 job_id 5.7:24 pid_on_fep 8.3:12 resource_index 10.3:12")
LENGTH14 = " request_length 2.5:14"
STANDARD = COMMON + " message_id 2.7:16 initiator 20.7:32 request_length 40.7:32"
RESPONSE = "list 0.7:2 response_opcode 0.5:6 ver 1.7:2 return_code 1.5:6 job_id 5.7:24"
ATOMIC = "atomic_opcode 0.7:8 atomic_datatype 1.7:8 sem_ctl 2.7:8"

SIZES = {"RUD_REQ": 12, "ROD_REQ": 12, "RUD_CC_REQ": 16, "ROD_CC_REQ": 16, "RUDI_REQ": 8,
         "RUDI_RESP": 8, "UUD_REQ": 4, "ACK": 12, "ACK_CC": 32, "ACK_CCX": 40, "NACK": 16,
         "NACK_CCX": 32, "CP": 16, "SMALL": 20, "MEDIUM": 32, "STANDARD": 44, "RESPONSE": 12,
         "RESPONSE_DATA": 20, "RESPONSE_DATA_SMALL": 12, "RENDEZVOUS": 24, "ATOMIC": 4,
         "COMPARE_SWAP": 36}
# Values from other packets, and the parts of a field that is compared whole.
NOT_OF_THE_PACKET = ("uet.pds.pdc", "uet.pds.analysis.", "uet.ses.analysis.", "uet.ses.fragment",
                     "uet.ses.reassembled", "uet.ses.sem_ctl.")
KEYED = {"WRITE", "READ", "ATOMIC", "FETCHING_ATOMIC"}  # memory_key in the place of match_bits


def pds_layout(kind, given):
    if kind.endswith("_REQ") and kind[:3] in ("RUD", "ROD") and kind != "RUDI_REQ":
        return (REQUEST + (SYN if "syn" in given else CONFIRMED)
                + (REQUEST_CC if "CC" in kind else ""))
    if kind.startswith("ACK"):
        ack = PROLOGUE + ACK + (PROBED if "p" in given else ACKED)
        if kind == "ACK":
            return ack + " epsn 1.6:1" + (" payload 12.7:32" if "epsn" in given else "")
        if kind == "ACK_CCX":
            return ack + SACK + " ccx_type 12.7:4 ack_ccx_state 24.7:128"
        return ack + SACK + (CREDIT if given.get("cc_type") == "CREDIT" else NSCC)
    if kind.startswith("NACK"):
        nack = NACK + (" nack_pkt_id 4.7:32" if "nt" in given else " nack_psn 4.7:32")
        return nack + (" nccx_type 16.7:4 nack_ccx_state 16.3:124" if kind == "NACK_CCX" else "")
    if kind == "CP":
        return CONTROL + (SYN if "syn" in given else CONFIRMED)
    if kind == "RUDI_REQ":
        return PROLOGUE + " retx 1.4:1 private_mark 2.5:1 pkt_id 4.7:32"
    if kind == "RUDI_RESP":
        return PROLOGUE + " m 1.5:1 retx 1.4:1 pkt_id 4.7:32"
    return PROLOGUE  # UUD


def ses_layout(kind, given):
    opcode = given.get("opcode")
    match = (" memory_key" if opcode in KEYED else " match_bits") + " 24.7:64"
    if kind == "SMALL":
        return COMMON + LENGTH14 + " buffer_offset 12.7:64"
    if kind == "MEDIUM":
        first = " header_data 12.7:64" if "hd" in given else " buffer_offset 12.7:64"
        return COMMON + LENGTH14 + first + " initiator 20.7:32" + match
    if kind == "STANDARD":
        tokens = " initiator_restart_token {}.7:32 target_restart_token {}.7:32"
        deferrable = opcode in ("DEFERRABLE_SEND", "DEFERRABLE_TSEND")
        return (STANDARD
                + (tokens.format(12, 16) if deferrable else " buffer_offset 12.7:64")
                + (tokens.format(24, 28) if opcode == "DEFERRABLE_RTR" else match)
                + (" header_data 32.7:64" if "som" in given else
                   " payload_length 34.5:14 message_offset 36.7:32"))
    if kind == "RESPONSE":
        return RESPONSE + " message_id 2.7:16 ri_generation 4.7:8 modified_length 8.7:32"
    if kind == "RESPONSE_DATA":
        return (RESPONSE + " response_message_id 2.7:16 read_request_message_id 8.7:16"
                " payload_length 10.5:14 modified_length 12.7:32 message_offset 16.7:32")
    if kind == "RESPONSE_DATA_SMALL":
        return RESPONSE + " payload_length 2.5:14 original_request_psn 8.7:32"
    if kind == "RENDEZVOUS":
        return ("eager_length 0.7:32 read_ri_generation 4.7:8 read_pid_on_fep 5.7:12"
                " read_resource_index 6.3:12 read_offset 8.7:64 read_memory_key 16.7:64")
    return ATOMIC + (" compare_value 4.7:128 swap_value 20.7:128" if kind == "COMPARE_SWAP" else "")


def places(layout):
    """Field to first bit and bits."""
    return {name: (8 * int(octet) + 7 - int(bit), int(bits)) for name, octet, bit, bits in
            re.findall(r"(\w+) (\d+)\.(\d):(\d+)", layout)}


class Packet:
    """What a line says: octets of UET, and fields as tshark must show them."""

    def __init__(self, line):
        around, *parts = [part.split() for part in line.split("|")]
        options = dict(word.partition("=")[::2] for word in around[4:])
        self.native, self.v6 = "native" in options, ":" in around[3]
        self.trimmed = options.get("dscp") in ("16", "18")
        self.octets = b""
        self.fields, self.names = {}, {}
        headers = [part for part in parts if part[0] != "payload"]
        for number, (kind, *words) in enumerate(headers):
            self.header(kind, words, number == 0, headers[1][0] if len(headers) > 1 else "none")
        for part in parts:
            if part[0] == "payload":
                self.octets += bytes(range(int(part[1].removeprefix("*"))))
        self.octets = self.octets[:len(self.octets) - int(options.get("cut", 0))]
        self.derive()

    def header(self, kind, words, is_pds, following):
        given = dict(word.partition("=")[::2] for word in words)
        layer = "uet.pds" if is_pds else "uet.ses"
        layout = places(pds_layout(kind, given) if is_pds else ses_layout(kind, given))
        values = {name: value or "1" for name, value in given.items()}
        if is_pds:
            values.update({"type": kind, "next_hdr": following})
        elif kind in ("SMALL", "MEDIUM"):
            values.update({"som": "1", "eom": "1"})
        elif kind.startswith("RESPONSE_DATA"):
            values["response_opcode"] = "RESPONSE_W_DATA"
        size = SIZES[kind] + (4 if "epsn" in given else 0)
        whole = 0
        shown = self.fields if is_pds or not self.trimmed else {}
        for name, (first, bits) in layout.items():
            value = number(f"{layer}.{name}", values.pop(name, "0"))
            whole |= (value & (1 << bits) - 1) << 8 * size - first - bits
            shown[f"{layer}.{name}"] = value
        values.pop("next_hdr", None)
        if values:
            sys.exit(f"{kind} has no {sorted(values)}")
        self.octets += whole.to_bytes(size, "big")

    def derive(self):
        """What fields mean together. [WIRE-002, WIRE-040, WIRE-045..047, WIRE-057]"""
        get = {name.removeprefix("uet.pds."): value for name, value in self.fields.items()}.get
        for name, of, offset, sign in (("clear_psn", "psn", "clear_psn_offset", 1),
                                       ("start_psn", "psn", "psn_offset", -1),
                                       ("ack_psn", "cack_psn", "ack_psn_offset", 1),
                                       ("sack_base", "cack_psn", "sack_psn_offset", 1)):
            if get(offset) is not None:
                self.fields[f"uet.pds.{name}"] = (get(of) + sign * get(offset)) % 2**32
        if get("mpr") is not None:
            self.fields["uet.pds.mp_range"] = 128 * get("mpr")
        if get("service_time") not in (None, 0, 0xFFFF):
            self.fields["uet.pds.service_time_ns"] = 128 * get("service_time")
        if get("ctl_type") == CODES["uet.pds.ctl_type"]["CREDIT"]:
            self.fields["uet.pds.credit"] = get("payload") >> 8
        if get("ctl_type") == CODES["uet.pds.ctl_type"]["CREDIT_REQ"]:
            self.fields["uet.pds.ccc_id"] = get("payload") >> 24
            self.fields["uet.pds.credit_target"] = get("payload") % 2**24


def number(field, text):
    return CODES.get(field, {}).get(text) if text in CODES.get(field, {}) else int(text, 0)


def shown_number(field, text):
    if ":" not in text:
        return int(text, 0)
    value = int(text.replace(":", ""), 16)
    return value % 2**124 if field == "uet.pds.nack_ccx_state" else value


def differences(packet, frame, shown):
    start = 14 + (40 if packet.v6 else 20) + (4 if packet.native else 8)
    if frame[start:] != packet.octets:
        yield f"octets {frame[start:].hex()}, expected {packet.octets.hex()}"
    found = {name: shown_number(name, shown.first(name))
             for name in shown.names("uet.pds.") | shown.names("uet.ses.")
             if not name.endswith(("rsvd", "_tree")) and not name.startswith(NOT_OF_THE_PACKET)
             and name not in HIDDEN
             and name not in ("uet.ses.message", "uet.pds.flags")}
    for name in sorted(found.keys() | packet.fields.keys()):
        if found.get(name) != packet.fields.get(name):
            yield f"{name} is {found.get(name)}, expected {packet.fields.get(name)}"
    if shown.malformed():
        yield "malformed"
    for remark in ("uet.reserved_bits", "uet.reserved_code", "uet.surplus_bytes"):
        if remark in shown:
            yield f"remark {remark}"
    if ("uet.trimmed" in shown) != packet.trimmed:
        yield f"trimmed is not {packet.trimmed}"


def missing_codes(packets):
    """Names of the reference that no packet has."""
    never_sent = {("uet.pds.type", "TSS"), ("uet.pds.nack_code", "none")}
    for field, names in CODES.items():
        there = {packet.fields.get(field) for packet in packets}
        for name, code in names.items():
            if code not in there and (field, name) not in never_sent and name != "reserved":
                yield f"no packet has {field} {name}"


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    tshark = wireshark.Tshark(sys.argv[1])
    text = pathlib.Path(__file__).resolve().parent / "data/formats.txt"
    lines = [line for line in text.read_text().split("\n") if line and not line.startswith("#")]
    packets = [Packet(line) for line in lines]
    with wireshark.folder() as folder:
        made, capture = pathlib.Path(folder) / "made", pathlib.Path(folder) / "capture"
        subprocess.run([sys.argv[2], "make", text, made], check=True)
        subprocess.run(["editcap", "-F", "pcap", made, capture], check=True)
        capture.chmod(0o644)
        frames = list(capture_file.frames_of(capture))
        shown = tshark.packets(capture)
    findings = [f"{line}\n  {difference}"
                for line, packet, frame, fields in zip(lines, packets, frames, shown)
                for difference in differences(packet, frame, fields)]
    findings += missing_codes(packets)
    if not len(packets) == len(frames) == len(shown):
        findings.append(f"{len(packets)} lines, {len(frames)} frames, {len(shown)} shown")
    for finding in findings:
        print(finding)
    compared = sum(len(packet.fields) for packet in packets)
    print(f"{len(packets)} packets, {compared} fields, {len(findings)} differences")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
