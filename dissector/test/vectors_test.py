# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares what tshark shows with golden packets, field by field.

Usage: vectors_test.py PLUGINS (vectors | foreign)

vectors: the packets of wire/test/data. foreign: those of an independent generator, which are not
part of the repository; status 77 when they are not at hand.
[WIRE-001, WIRE-002, WIRE-026, WIRE-036..057, WIRE-059..078, WIRE-116, WIRE-120]
"""
import json
import pathlib
import sys

import capture_file
import wireshark
from aliases_test import HIDDEN

# Causes below UET, which Wireshark's own dissectors judge in their own way.
BELOW_UET = {"ipv4_options", "fragment", "ipv4_checksum", "udp_length", "udp_checksum"}

REMARK = {  # the plugin's text for a cause of wire/parse_error.h, or a tolerance
    "pds_type_reserved": "uet.pds.type.reserved",
    "tss_inside_tss": "uet.tss.inside_tss",
    "next_hdr_reserved": "uet.pds.next_hdr.reserved",
    "ses_version": "uet.ses.ver.unknown",
    "response_opcode_mismatch": "uet.ses.response_opcode.mismatch",
    "request_under_response_type": "uet.pds.next_hdr.request",
    "response_under_request_type": "uet.pds.next_hdr.response",
    "single_packet_som_eom": "uet.ses.single_packet",
    "spdcid_zero": "uet.pds.spdcid.zero",
    "sum_check": "uet.ses.payload_length.mismatch",
    "payload_length_limit": "uet.ses.payload_length.limit",
    "crc": "uet.crc.bad",
    "reserved_bits": "uet.reserved_bits",
    "reserved_code": "uet.reserved_code",
    "surplus_bytes": "uet.surplus_bytes",
}

CREDIT_REQ = 8

# Shown beside the fields of the golden files: names of codes there are text here.
NAMES = {"type_name", "ctl_name", "opcode_name", "format"}
DERIVED = {"clear_psn", "start_psn", "ack_psn", "sack_base", "mp_range", "service_time_ns",
           "private_mark", "negotiation"}
# Derived from other packets: conversation_test.py.
CONVERSATION = ("uet.pds.pdc", "uet.pds.analysis.", "uet.ses.message", "uet.ses.analysis.",
                "uet.ses.fragment", "uet.ses.reassembled")


def framed(vector):
    octets = bytes.fromhex(vector["hex"])
    start = vector.get("starts_at", "uet")
    if start == "ethernet":
        return octets
    if start == "ip":
        return wireshark.ethernet(octets)
    if start == "ipv4_source_address":  # native IPv4 without its first 12 octets
        return None
    if start == "entropy":
        return wireshark.ethernet(wireshark.ipv4(octets, 253))
    return wireshark.ethernet(wireshark.ipv4(wireshark.udp(octets), 17))


def same(expected, shown, name):
    text = shown.first(name)
    if isinstance(expected, int):
        return int(text, 0) == expected
    if expected.startswith("0x") and ":" not in text:
        return int(text, 0) == int(expected, 16)
    wanted = expected.removeprefix("0x")
    return shown.octets(name)[-len(wanted):] == wanted


def name_of(part, key, fields):
    if part == "ses" and key == "opcode" and "list" in fields:
        return "uet.ses.response_opcode"
    return f"uet.{'ses' if part == 'ext' else part}.{key}"


class Comparison:
    def __init__(self):
        self.failures = []
        self.compared = 0

    def expect(self, condition, packet, text):
        self.compared += 1
        if not condition:
            self.failures.append(f"{packet}: {text}")

    def headers(self, packet, fields, shown, complete):
        for part in ("tss", "pds", "ses", "ext"):
            wanted = fields.get(part, {})
            for key, value in wanted.items():
                if key in NAMES:
                    continue
                name = name_of(part, key, wanted)
                self.expect(name in shown and same(value, shown, name), packet,
                            f"{name} {shown.values.get(name)}, expected {value}")
        if not complete:
            return
        # [WIRE-057] Its payload has two parts.
        if fields.get("pds", {}).get("ctl_type") == CREDIT_REQ:
            ccc_id, credit_target = divmod(fields["pds"]["payload"], 2**24)
            fields["pds"] |= {"ccc_id": ccc_id, "credit_target": credit_target}
            self.expect(shown.number("uet.pds.ccc_id") == ccc_id, packet, "ccc_id")
            self.expect(shown.number("uet.pds.credit_target") == credit_target, packet,
                        "credit_target")
        known = {name_of(part, key, fields[part]) for part in ("tss", "pds", "ses", "ext")
                 for key in fields.get(part, {})}
        known |= {f"uet.pds.{name}" for name in DERIVED}
        for name in shown.names("uet.pds.") | shown.names("uet.ses."):
            invented = (name not in known and not name.endswith("rsvd")
                        and not name.startswith("uet.ses.sem_ctl.")
                        and not name.startswith(CONVERSATION) and name not in HIDDEN
                        and not name.endswith("_tree"))
            self.expect(not invented, packet, f"{name} is shown and not in the packet")

    def around(self, packet, fields, shown):
        if fields.get("payload"):
            self.expect(shown.octets("uet.payload") == fields["payload"], packet, "payload")
        for key in ("ciphertext", "icv"):
            if fields.get(key):
                self.expect(shown.octets(f"uet.tss.{key}") == fields[key], packet, key)
        if "entropy" in fields:
            self.expect(shown.number("uet.entropy") == fields["entropy"]["entropy"], packet,
                        "entropy")
        if "crc" in fields:
            self.expect(shown.number("uet.crc") == fields["crc"]["value"], packet, "CRC")

    def foreign_verdict(self, packet, vector, shown):
        """These packets have no payload, whatever they announce, and set reserved bits."""
        outcome, reason = vector["outcome"], vector["reason"]
        if outcome == "reject" and reason == "truncated":
            self.expect(shown.cut_short(), packet, "cut short and not malformed")
            return
        self.expect(not shown.cut_short(), packet, "malformed")
        if outcome != "accept":
            self.expect(REMARK[reason] in shown, packet, f"no remark {REMARK[reason]}")
            return
        of_payload = {REMARK["sum_check"], REMARK["payload_length_limit"]}
        remarks = (set(REMARK.values()) & shown.remarks.keys()) - of_payload
        self.expect(remarks <= {REMARK["reserved_bits"]}, packet, f"remarks {remarks}")

    def verdict(self, packet, vector, shown):
        outcome, reason = vector["outcome"], vector.get("reason")
        trimmed = bool(vector.get("trimmed"))
        self.expect(("uet.trimmed" in shown) == trimmed, packet, f"trimmed is {trimmed}")
        if outcome == "reject" and reason == "truncated":
            self.expect(shown.malformed(), packet, "cut short and not malformed")
        elif outcome != "accept":
            self.expect(REMARK[reason] in shown, packet, f"no remark {REMARK[reason]}")
        if outcome != "reject":
            self.expect(not shown.malformed(), packet, "malformed, and should not be")
        if outcome == "accept":
            for reason in ("reserved_bits", "reserved_code", "surplus_bytes"):
                self.expect(REMARK[reason] not in shown, packet, f"remark {reason}")

    def packet(self, vector, shown):
        name = vector.get("name", f"packet {vector.get('index')}")
        fields = vector["fields"]
        self.expect("uet" in shown.layers, name, "not taken for UET")
        if "uet" not in shown.layers:
            return
        self.headers(name, fields, shown, vector["outcome"] != "reject")
        self.around(name, fields, shown)
        if "name" in vector:
            self.verdict(name, vector, shown)
        else:
            self.foreign_verdict(name, vector, shown)


def is_ours(vector):
    """Whether the packet reaches UET in Wireshark and is a whole packet."""
    if vector.get("starts_at") in ("pds", "tss", "entropy", "ext", "ipv4_source_address",
                                   "pds_after_tss"):
        return False  # a header alone; pds_after_tss is the inside of a sealed packet
    if vector.get("reason") in BELOW_UET or not vector["hex"]:
        return False
    return vector.get("truncated", {}).get("header") not in ("ip_payload",)


def compare_all(tshark, vectors, comparison):
    for trailer in ("none", "crc"):
        chosen = [v for v in vectors if (v.get("trailer") == "crc") == (trailer == "crc")]
        if not chosen:
            continue
        with wireshark.folder() as folder:
            capture = pathlib.Path(folder) / "vectors.pcap"
            capture_file.write_pcap(capture, [framed(v) for v in chosen])
            shown = tshark.packets(capture, "-o", f"uet.trailer:{trailer}")
        comparison.expect(len(shown) == len(chosen), trailer, "packets are missing")
        for vector, packet in zip(chosen, shown):
            comparison.packet(vector, packet)


def main():
    if len(sys.argv) != 3 or sys.argv[2] not in ("vectors", "foreign"):
        print(__doc__)
        return 2
    golden = wireshark.golden_folder()
    if sys.argv[2] == "foreign" and not (golden / "xdp2-uet-samples.pcap").exists():
        wireshark.skip(f"no packets of the independent generator in {golden}")
    tshark = wireshark.Tshark(sys.argv[1])
    comparison = Comparison()
    if sys.argv[2] == "vectors":
        data = pathlib.Path(__file__).resolve().parents[2] / "wire/test/data/wire-vectors.json"
        vectors = [v for v in json.loads(data.read_text()) if is_ours(v)]
        comparison.expect(len(vectors) == 238, "wire-vectors.json", f"{len(vectors)} packets")
        compare_all(tshark, vectors, comparison)
    else:
        vectors = json.loads((golden / "xdp2-uet-samples.json").read_text())
        packets = tshark.packets(golden / "xdp2-uet-samples.pcap")
        comparison.expect(len(packets) == len(vectors) == 56, "capture", f"{len(packets)} packets")
        for vector, packet in zip(vectors, packets):
            comparison.packet(vector, packet)
    for failure in comparison.failures:
        print(failure)
    print(f"{len(vectors)} packets, {comparison.compared} comparisons, "
          f"{len(comparison.failures)} failures")
    return 1 if comparison.failures else 0


if __name__ == "__main__":
    sys.exit(main())
