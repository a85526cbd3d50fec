# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames of the link layer, octets and fields written by hand after the link reference.

Usage: link_test.py PLUGINS UET_PCAP

uet_pcap makes the same frames of data/link.txt, those in MORE excepted.

[LINK-001, LINK-002, LINK-110, LINK-111, LINK-125, LINK-128, LINK-141..144]
"""
import pathlib
import subprocess
import sys
import zlib

import capture_file
import wireshark

MACS = "0180c200000e" "020000000001"
CARRIER = MACS + "88b5" "02" "13"  # type 2, version 1, 3 ordered sets
# LLR_ACK seq 0xABCDE; LLR_INIT seq 0x12345, data 0xBEEF low octet first; CF_Update of
# {VC 3, 0x5678} and {VC 31, 0x7fff}: 00011 101 0110 0111 1000 and 11111 111 1111 1111 1111.
ORDERED_SETS = "5c01abcde6000000" "5c03123456efbe00" "5c101d6786fffff0"
UET = wireshark.ipv4(wireshark.udp(bytes.fromhex("5b0898760000000700010002" "00000003")), 17).hex()
COUNTERS = "00001" "00002" + "fffff" + "00000" * 12 + "12345"

FRAMES = [
    CARRIER + ORDERED_SETS + "00" * 20,
    MACS + "88b5" "01" "10" "70012345" "0800" + UET + "d4c3b2a1",
    "0180c2000001" "020000000001" "8808" "fffe" "fa7acb" "01" + COUNTERS,
    MACS + "88b5" "03" "10" "fa7acb" "02" + COUNTERS,
    "0180c2000001" "020000000001" "8808" "0001" "ffff" + "00" * 42,  # PAUSE, as usual
    # LLDP: chassis and port by address, TTL, then our three TLVs, a foreign one, the end.
    "0180c200000e" "020000000001" "88cc" "0207" "04" "020000000001" "0407" "03" "020000000001"
    "0602" "0078"
    "fe10" "fa7acb" "f1" "01" "e9" "80" "10" "0102" "0304" "0032" "0000"
    "fe1e" "fa7acb" "f2" "01" "80" "0040" "fc" "7f" "0080" "01" "08" "0000000a" "00000002"
    "00000000" "03000100"
    "fe56" "fa7acb" "f3" "01" "42" + "ff" * 16 + "07" * 64 +
    "fe05" "fa7acb" "01" "80" "0000",
]



def protected(fcs_xor, frame="0800" + UET, mark="70012345"):
    """A frame of LLR, whose FCS is that of the frame without the shim."""
    fcs = zlib.crc32(bytes.fromhex(MACS + frame)) ^ fcs_xor
    return MACS + "88b5" "01" "10" + mark + frame + fcs.to_bytes(4, "little").hex()


VLAN = "8100" "0005"
# Deeper than the stack of a program whose recursion the packet decides.
NESTED = (VLAN + "88b5" "01" "10" "70000001") * 4000 + "0800" + UET
MORE = [
    protected(0),
    protected(0xAAAAAAAA),  # as poisoned by default [LINK-027]
    protected(0, VLAN + "0800" + UET),
    protected(0, NESTED),
    protected(0, mark="6a512345"),
    MACS + "88b5" "02" "26" "4b01abcde6000000" "5c02000005000001" + 2 * "5c77000006000000" +
    2 * "5c04fffff6addeff",
    MACS + "88b5" "04" "13" + "00" * 44,
    "0180c2000001" "020000000001" "8808" "fffe" "fa7acb" "02" + COUNTERS,
    "0180c200000e" "020000000001" "88cc" "0207" "04" "020000000001" "0407" "03" "020000000001"
    "0602" "0078"
    "fe10" "fa7acb" "f1" "02" "e9" "80" "10" "0102" "0304" "0032" "0000"
    "fe11" "fa7acb" "f1" "01" "16" "ff" "10" "0000" "0000" "0000" "0001" "77"
    "fe1a" "fa7acb" "f2" "01" "7f" "0040" "00" "01" "0000" "00" "20" "00000000" "00000000"
    "00000001" "0000",
]

BAD, GOOD, POISONED = "0", "1", "2"
LOW_VCS, HIGH_VCS = [str(vc) for vc in range(16)], [str(vc) for vc in range(16, 32)]
LLR = {"type": ["1"], "version": ["1"], "frame_seq": [str(0x12345)], "flags": ["0x00"],
       "frame_mark": ["0x00000007"], "rsvd": ["0x00000000"], "ethertype": ["0x0800"]}
EXPECTED = [
    {"type": ["2"], "version": ["1"], "count": ["3"],
     "ctlos.control": ["0x5c"] * 3, "ctlos.type": ["0x01", "0x03", "0x10"],
     "ctlos.o_code": ["0x06"] * 3, "rsvd": ["0x000000"],
     "ack_nack_seq": [str(0xABCDE)], "init_seq": [str(0x12345)],
     "init_data": ["0xbeef"], "cf.vc": ["3", "31"], "cf.count": [str(0x5678), str(0x7FFF)]},
    {"type": ["1"], "version": ["1"], "frame_seq": [str(0x12345)], "ethertype": ["0x0800"],
     "flags": ["0x00"], "frame_mark": ["0x00000007"], "rsvd": ["0x00000000"],
     "sw_fcs": ["0xa1b2c3d4"], "sw_fcs.status": [BAD]},
    {"mac.opcode": ["0xfffe"], "cc.cid": ["0xfa7acb"], "cc.half": ["1"], "cc.vc": LOW_VCS,
     "cc.count": ["1", "2", str(0xFFFFF)] + ["0"] * 12 + [str(0x12345)]},
    {"type": ["3"], "version": ["1"], "flags": ["0x00"], "cc.cid": ["0xfa7acb"],
     "cc.half": ["2"], "cc.vc": HIGH_VCS,
     "cc.count": ["1", "2", str(0xFFFFF)] + ["0"] * 12 + [str(0x12345)]},
    {},
    {"tlv": ["0xf1", "0xf2", "0xf3", "0x01"], "tlv.version": ["1", "1", "1"], "tlv.octets": ["80"],
     "llr.capable": ["1"], "llr.wanted": ["1"], "llr.tx_enabled": ["1"], "llr.rx_enabled": ["0"],
     "cbfc.capable": ["1"], "cbfc.wanted": ["0"], "cbfc.tx_enabled": ["0"],
     "cbfc.rx_enabled": ["1"], "llr.operational": ["1"], "cbfc.operational": ["0"],
     "ue_version": ["0x10"], "epoch": [str(0x0102)], "peer_epoch": [str(0x0304)],
     "ack_interval_us": ["50"], "cbfc.per_vc": ["1"], "cbfc.credit_size": ["64"],
     "cbfc.packet_overhead": ["-4"], "cbfc.credit_sizes": ["0x7f"],
     "cbfc.operational_credit_size": ["128"], "cbfc.operational_overhead": ["1"],
     "cbfc.vcs": ["8"], "cbfc.lossless_wanted": ["0x0000000a"],
     "cbfc.lossless_operational": ["0x00000002"], "cbfc.total_credits": ["0"],
     "cbfc.limit_vc": ["3"], "cbfc.limit": ["256"], "vc_map.classifier": ["4"],
     "rsvd": ["0x00", "0x0000", "0x00"], "vc_map.winner": ["2"],
     "vc_map.pcp": [":".join(["ff"] * 16)],
     "vc_map.dscp": [":".join(["07"] * 64)]},
    LLR | {"sw_fcs.status": [GOOD]},
    LLR | {"sw_fcs.status": [POISONED]},
    LLR | {"sw_fcs.status": [GOOD], "ethertype": ["0x8100"]},
    {"type": ["1"] * 2, "version": ["1"] * 2, "frame_seq": ["74565", "1"], "flags": ["0x00"] * 2,
     "frame_mark": ["0x00000007"] * 2, "rsvd": ["0x00000000"] * 2, "ethertype": ["0x8100"] * 2,
     "sw_fcs.status": [GOOD, BAD]},
    LLR | {"frame_mark": ["0x00000006"], "rsvd": ["0x000000a5"], "sw_fcs.status": [GOOD]},
    {"type": ["2"], "version": ["2"], "count": ["6"],
     "ctlos.control": ["0x4b"] + ["0x5c"] * 5,
     "ctlos.type": ["0x01", "0x02", "0x77", "0x77", "0x04", "0x04"],
     "ctlos.o_code": ["0x06", "0x05"] + ["0x06"] * 4, "rsvd": ["0x000000", "0x000001"],
     "ack_nack_seq": [str(0xABCDE), "0"], "init_seq": [str(0xFFFFF)] * 2,
     "init_data": ["0xdead"] * 2},
    {"type": ["4"], "version": ["1"]},
    {"mac.opcode": ["0xfffe"], "cc.cid": ["0xfa7acb"], "cc.half": ["2"], "cc.vc": HIGH_VCS,
     "cc.count": ["1", "2", str(0xFFFFF)] + ["0"] * 12 + [str(0x12345)]},
    {"tlv": ["0xf1", "0xf1", "0xf2"], "tlv.version": ["2", "1", "1"],
     "tlv.octets": ["02:e9:80:10:01:02:03:04:00:32:00:00"],
     "llr.capable": ["0"], "llr.wanted": ["0"], "llr.tx_enabled": ["0"], "llr.rx_enabled": ["1"],
     "cbfc.capable": ["0"], "cbfc.wanted": ["1"], "cbfc.tx_enabled": ["1"],
     "cbfc.rx_enabled": ["0"], "llr.operational": ["1"], "cbfc.operational": ["1"],
     "ue_version": ["0x10"], "epoch": ["0"], "peer_epoch": ["0"], "ack_interval_us": ["0"],
     "rsvd": ["0x3f", "0x0001", "0x7f"], "cbfc.per_vc": ["0"], "cbfc.credit_size": ["64"],
     "cbfc.packet_overhead": ["0"], "cbfc.credit_sizes": ["0x01"],
     "cbfc.operational_credit_size": ["0"], "cbfc.operational_overhead": ["0"],
     "cbfc.vcs": ["32"], "cbfc.lossless_wanted": ["0x00000000"],
     "cbfc.lossless_operational": ["0x00000000"], "cbfc.total_credits": ["1"]},
]
NOT_COMPARED = {"sw_fcs"}  # of frames whose FCS the test computes
# Expert remarks, by frame.
REMARKS = {2: {"sw_fcs.bad"}, 8: {"sw_fcs.poisoned"}, 10: {"nested", "sw_fcs.bad"},
           11: {"frame_mark.missing", "reserved_bits"},
           12: {"version.unknown", "count.range", "ctlos.format", "reserved_code",
                "reserved_bits"},
           13: {"reserved_code"}, 15: {"reserved_bits"}}
MALFORMED = {10, 11, 12}


FRAMES_AS_OCTETS = [bytes.fromhex(frame) for frame in FRAMES]


def differences(number, packet, expected):
    skipped = NOT_COMPARED if number > len(FRAMES) else set()
    shown = {name.removeprefix("uet.link."): packet.values[name]
             for name in packet.names("uet.link.") if not name.endswith("_tree")}
    for name in sorted((shown.keys() | expected.keys()) - skipped):
        if shown.get(name) != expected.get(name):
            yield f"{name} {shown.get(name)}, expected {expected.get(name)}"
    remarks = {name.removeprefix("uet.link.").removeprefix("uet.") for name in packet.remarks
               if name.startswith("uet.")}
    if remarks != REMARKS.get(number, set()):
        yield f"remarks {remarks}, expected {REMARKS.get(number, set())}"
    if packet.malformed() != (number in MALFORMED):
        yield f"malformed is not {number in MALFORMED}"


def made_from_text(program, folder):
    """The frames that uet_pcap makes, in a capture of the older format."""
    text = pathlib.Path(__file__).resolve().parent / "data/link.txt"
    made, capture = pathlib.Path(folder) / "made", pathlib.Path(folder) / "capture"
    subprocess.run([program, "make", text, made], check=True)
    subprocess.run(["editcap", "-F", "pcap", made, capture], check=True)
    return list(capture_file.frames_of(capture))


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    tshark = wireshark.Tshark(sys.argv[1])
    wrong = 0
    with wireshark.folder() as folder:
        if made_from_text(sys.argv[2], folder) != FRAMES_AS_OCTETS:
            print("uet_pcap makes other frames of data/link.txt")
            wrong += 1
        capture = pathlib.Path(folder) / "link.pcap"
        capture_file.write_pcap(capture, FRAMES_AS_OCTETS + [bytes.fromhex(f) for f in MORE])
        packets = tshark.packets(capture)
    if len(packets) != len(EXPECTED):
        print(f"{len(packets)} packets, expected {len(EXPECTED)}")
        wrong += 1
    for number, (packet, expected) in enumerate(zip(packets, EXPECTED), 1):
        for difference in differences(number, packet, expected):
            print(f"frame {number}: {difference}")
            wrong += 1
    for number in (2, 7, 8, 9, 11):
        if packets[number - 1].values["uet.pds.psn"] != ["7"]:
            print(f"frame {number}: the frame behind the LLR shim is not shown")
            wrong += 1
    if "macc" not in packets[4].layers:
        print("frame 5: PAUSE is not what it was")
        wrong += 1
    print(f"{len(packets)} frames, {wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
