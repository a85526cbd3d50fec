# SPDX-License-Identifier: GPL-2.0-or-later
"""What tshark finds out about the packets of data/conversation.txt, each fact written by hand.

Usage: conversation_test.py PLUGINS UET_PCAP
"""
import pathlib
import shutil
import subprocess
import sys

import wireshark

# By packet: all of uet.*.analysis.* that is not in OF_THE_PDC, and the number of the message where
# it is put together. Times in ms. Later packets are known, as in Wireshark: tshark -2.
EXPECTED = {
    1: {"ack_frame": 4, "response_frame": 8},
    2: {"ack_frame": 4, "message_frame": 1, "response_frame": 8},
    3: {"gap": 1, "ack_frame": 8, "answer_frame": 4},
    4: {"request_frame": 3, "response_time": 1, "newly_done": 2, "missing_psn": 1002,
        "missing_count": 1},
    5: {"retransmission": 1, "ack_frame": 8, "answer_frame": 8, "message_frame": 1,
        "response_frame": 8},
    6: {"retransmission": 1, "previous_frame": 5, "since_previous": 10, "cause": 3, "ack_frame": 8,
        "answer_frame": 8, "message_frame": 1, "response_frame": 8},
    7: {"duplicate": 1, "previous_frame": 3, "since_previous": 13, "ack_frame": 8,
        "answer_frame": 4, "message_frame": 3},
    8: {"request_frame": 1, "response_time": 2, "newly_done": 2, "service_time": 16},
    9: {"gap": 196, "mpr_violation": 1, "ack_frame": 16, "answer_frame": 10, "nack_frame": 10},
    10: {"request_frame": 9, "response_time": 1},
    11: {"retransmission": 1, "previous_frame": 9, "since_previous": 3, "cause": 1,
         "cause_frame": 10, "mpr_violation": 1, "ack_frame": 16, "answer_frame": 10,
         "nack_frame": 10, "message_frame": 9},
    12: {"mpr_violation": 1, "ack_frame": 16, "response_frame": 14, "data_frame": 14},
    13: {"gap": 1, "request_frame": 12},
    14: {"out_of_order": 1, "request_frame": 12, "service_time": 2},
    15: {"mpr_violation": 1, "ack_frame": 16, "answer_frame": 16},
    16: {"request_frame": 15, "response_time": 1, "newly_done": 3},
    17: {"ack_frame": 18, "answer_frame": 18, "response_frame": 18},
    18: {"request_frame": 17, "response_time": 1, "service_time": 1},
    19: {"nack_frame": 20},
    20: {"request_frame": 19, "response_time": 1},
    21: {"retransmission": 1, "previous_frame": 19, "since_previous": 3, "cause": 1,
         "cause_frame": 20, "nack_frame": 20, "message_frame": 19},
    22: {"linked_frame": 23},
    23: {"linked_frame": 22},
    24: {"linked_frame": 25},
    25: {"linked_frame": 26},
    26: {"linked_frame": 25},
    27: {},
    28: {},
    29: {},
}
# Packet 8 answers the retransmission in 6; its SES response belongs to the message of 1. A packet
# may be linked both ways. All values of such a field are listed here instead.
SEVERAL = {(8, "request_frame"): {6, 1}, (25, "linked_frame"): {24, 26},
           (14, "request_frame"): {12}}
OF_THE_PDC = {"direction", "initiator_pdcid", "target_pdcid", "opened_in", "closed_in", "psn_rel",
              "outstanding", "offered"}
