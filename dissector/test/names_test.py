# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds the names of codes and the fields that tshark knows against the tables of the references.

Usage: names_test.py PLUGINS

The plugin takes its names of codes from wire/code_points.h; the expected ones, and the names of
fields, come from wire.md. Those of link.md are in prose and octet tables: they are listed here.
[WIRE-037, WIRE-039, WIRE-055, WIRE-057, WIRE-079, WIRE-081..084, WIRE-087]
"""
import pathlib
import re
import sys

import wireshark

# Field, the requirement above its table, columns of code and name (pairs side by side in some).
TABLES = [
    ("uet.pds.type", "WIRE-037", [(0, 1)]),
    ("uet.pds.ctl_type", "WIRE-057", [(0, 1)]),
    ("uet.pds.nack_code", "WIRE-055", [(0, 1)]),
    ("uet.ses.opcode", "WIRE-079", [(0, 1), (3, 4)]),
    ("uet.ses.response_opcode", "WIRE-081", [(0, 1)]),
    ("uet.ses.return_code", "WIRE-083", [(0, 1)]),
    ("uet.ses.atomic_opcode", "WIRE-084", [(0, 1), (3, 4)]),
    ("uet.ses.atomic_datatype", "WIRE-087", [(0, 1), (3, 4)]),
]
# Where the reference uses a sentence instead of a name.
SENTENCES = {("uet.pds.type", 1): "TSS", ("uet.pds.nack_code", 0xFD): "EXP_NACK_NORMAL",
             ("uet.pds.nack_code", 0xFE): "EXP_NACK_ERR",
             ("uet.pds.nack_code", 0xFF): "EXP_NACK_FATAL",
             ("uet.ses.return_code", 0x3E): "EXTENDED"}
NEXT_HEADERS = ["none", "SMALL", "MEDIUM", "STANDARD", "RESPONSE", "RESPONSE_DATA",
                "RESPONSE_DATA_SMALL"]
LISTS = ["EXPECTED", "OVERFLOW"]

# Layer of the fields by the number of the section.
LAYERS = {"1": "uet", "2": "uet.tss", "3": "uet.pds", "4": "uet.pds", "5": "uet.pds",
          "6": "uet.pds", "7": "uet.pds", "8": "uet.ses", "9": "uet.ses", "10": "uet.ses"}
NO_FIELDS = {"prologue", "common", "ACK", "NACK"}  # headers inside others
RENAMED = {("10", "opcode"): "response_opcode",
           ("10", "response message_id"): "response_message_id"}
LINK_FIELDS = {  # by section of link.md
    "1.1": "ctlos.control ctlos.type ctlos.o_code ack_nack_seq init_seq init_data cf.vc "
                "cf.count",
    "3.7": "mac.opcode cc.cid cc.half cc.vc cc.count",
    "4.1": "type version flags frame_mark rsvd frame_seq ethertype sw_fcs sw_fcs.status",
    "4.2": "count",
    "5.2": "tlv tlv.version tlv.octets",
    "5.2, 0xF1": "llr.capable llr.wanted llr.tx_enabled llr.rx_enabled cbfc.capable cbfc.wanted "
                "cbfc.tx_enabled cbfc.rx_enabled llr.operational cbfc.operational ue_version epoch "
                "peer_epoch ack_interval_us",
    "5.2, 0xF2": "cbfc.per_vc cbfc.credit_size cbfc.packet_overhead cbfc.credit_sizes "
                "cbfc.operational_credit_size cbfc.operational_overhead cbfc.vcs "
                "cbfc.lossless_wanted cbfc.lossless_operational cbfc.total_credits cbfc.limit_vc "
                "cbfc.limit",
    "5.2, 0xF3": "vc_map.classifier vc_map.winner vc_map.pcp vc_map.dscp",
}


def fields_of_reference(text):
    """Names for filters: of each row of a table whose first column is Field or Flag."""
    names = set()
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        number = section.split(".")[0]
        inside = False
        for line in section.split("\n"):
            if not line.startswith("|"):
                inside = False
                continue
            first = line.strip("|").split("|")[0].strip()
            if first in ("Field", "Flag"):
                inside = number in LAYERS
            elif inside and not first.startswith("---"):
                first = re.sub(r"\*\*som=[01]:\*\*| \(match bits\)", "", first)
                for name in re.split(r" / |, | \+ ", first):
                    name = RENAMED.get((number, name.strip()), name.strip())
                    if name == "rsvd" and number == "1":
                        name = "entropy.rsvd"
                    if name not in NO_FIELDS:
                        names.add(f"{LAYERS[number]}.{name}")
    return names


def missing_fields(text, tshark):
    """Of the references' fields those that no filter can name."""
    shown = {line.split("\t")[2] for line in tshark.run("-G", "fields").split("\n")
             if line.startswith("F\t")}
    wanted = fields_of_reference(text)
    if len(wanted) < 90:
        yield f"{len(wanted)} fields found in the reference"
    wanted |= {f"uet.link.{name}" for names in LINK_FIELDS.values() for name in names.split()}
    for name in sorted(wanted - shown):
        yield f"no field {name}"


def table_after(text, requirement):
    """Rows of the first table behind the paragraph that starts with the requirement."""
    lines = text[text.index(f"**{requirement}**"):].split("\n")
    first = next(i for i, line in enumerate(lines) if line.startswith("|"))
    rows = []
    for line in lines[first:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip().strip("|").split("|")])
    return rows[2:]


def expected_names(text, field, requirement, columns):
    names = {code: name for (where, code), name in SENTENCES.items() if where == field}
    for row in table_after(text, requirement):
        for code_at, name_at in columns:
            if name_at >= len(row) or not re.fullmatch(r"0x[0-9A-F]+|\d+", row[code_at]):
                continue
            code = int(row[code_at], 0)
            names[code] = SENTENCES.get((field, code), row[name_at].split(" ")[0])
    return names


def shown_names(tshark):
    """tshark -G values: V, field, code, name."""
    names = {}
    for line in tshark.run("-G", "values").split("\n"):
        cells = line.split("\t")
        if len(cells) >= 4 and cells[0] == "V" and cells[1].startswith("uet."):
            names.setdefault(cells[1], {})[int(cells[2], 0)] = cells[3]
    return names


def wrong_names(text, shown):
    for field, requirement, columns in TABLES:
        expected = expected_names(text, field, requirement, columns)
        if len(expected) < 4:
            yield f"{field}: no table at {requirement}"
        for code, name in expected.items():
            if shown.get(field, {}).get(code) != name:
                yield f"{field} {code}: {shown.get(field, {}).get(code)}, {requirement} has {name}"
        for code, name in shown.get(field, {}).items():
            if code not in expected and name not in ("reserved", "vendor", "EXTENDED", "none"):
                yield f"{field} {code}: {name}, which {requirement} does not have"
    for field, names in (("uet.pds.next_hdr", NEXT_HEADERS), ("uet.ses.list", LISTS)):
        for code, name in enumerate(names):
            if shown.get(field, {}).get(code) != name:
                yield f"{field} {code}: {shown.get(field, {}).get(code)}, expected {name}"


def main():
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    root = pathlib.Path(__file__).resolve().parents[2]
    text = (root / "docs/reference/wire.md").read_text()
    tshark = wireshark.Tshark(sys.argv[1])
    findings = [*wrong_names(text, shown_names(tshark)), *missing_fields(text, tshark)]
    for finding in findings:
        print(finding)
    print(f"{len(TABLES) + 2} code tables, {len(findings)} differences")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
