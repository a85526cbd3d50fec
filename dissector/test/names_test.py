# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds the names of codes and the fields that tshark knows against the tables of wire.md.

Usage: names_test.py PLUGINS

The plugin takes its names from wire/code_points.h; the expected ones come from the reference.
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
    shown = shown_names(wireshark.Tshark(sys.argv[1]))
    findings = list(wrong_names(text, shown))
    for finding in findings:
        print(finding)
    print(f"{len(TABLES) + 2} code tables, {len(findings)} differences")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
