# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames of the link layer, octets and fields written by hand after the link reference.

Usage: link_test.py PLUGINS UET_PCAP

uet_pcap makes the same frames of data/link.txt.

[LINK-001, LINK-002, LINK-110, LINK-111, LINK-125, LINK-142..144]
"""
import pathlib
import subprocess
import sys

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
    "0180c2000001" "020000000001" "8808" "0001" "ffff" + "00" * 42,  # PAUSE, as ever
    # LLDP: chassis and port by address, TTL, then our three TLVs, one of somebody else, the end.
    "0180c200000e" "020000000001" "88cc" "0207" "04" "020000000001" "0407" "03" "020000000001"
    "0602" "0078"
    "fe10" "fa7acb" "f1" "01" "e9" "80" "10" "0102" "0304" "0032" "0000"
    "fe1e" "fa7acb" "f2" "01" "80" "0040" "fc" "7f" "0080" "01" "08" "0000000a" "00000002"
    "00000000" "03000100"
    "fe56" "fa7acb" "f3" "01" "42" + "ff" * 16 + "07" * 64 +
    "fe05" "fa7acb" "01" "80" "0000",
]

EXPECTED = [
    {"type": ["2"], "version": ["1"], "count": ["3"],
     "ctlos.control": ["0x5c"] * 3, "ctlos.type": ["0x01", "0x03", "0x10"],
     "ctlos.o_code": ["0x06"] * 3, "ack_nack_seq": [str(0xABCDE)], "init_seq": [str(0x12345)],
     "init_data": ["0xbeef"], "cf.vc": ["3", "31"], "cf.count": [str(0x5678), str(0x7FFF)]},
    {"type": ["1"], "version": ["1"], "frame_seq": [str(0x12345)], "ethertype": ["0x0800"],
     "sw_fcs": ["0xa1b2c3d4"]},
    {"cc.cid": ["0xfa7acb"], "cc.half": ["1"],
     "cc.count": ["1", "2", str(0xFFFFF)] + ["0"] * 12 + [str(0x12345)]},
    {"type": ["3"], "version": ["1"], "cc.cid": ["0xfa7acb"], "cc.half": ["2"],
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
     "vc_map.winner": ["2"], "vc_map.pcp": [":".join(["ff"] * 16)],
     "vc_map.dscp": [":".join(["07"] * 64)]},
]


FRAMES_AS_OCTETS = [bytes.fromhex(frame) for frame in FRAMES]


def made_from_text(program, folder):
    """The frames that uet_pcap makes, in a capture of the older format."""
    text = pathlib.Path(__file__).resolve().parent / "data/link.txt"
    made, capture = pathlib.Path(folder) / "made", pathlib.Path(folder) / "capture"
    subprocess.run([program, "make", text, made], check=True)
    subprocess.run(["editcap", "-F", "pcap", made, capture], check=True)
    return list(wireshark.frames_of(capture))


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
        wireshark.write_pcap(capture, FRAMES_AS_OCTETS)
        packets = tshark.packets(capture)
    if len(packets) != len(EXPECTED):
        print(f"{len(packets)} packets, expected {len(EXPECTED)}")
        wrong += 1
    for number, (packet, expected) in enumerate(zip(packets, EXPECTED), 1):
        shown = {name.removeprefix("uet.link."): packet.values[name]
                 for name in packet.names("uet.link.") if not name.endswith("_tree")}
        for name in sorted(shown.keys() | expected.keys()):
            if shown.get(name) != expected.get(name):
                print(f"frame {number}: {name} {shown.get(name)}, expected {expected.get(name)}")
                wrong += 1
        if packet.malformed():
            print(f"frame {number}: malformed")
            wrong += 1
    if packets[1].values["uet.pds.psn"] != ["7"]:
        print("frame 2: the frame behind the LLR shim is not shown")
        wrong += 1
    if "macc" not in packets[4].layers:
        print("frame 5: PAUSE is not what it was")
        wrong += 1
    print(f"{len(packets)} frames, {wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