PDCS = {0: range(1, 17), 1: (22, 24, 26, 27), 2: (23, 25), 3: (28, 29)}
REASSEMBLED = {5: 12, 14: 8}
REMARKS = {1: {"uet.pds.opens"}, 3: {"uet.pds.gap"}, 4: {"uet.pds.sack_missing"},
           5: {"uet.pds.first_unseen"}, 6: {"uet.pds.timeout"}, 7: {"uet.pds.duplicate"},
           9: {"uet.pds.gap", "uet.pds.beyond_mpr"}, 10: {"uet.pds.nack"},
           11: {"uet.pds.resent_for_nack", "uet.pds.beyond_mpr"}, 12: {"uet.pds.beyond_mpr"},
           13: {"uet.pds.gap"}, 14: {"uet.pds.out_of_order"}, 15: {"uet.pds.beyond_mpr"},
           16: {"uet.pds.closes"}, 20: {"uet.pds.nack"}, 21: {"uet.pds.resent_for_nack"},
           22: {"uet.pds.opens"}, 23: {"uet.pds.opens"}, 27: {"uet.trimmed.remark"},
           28: {"uet.pds.opens"}}


# tshark -z uet,pdc and -z uet,ses: the columns, times in microseconds.
PDC_TABLE = [["0", "10.0.0.1 > 10.0.0.2", 16, 12, 32, 3, 3, 1, 1000, 2000, 1, "PSN_OOR_WINDOW 1"],
             ["1", "10.0.0.1 > 10.0.0.2", 4, 4, 0, 0, 0, 0, 0, 0, 0, ""],
             ["2", "10.0.0.2 > 10.0.0.1", 2, 2, 0, 0, 0, 0, 0, 0, 0, ""],
             ["3", "10.0.1.1 > 10.0.1.2", 2, 2, 0, 0, 0, 0, 0, 0, 0, ""]]
SES_TABLE = [["NO_OP", 3, 4, 0, 0, 0, 0, 0], ["WRITE", 2, 4, 3, 1, 0, 1000, 1000],
             ["READ", 2, 4, 8, 2, 0, 1000, 2000], ["SEND", 2, 7, 24, 1, 0, 16000, 16000],
             ["RENDEZVOUS_SEND", 1, 1, 0, 0, 0, 0, 0], ["DEFERRABLE_SEND", 2, 2, 0, 0, 0, 0, 0],
             ["DEFERRABLE_RTR", 1, 1, 0, 0, 0, 0, 0]]


def table_differences(tshark, capture, tap, expected):
    shown = [[cell.strip() for cell in line.split("|")][:-1]
             for line in tshark.run("-r", capture, "-q", "-z", tap).split("\n") if "|" in line][1:]
    shown = [row for row in shown if row[0].isdigit() or any(c.strip("0.") for c in row[1:])]
    for row, wanted in zip(shown, expected):
        for cell, value in zip(row, wanted):
            same = cell == value if isinstance(value, str) else (
                abs(float(cell) - value) <= (0.05 * value if "." in cell else 0))
            if not same:
                yield f"{tap} {row[0]}: {cell}, expected {value}"
    if len(shown) != len(expected):
        yield f"{tap}: {len(shown)} rows, expected {len(expected)}"


def value_of(name, text):
    """A number; times in milliseconds."""
    if name.endswith("time") or name == "since_previous":
        return round(float(text) * 1000)
    return int(text, 0)


def analysis_of(packet):
    found = {}
    for name, texts in packet.values.items():
        parts = name.split(".")
        if parts[:1] == ["uet"] and parts[2:3] == ["analysis"] and parts[3] not in OF_THE_PDC:
            if not parts[3].endswith("_tree"):
                found.setdefault(parts[3], set()).update(value_of(parts[3], t) for t in texts)
    return found


def differences(number, packet):
    expected = {name: {value} for name, value in EXPECTED[number].items()}
    expected.update({name: values for (frame, name), values in SEVERAL.items() if frame == number})
    found = analysis_of(packet)
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            yield f"{name} is {found.get(name)}, expected {expected.get(name)}"
    pdc = next((pdc for pdc, frames in PDCS.items() if number in frames), None)
    shown = packet.number("uet.pds.pdc") if "uet.pds.pdc" in packet else None
    if shown != pdc:
        yield f"PDC {shown}, expected {pdc}"
    length = packet.number("uet.ses.reassembled_length") if (
        "uet.ses.reassembled_length" in packet) else None
    if length != REASSEMBLED.get(number):
        yield f"{length} octets put together, expected {REASSEMBLED.get(number)}"
    remarks = {name for name in packet.remarks if name.startswith("uet.")}
    if remarks != REMARKS.get(number, set()):
        yield f"remarks {remarks}, expected {REMARKS.get(number, set())}"


