# SPDX-License-Identifier: GPL-2.0-or-later
"""Opens the sealed packets of wire/test/data/tss-vectors.json with tshark and a key file.

Usage: tss_test.py PLUGINS

Expected values are those of the vectors. Then wrong packets, keys and key files: each is reported,
and no sealed packet is taken for one in the clear.
[TSS-003, TSS-004, TSS-011..015, TSS-018..021, TSS-026, TSS-029..031, TSS-122..131]
[WIRE-027..034]
"""
import json
import pathlib
import subprocess
import sys

import capture_file
import wireshark

ROOT = pathlib.Path(__file__).resolve().parents[2]
VECTORS = json.loads((ROOT / "wire/test/data/tss-vectors.json").read_text())
MASTER = VECTORS["kdf"][0]["master"]
KDF = {vector["id"]: vector for vector in VECTORS["kdf"]}
STATUS = {"bad": 0, "good": 1, "unverified": 2}
REMARKS = {"uet.tss.icv.good", "uet.tss.icv.bad", "uet.tss.icv.unverified", "uet.tss.no_key"}
ANOTHER = "9" * 64


def key_line(packet, **changes):
    """The line that opens a packet of the vectors."""
    derived = KDF.get(packet["kdf"])
    line = {"sdi": int(packet["sdi"], 16), "an": packet["an"], "mode": packet["mode"],
            "key": packet["key"] if derived is None else derived["master"],
            "clear": int(packet["crypto_offset"], 16) - len(packet["tss_header"]) // 2}
    if packet["mode"] == "cluster":
        line["rekey_mask"] = "0x" + derived["rekey_mask"]
        line["rekey_shift"] = int(derived["rekey_shift"], 16)
    if "kdf_ssi_v6" in packet:
        line["kdf_ssi_v6"] = packet["kdf_ssi_v6"]
    line.update(changes)
    return " ".join(f"{name}={value}" for name, value in line.items() if value is not None)


class Checks:
    """Runs tshark over packets with a key file and counts what is not as expected."""

    def __init__(self, tshark, folder):
        self.tshark = tshark
        self.folder = pathlib.Path(folder)
        self.wrong = 0
        self.compared = 0

    def expect(self, found, expected, what):
        self.compared += 1
        if found != expected:
            self.wrong += 1
            print(f"{what}: {found}, expected {expected}")

    def keys(self, *lines):
        path = self.folder / "keys"
        path.write_text("".join(line + "\n" for line in lines))
        path.chmod(0o644)
        return path

    def packets(self, frames, *lines, options=()):
        """The packets, each with what tshark says of it."""
        capture = self.folder / "sealed.pcap"
        capture_file.write_pcap(capture, frames)
        options += ("-o", f"uet.tss.key_file:{self.keys(*lines)}") if lines else ()
        shown = self.tshark.packets(capture, *options)
        self.expect(len(shown), len(frames), "packets")
        return shown

    def verdict(self, shown, expected, what):
        """expected: a status, or no_key."""
        remark = "uet.tss.no_key" if expected == "no_key" else f"uet.tss.icv.{expected}"
        self.expect(REMARKS & shown.remarks.keys(), {remark}, f"{what}: remarks")
        self.expect(shown.number("uet.tss.icv.status"),
                    STATUS["unverified" if expected == "no_key" else expected], f"{what}: status")
        opened = expected in ("good", "unverified")
        self.expect("uet.pds" in shown.layers, opened, f"{what}: PDS is shown")


def frame_of(packet):
    return wireshark.ethernet(bytes.fromhex(packet["ip_packet"]))


def has_plaintext(packet):
    """Behind the security header: one vector has nothing there."""
    return packet["plaintext"] != ""


def opened_vectors(checks):
    """[TSS-122..130] Every sealed packet, among the keys of all."""
    lines = ["# one line a key"] + sorted({key_line(p) for p in VECTORS["packets"]})
    frames = [frame_of(p) for p in VECTORS["packets"]]
    for packet, shown in zip(VECTORS["packets"], checks.packets(frames, *lines)):
        name = packet["id"]
        checks.expect(REMARKS & shown.remarks.keys(), {"uet.tss.icv.good"}, f"{name}: remarks")
        checks.expect(shown.number("uet.tss.icv.status"), 1, f"{name}: status")
        used = lines[shown.number("uet.tss.key_line") - 1].split()
        checks.expect(f"mode={packet['mode']}" in used, True, f"{name}: line {used}")
        checks.expect(shown.number("uet.tss.sp"), packet["sp"], f"{name}: sp")
        checks.expect(shown.number("uet.tss.an"), packet["an"], f"{name}: an")
        checks.expect(shown.number("uet.tss.sdi"), int(packet["sdi"], 16), f"{name}: sdi")
        checks.expect(shown.number("uet.tss.epoch"), int(packet["tsc"][:4], 16), f"{name}: epoch")
        checks.expect(shown.number("uet.tss.counter"), int(packet["tsc"][4:], 16),
                      f"{name}: counter")
        if packet["sp"]:
            checks.expect(shown.number("uet.tss.ssi"), int(packet["tss_header"][8:16], 16),
                          f"{name}: ssi")
        checks.expect(shown.octets("uet.tss.nonce"), packet["nonce"], f"{name}: nonce")
        checks.expect(shown.octets("uet.tss.icv"), packet["icv"], f"{name}: icv")
        if packet["mode"] == "cluster":
            checks.expect(shown.number("uet.tss.rekey"), int(KDF[packet["kdf"]]["rekey"], 16),
                          f"{name}: rekey")
        checks.expect("uet.pds" in shown.layers, has_plaintext(packet), f"{name}: PDS is shown")
        if not has_plaintext(packet):
            continue
        checks.expect(shown.octets("uet.tss.plaintext"), packet["plaintext"], f"{name}: plaintext")
        octets = packet["uet"][len(packet["tss_header"]):-32]
        checks.expect(shown.octets("uet.tss.ciphertext"), octets, f"{name}: sealed octets")
        inner_fields(checks, name, shown)


def inner_fields(checks, name, shown):
    """The PDS headers inside: 118c00000001000000010000, or an ACK 380000000001000000010002."""
    if name == "G16":
        expected = {"type": 7, "next_hdr": 0, "ack_psn_offset": 0, "cack_psn": 0x10000,
                    "spdcid": 1, "dpdcid": 2}
    else:
        expected = {"type": 2, "next_hdr": 3, "ar": 1, "syn": 1, "retx": 0,
                    "clear_psn_offset": 0, "psn": 0x10000, "spdcid": 1, "psn_offset": 0}
    for field, value in expected.items():
        checks.expect(shown.number(f"uet.pds.{field}"), value, f"{name}: {field}")
    # The rest is too short for the SES header that it announces.
    checks.expect(shown.cut_short(), name != "G16", f"{name}: cut short inside")


def without_key(checks):
    """Sealed octets stay as they are without a key, and with those of others."""
    packet = VECTORS["packets"][0]
    others = [key_line(packet, sdi=2), key_line(packet, an=1), key_line(packet, epoch=7)]
    for lines in ((), others):
        shown = checks.packets([frame_of(packet)], *lines)[0]
        checks.verdict(shown, "no_key", "no key")
        checks.expect(shown.octets("uet.tss.ciphertext"), packet["ciphertext"], "ciphertext")
        checks.expect("uet.tss.plaintext" in shown, False, "plaintext without a key")
        checks.expect("uet.tss.key_line" in shown, False, "line without a key")


def wrong_keys(checks):
    """Each parameter of the key counts."""
    packet = VECTORS["packets"][0]
    for change in ({"key": ANOTHER}, {"rekey_shift": 31}, {"rekey_mask": 0}, {"clear": 12},
                   {"mode": "direct", "rekey_shift": None, "rekey_mask": None},
                   {"mode": "server", "rekey_shift": None, "rekey_mask": None}):
        shown = checks.packets([frame_of(packet)], key_line(packet, **change))[0]
        checks.verdict(shown, "bad", f"key with {change}")


def derived_pair(checks):
    """[TSS-031] A client has the pair that the server derived for it, in one epoch."""
    packet = next(p for p in VECTORS["packets"] if p["id"] == "G6a")
    pair = {"mode": "client", "key": packet["key"] + packet["iv_mask"]}
    epoch = int(packet["tsc"][:4], 16)
    frames = [frame_of(p) for p in VECTORS["packets"] if p["id"] in ("G6a", "G6b")]
    for shown in checks.packets(frames, key_line(packet, epoch=epoch, **pair)):
        checks.expect(shown.number("uet.tss.icv.status"), 1, "client pair: status")
    shown = checks.packets(frames, key_line(packet, epoch=epoch + 1, **pair))[0]
    checks.verdict(shown, "no_key", "client pair of another epoch")


def generations(checks):
    """AN 0 and AN 1 take turns, and AN 0 comes again with another key: the ICV shows which of two
    lines it is."""
    first, on_an_1 = (next(p for p in VECTORS["packets"] if p["id"] == i) for i in ("G1", "G17"))
    lines = [key_line(first, key=ANOTHER), key_line(on_an_1), key_line(first),
             key_line(first, key="8" * 64)]
    shown = checks.packets([frame_of(first), frame_of(on_an_1), frame_of(first)], *lines,
                           options=("-2",))
    for packet, line in zip(shown, (3, 2, 3)):
        checks.expect(packet.number("uet.tss.icv.status"), 1, "generations: status")
        checks.expect(packet.number("uet.tss.key_line"), line, "generations: line")


def tampered(checks):
    """[TSS-131] Every bit that is authenticated, and every one that is not. [TSS-021]"""
    for name in ("G1", "G2", "G3", "G5", "G7", "G16"):
        packet = next(p for p in VECTORS["packets"] if p["id"] == name)
        frame = frame_of(packet)
        start = len(frame) - len(packet["uet"]) // 2 - len(packet["encap_header"]) // 2
        addresses = start - len(packet["src"]) // 2 - len(packet["dst"]) // 2
        authenticated, free = [], []
        for bit in range(8 * addresses, 8 * len(frame)):
            changed = bytearray(frame)
            changed[bit // 8] ^= 0x80 >> bit % 8
            at = bit // 8
            if is_seen(packet, at, start):
                authenticated.append(bytes(changed))
        for at in (0, 6, 15, 22):  # MACs, DSCP and ECN, time to live
            changed = bytearray(frame)
            changed[at] ^= 0x04
            free.append(bytes(changed))
        if packet["ip_version"] == 6:
            free = free[:2]
        shown = [p.number("uet.tss.icv.status")
                 for p in checks.packets(authenticated + free, key_line(packet))]
        checks.expect(shown[:len(authenticated)], [0] * len(authenticated), f"{name}: covered")
        checks.expect(shown[len(authenticated):], [1] * len(free), f"{name}: not covered")


def is_seen(packet, at, transport):
    """Whether a packet that is wrong in this octet still is one with the security header that the
    key is for: not the type, SP, AN and SDI, not the port, length and checksum of UDP."""
    tss = transport + len(packet["encap_header"]) // 2
    if tss <= at < tss + 4:
        return False
    return packet["encapsulation"] == "native" or not transport + 2 <= at < tss


def trimmed(checks):
    """Without its end a packet is decrypted as far as it goes, and nothing vouches for it."""
    packet = VECTORS["packets"][0]
    content = bytes.fromhex(packet["encap_header"] + packet["uet"])[:4 + 12 + 12]
    frame = wireshark.ethernet(wireshark.ipv4(content, 253, "192.168.42.1", "192.168.42.2",
                                              dscp=16))
    shown = checks.packets([frame], key_line(packet))[0]
    checks.verdict(shown, "unverified", "trimmed")
    checks.expect(shown.octets("uet.tss.plaintext"), packet["plaintext"][:24], "trimmed: PDS")
    checks.expect(shown.number("uet.pds.psn"), 0x10000, "trimmed: PSN")
    checks.expect(shown.malformed(), False, "trimmed: malformed")
    checks.expect("uet.tss.icv" in shown, False, "trimmed: an ICV")
    checks.verdict(checks.packets([frame], key_line(packet, sdi=9))[0], "no_key", "trimmed")


def trimmed_of_server(checks):
    """What the server sends has the key of the client: known from packets before."""
    to_server, to_client = (next(p for p in VECTORS["packets"] if p["id"] == i)
                            for i in ("G6a", "G6b"))
    content = bytes.fromhex(to_client["encap_header"] + to_client["uet"])[:4 + 12 + 12]
    frame = wireshark.ethernet(wireshark.ipv4(content, 253, "192.168.42.2", "192.168.42.1",
                                              dscp=16))
    shown = checks.packets([frame_of(to_server), frame_of(to_client), frame_of(to_server), frame],
                           key_line(to_server), options=("-2",))
    checks.verdict(shown[3], "unverified", "trimmed, of a server")
    checks.expect(shown[3].number("uet.pds.psn"), 0x10000, "trimmed, of a server: PSN")


def cut_by_the_capture(checks):
    """A snapshot length takes the ICV away from the capture, not from the packet."""
    packet = VECTORS["packets"][0]
    capture = checks.folder / "whole.pcap"
    short = checks.folder / "short.pcap"
    capture_file.write_pcap(capture, [frame_of(packet)])
    subprocess.run(["editcap", "-F", "pcap", "-s", "64", capture, short], check=True)
    short.chmod(0o644)
    shown = checks.tshark.packets(short, "-o", f"uet.tss.key_file:{checks.keys(key_line(packet))}")
    checks.expect(shown[0].number("uet.tss.icv.status"), 2, "cut: status")
    checks.expect(shown[0].number("uet.pds.psn"), 0x10000, "cut: PSN")
    checks.expect(shown[0].octets("uet.tss.plaintext"), packet["plaintext"][:2 * (64 - 14 - 36)],
                  "cut: plaintext")


def every_length(checks):
    """However short: no key opens it, and one that cannot have an ICV is too short."""
    packet = VECTORS["packets"][0]
    content = bytes.fromhex(packet["encap_header"] + packet["uet"])
    frames = [wireshark.ethernet(wireshark.ipv4(content[:size], 253, "192.168.42.1",
                                                "192.168.42.2")) for size in range(5, len(content))]
    for size, shown in enumerate(checks.packets(frames, key_line(packet)), 5):
        too_short = size < 4 + 12 + 16
        checks.expect(shown.malformed(), too_short, f"{size} octets: malformed")
        checks.expect("uet.pds" in shown.layers, False, f"{size} octets: PDS is shown")


def ipv6_without_ssi(checks):
    """[TSS-015] Such keys open nothing: what they would open must not exist."""
    packet = next(p for p in VECTORS["packets"] if p["id"] == "G3")
    for mode in ("direct", "server"):
        line = key_line(packet, mode=mode, rekey_mask=None, rekey_shift=None)
        checks.verdict(checks.packets([frame_of(packet)], line)[0], "no_key", f"IPv6, {mode}")


def said(checks, *lines):
    """What tshark says of a key file, on standard error."""
    packet = VECTORS["packets"][0]
    capture = checks.folder / "sealed.pcap"
    capture_file.write_pcap(capture, [frame_of(packet)])
    path = checks.keys(*lines)
    done = subprocess.run(checks.tshark.before + [
        "tshark", "-r", capture, "-T", "fields", "-e", "uet.tss.icv.status",
        "-o", f"uet.tss.key_file:{path}"], env=checks.tshark.environment, capture_output=True,
        text=True, check=False)
    checks.expect(done.returncode, 0, "status with a wrong key file")
    return done.stdout.strip(), done.stderr.replace(str(path), "FILE")


def wrong_files(checks):
    """A wrong line is reported with its number, and right lines are used."""
    good = key_line(VECTORS["packets"][0])
    for lines, message in (
            (("# x", "sdi=1 an=3", good), "FILE, line 2: an: an is 0 or 1."),
            (("", good, "sdi=1"), "FILE, line 3: a key needs sdi, an, mode and key."),
            ((good, "sdi=1 an=0 mode=direct key=" + "7" * 63), "FILE, line 2: key: key is 64"),
            (("so", "many", "words", good), "FILE: 3 lines are wrong."),
            ([key_line(VECTORS["packets"][0], sdi=9)] * 1023 + [good, good],
             "FILE, line 1025: more keys than the 1024 that are taken.")):
        status, text = said(checks, *lines)
        checks.expect(message in text, True, f"reported: {text!r}, expected {message!r}")
        checks.expect("7" * 16 in text, False, "a key is in the report")
        checks.expect(status, "1", "opened with the lines that are right")
    status, text = said(checks, good)
    checks.expect("UET key file" in text, False, f"report about a right file: {text!r}")


def main():
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    tshark = wireshark.Tshark(sys.argv[1])
    with wireshark.folder() as folder:
        checks = Checks(tshark, folder)
        for part in (opened_vectors, without_key, wrong_keys, derived_pair, generations, tampered,
                     trimmed, trimmed_of_server, cut_by_the_capture, every_length,
                     ipv6_without_ssi, wrong_files):
            part(checks)
    print(f"{checks.compared} comparisons, {checks.wrong} differences")
    return 1 if checks.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