def profile_differences(tshark, capture):
    """The profile of dissector/profile: its colours are filters, and no entropy value misleads."""
    source = pathlib.Path(__file__).resolve().parents[1] / "profile"
    profile = pathlib.Path(tshark.config.name) / "profiles/UET"
    profile.mkdir(parents=True)
    profile.parent.chmod(0o755)
    profile.chmod(0o755)
    for name in ("colorfilters", "preferences"):
        shutil.copy(source / f"{name}.txt", profile / name)
        (profile / name).chmod(0o644)
    for line in (source / "colorfilters.txt").read_text().split("\n"):
        if line.startswith("@"):
            tshark.run("-r", capture, "-Y", line.split("@")[2])  # ends the test if it is no filter
    first_unclear = capture.with_name("unclear.pcapng")
    tshark.run("-r", capture, "-Y", "udp.srcport == 13", "-w", first_unclear)
    for name, expected in (("Default", False), ("UET", True)):
        shown = ["uet" in p.layers for p in tshark.packets(first_unclear, "-C", name)]
        if shown != [expected]:
            yield f"profile {name}: taken for UET: {shown}, expected {expected}"


def preference_differences(tshark, capture):
    """Without reassembly no message is put together, and whole ones need none."""
    for wish, expected in (("TRUE", [str(n) for n in sorted(REASSEMBLED)]), ("FALSE", [])):
        rows = tshark.rows(capture, ["frame.number"], "-o", f"uet.reassemble:{wish}", "-Y",
                           "uet.ses.reassembled_length")
        if [row[0] for row in rows] != expected:
            yield f"uet.reassemble {wish}: messages put together in {rows}, expected {expected}"


def wide_ack_differences(tshark, uet_pcap, folder):
    """[PDS-030, PDS-034] An ACK covers what it has not covered before, across the wrap of PSNs."""
    start, count, covered = 2**32 - 100, 200, 150
    lines = [f"0.{n:03} 10.0.0.1 > 10.0.0.2 | RUD_REQ psn={(start + n) % 2**32} spdcid=9 dpdcid=77"
             " | SMALL opcode=NO_OP" for n in range(count)]
    for n in (3, covered, covered):
        lines.append(f"0.{len(lines):03} 10.0.0.2 > 10.0.0.1 | ACK "
                     f"cack_psn={(start + n - 1) % 2**32} spdcid=77 dpdcid=9")
    capture = pathlib.Path(folder) / "wide.pcapng"
    subprocess.run([uet_pcap, "make", "-", capture], input="\n".join(lines), text=True, check=True)
    rows = tshark.rows(capture, ["uet.pds.analysis.ack_frame", "uet.pds.analysis.newly_done"], "-2")
    expected = 3 * [["201", ""]] + 147 * [["202", ""]] + 50 * [["", ""]]
    expected += [["", "3"], ["", "147"], ["", "0"]]
    for number, (row, wanted) in enumerate(zip(rows, expected, strict=True), 1):
        if row != wanted:
            yield f"packet {number} of {capture.name}: {row}, expected {wanted}"


def range_differences(tshark, uet_pcap, folder):
    """[PDS-033, PDS-035] How much of what the receiver offers is used: 128 from packet 3 on, before
    it the default. The last of the 128 has used it up, sent again it has not; then one too many."""
    request = ("0.{:03} 10.0.0.1 > 10.0.0.2 | RUD_REQ {} psn={} spdcid=9 dpdcid=7"
               " | SMALL opcode=NO_OP")
    answer = "0.{:03} 10.0.0.2 > 10.0.0.1 | {} cack_psn={} spdcid=7 dpdcid=9"
    lines = [request.format(0, "", 10), answer.format(1, "ACK", 10), request.format(2, "", 11),
             answer.format(3, "ACK_CC mpr=1 sack_psn_offset=1", 11),
             *[request.format(n - 8, "", n) for n in range(12, 140)],
             request.format(200, "retx", 139), request.format(201, "", 140)]
    expected = [["1", "", "", ""], 4 * [""], ["1", "1024", "", ""], 4 * [""]]
    expected += [[str(n - 11), "128", "", ""] for n in range(12, 139)]
    expected += [["128", "128", "1", ""], ["128", "128", "", ""], ["129", "128", "", "1"]]
    capture = pathlib.Path(folder) / "range.pcapng"
    subprocess.run([uet_pcap, "make", "-", capture], input="\n".join(lines), text=True, check=True)
    names = ("outstanding", "offered", "range_full", "mpr_violation")
    rows = tshark.rows(capture, [f"uet.pds.analysis.{name}" for name in names])
    for number, (row, wanted) in enumerate(zip(rows, expected, strict=True), 1):
        row = [{"True": "1"}.get(cell, cell) for cell in row]
        if row != wanted:
            yield f"packet {number} of {capture.name}: {row}, expected {wanted}"
    shown = tshark.rows(capture, ["frame.number"], "-Y", "uet.pds.range_full")
    if shown != [["132"]]:
        yield f"the range is full in {shown}"


def error_differences(tshark, uet_pcap, folder):
    """Errors of SES: of the target by its return code, of the initiator by ie or MSG_ERROR."""
    lines = ["0 10.0.0.1 > 10.0.0.2 | RUD_REQ psn=1 spdcid=9 dpdcid=7 | SMALL opcode=WRITE",
             "1 10.0.0.2 > 10.0.0.1 | ACK cack_psn=1 spdcid=7 dpdcid=9 | RESPONSE return_code={}"
             " response_opcode=RESPONSE",
             "2 10.0.0.1 > 10.0.0.2 | RUD_REQ psn=2 spdcid=9 dpdcid=7 | SMALL opcode={}"]
    for code, opcode, expected in (("OK", "WRITE", []), ("NULL", "WRITE ie", ["3"]),
                                   ("BAD_MKEY", "MSG_ERROR", ["2", "3"])):
        capture = pathlib.Path(folder) / "errors.pcapng"
        text = "\n".join(lines).format(code, opcode)
        subprocess.run([uet_pcap, "make", "-", capture], input=text, text=True, check=True)
        rows = tshark.rows(capture, ["frame.number"], "-Y",
                           "uet.ses.target_error || uet.ses.initiator_error")
        if [row[0] for row in rows] != expected:
            yield f"errors with {code} and {opcode}: {rows}, expected {expected}"
    said = tshark.rows(capture, ["_ws.expert.message"], "-Y", "uet.ses.target_error")
    if said != [["The target reports BAD_MKEY"]]:
        yield f"the error of the target: {said}"


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    tshark = wireshark.Tshark(sys.argv[1])
    text = pathlib.Path(__file__).resolve().parent / "data/conversation.txt"
    wrong = 0
    with wireshark.folder() as folder:
        capture = pathlib.Path(folder) / "conversation.pcapng"
        pathlib.Path(folder).chmod(0o777)
        subprocess.run([sys.argv[2], "make", text, capture], check=True)
        packets = tshark.packets(capture, "-2")
        for difference in [*profile_differences(tshark, capture),
                           *preference_differences(tshark, capture),
                           *wide_ack_differences(tshark, sys.argv[2], folder),
                           *range_differences(tshark, sys.argv[2], folder),
                           *error_differences(tshark, sys.argv[2], folder)]:
            print(difference)
            wrong += 1
        for tap, expected in (("uet,pdc", PDC_TABLE), ("uet,ses", SES_TABLE)):
            for difference in table_differences(tshark, capture, tap, expected):
                print(difference)
                wrong += 1
    if len(packets) != len(EXPECTED):
        print(f"{len(packets)} packets, expected {len(EXPECTED)}")
        wrong += 1
    for number, packet in enumerate(packets, 1):
        for difference in differences(number, packet):
            print(f"packet {number}: {difference}")
            wrong += 1
    print(f"{len(packets)} packets, {wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
