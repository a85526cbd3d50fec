# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds sealed captures, opened with their keys, against the same packets in clear.

Usage: sealed_test.py PLUGINS UET_PCAP

The texts of data/ are made into captures by uet_pcap, once in clear and once sealed; what tshark
says of UET, PDS and SES must be the same, field for field, whatever the mode and the keys. The
sealed octets themselves are checked by packet_seal_test and tss_test, with published vectors.
"""
import pathlib
import re
import subprocess
import sys

import wireshark

DATA = pathlib.Path(__file__).resolve().parent / "data"
MASTER = "34448a064292601b11a0978f56a2d34cf3fc35ede1a6bc04f8db3e5243a2b0ca"
ANOTHER = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"

# Key lines, what is added to each line of a text, and whether IPv6 may be without an SSI.
WAYS = {
    "cluster": (f"sdi=1 an=0 mode=cluster key={MASTER}", "", True),
    "direct, AN 1": (f"sdi=1 an=1 mode=direct key={MASTER}", "", False),
    "PDS in clear": (f"sdi=1 an=0 mode=cluster key={MASTER} clear=12", "", True),
    "SSI, a later epoch": (f"sdi=1 an=0 mode=cluster key={MASTER}", "ssi=0x0a0b0c0d epoch=7",
                           True),
    "rekeyed with every packet": (
        f"sdi=1 an=0 mode=cluster key={MASTER} rekey_mask=0xff rekey_shift=0", "", True),
    "server": (f"sdi=1 an=0 mode=server key={MASTER}", "", False),
    "server, SSI": (f"sdi=1 an=0 mode=server key={MASTER} kdf_ssi_v6=ssi", "ssi=7", True),
}
SEALED = ("uet.tss",)


def texts():
    return [DATA / name for name in ("conversation.txt", "formats.txt")]


def with_options(text, options):
    """The options at the end of what is before the first bar of each line."""
    return re.sub(r"^([^#|\n]*?) *\|", rf"\1 {options} |", text, flags=re.M) if options else text


class Checks:
    def __init__(self, tshark, program, folder):
        self.tshark = tshark
        self.program = program
        self.folder = pathlib.Path(folder)
        self.wrong = 0
        self.compared = 0

    def expect(self, condition, text):
        self.compared += 1
        if not condition:
            self.wrong += 1
            print(text)

    def layers(self, text, keys=None, used=None, more=()):
        """What tshark shows of each packet of a text, made with the first keys and shown with the
        second."""
        source = self.folder / "text"
        source.write_text(text)
        capture = self.folder / "capture.pcapng"
        arguments, options = [], []
        if keys is not None:
            made_with = self.folder / "made"
            made_with.write_text(keys + "\n")
            arguments = ["--keys", made_with, "--sdi", "1"]
            shown_with = self.folder / "shown"
            shown_with.write_text((used or keys) + "\n")
            shown_with.chmod(0o644)
            options = ["-o", f"uet.tss.key_file:{shown_with}", *more]
        subprocess.run([self.program, "make", source, capture, *arguments], check=True)
        capture.chmod(0o644)
        return self.tshark.layers(capture, "-2", "-o", "udp.try_heuristic_first:TRUE", *options)


def headers(layers):
    """UET without the layer of security."""
    return {name: layer for name, layer in layers.items()
            if name.startswith("uet") and name not in SEALED}


def compare(checks, what, clear, sealed):
    checks.expect(len(clear) == len(sealed) > 0, f"{what}: {len(sealed)} packets of {len(clear)}")
    for number, (before, after) in enumerate(zip(clear, sealed), 1):
        checks.expect("uet.tss" in after, f"{what}: packet {number} is not sealed")
        checks.expect("uet.pds" in headers(after), f"{what}: packet {number} is not opened")
        checks.expect(headers(before) == headers(after), f"{what}: packet {number}:\n"
                      f"{headers(before)}\n{headers(after)}")


def every_way(checks):
    for path in texts():
        whole = path.read_text()
        ipv4 = "".join(line for line in whole.splitlines(True) if "fd00::" not in line)
        clear = {text: checks.layers(text) for text in {whole, ipv4}}
        for name, (keys, options, with_ipv6) in WAYS.items():
            text = whole if with_ipv6 else ipv4
            compare(checks, f"{path.name}, {name}", clear[text],
                    checks.layers(with_options(text, options), keys))


ROLLOVER = """\
0.0 10.0.0.1 > 10.0.0.2 {0} | RUD_REQ syn ar psn=1 spdcid=9 | SMALL opcode=NO_OP
0.1 10.0.0.2 > 10.0.0.1 {0} | ACK cack_psn=1 spdcid=7 dpdcid=9
0.2 10.0.0.1 > 10.0.0.2 {1} | RUD_REQ ar psn=2 spdcid=9 dpdcid=7 | SMALL opcode=NO_OP
0.3 10.0.0.2 > 10.0.0.1 {0} | ACK cack_psn=2 spdcid=7 dpdcid=9
0.4 10.0.0.1 > 10.0.0.2 {1} | RUD_REQ ar psn=3 spdcid=9 dpdcid=7 | SMALL opcode=NO_OP
0.5 10.0.0.1 > 10.0.0.2 {2} | RUD_REQ ar psn=4 spdcid=9 dpdcid=7 | SMALL opcode=NO_OP
0.6 10.0.0.1 > 10.0.0.2 {2} | RUD_REQ retx ar psn=4 spdcid=9 dpdcid=7 | SMALL opcode=NO_OP
0.7 10.0.0.2 > 10.0.0.1 {2} | ACK cack_psn=4 spdcid=7 dpdcid=9
"""


def rollover(checks):
    """A PDC lives through AN 0, AN 1 and AN 0 with another key, and through a new epoch."""
    keys = (f"sdi=1 an=0 mode=cluster key={MASTER}\nsdi=1 an=1 mode=cluster key={ANOTHER}\n"
            f"sdi=1 an=0 mode=cluster key={ANOTHER}")
    clear = checks.layers(ROLLOVER.format("", "", ""))
    sealed = checks.layers(ROLLOVER.format("key_line=1", "key_line=2", "key_line=3"), keys)
    compare(checks, "rollover", clear, sealed)
    lines = [packet["uet.tss"]["uet.tss.key_line"] for packet in sealed]
    checks.expect(lines == ["1", "1", "2", "1", "2", "3", "3", "3"], f"rollover: keys of {lines}")
    epochs = ("epoch=0 counter=9", "epoch=1 counter=9", "epoch=2 counter=9")
    compare(checks, "epochs", clear, checks.layers(ROLLOVER.format(*epochs), keys))
    only_one = keys.split("\n", maxsplit=1)[0] + " epoch=1"
    opened = ["uet.pds" in packet
              for packet in checks.layers(ROLLOVER.format(*epochs), keys.split("\n")[0], only_one)]
    checks.expect(opened == [False, False, True, False, True, False, False, False],
                  f"one epoch: opened {opened}")


def both_ends_of_a_server(checks):
    """The answers of a server have the key of its client; so have those that a switch trims."""
    text = (DATA / "conversation.txt").read_text()
    back = re.sub(r"^(\S+ 10\.0\.0\.2\S* > \S+)", r"\1 from_server", text, flags=re.M)
    keys = f"sdi=1 an=0 mode=server key={MASTER}"
    compare(checks, "server, both ways", checks.layers(text), checks.layers(back, keys))


# Source, options of sealing, PSN; then the epochs that the packet is behind, and the earlier packet
# with its nonce, with the remark on it.
HISTORY = [
    (1, "epoch=20 counter=1", 1, 0, None),
    (1, "epoch=4 counter=1", 2, 16, None),
    (1, "epoch=3 counter=1", 3, 17, None),  # too old
    (1, "epoch=21 counter=1", 4, 0, None),
    (1, "epoch=20 counter=1", 1, 1, (1, "uet.tss.copy")),
    (1, "epoch=21 counter=1", 5, 0, (4, "uet.tss.nonce_reused")),
    (2, "epoch=0 counter=1", 1, 0, None),  # each source has its own
    (1, "epoch=100 counter=9 key_line=3", 6, None, None),  # with a key that is not known
    (1, "epoch=21 counter=2", 7, 0, None),  # a packet that is not authentic is not used
    (1, "epoch=0 counter=1 an=1", 8, 0, None),  # a new key begins at 0
    (3, "epoch=2 counter=1", 1, 0, None),
    (3, "epoch=65530 counter=1", 2, 8, None),
    (4, "epoch=0 counter=1", 1, 0, None),
    (4, "epoch=0x8000 counter=1", 2, 0, None),
    (4, "epoch=0x7fff counter=1", 3, 1, None),
    (4, "epoch=0x7fff counter=1 ssi=9", 3, 0, None),  # known by its SSI: another source
    (5, "epoch=0x8003 counter=1 ssi=9", 3, 0, None),
    (4, "epoch=0x8000 counter=1 ssi=9", 3, 3, None),
]
LATE = "uet.tss.late_epoch"


def history(checks):
    """Remarks that follow from several authentic packets: old epochs, and repeated nonces."""
    known = f"sdi=1 an=0 mode=cluster key={MASTER}\nsdi=1 an=1 mode=cluster key={ANOTHER}"
    stranger = f"\nsdi=1 an=0 mode=cluster key={ANOTHER}"
    text = "".join(
        f"{n} 10.0.0.{source} > 10.0.1.1 {'an=0 ' if 'an=' not in options else ''}"
        f"{'key_line=1 ' if 'an=1' not in options and 'key_line' not in options else ''}"
        f"{options} | RUD_REQ psn={psn} spdcid=9 dpdcid=7 | SMALL opcode=NO_OP\n"
        for n, (source, options, psn, _, _) in enumerate(HISTORY))
    for lifetime, late in ((None, {3}), (15, {2, 3}), (17, set())):
        more = ["-o", f"uet.tss.rx_max_epoch_lifetime:{lifetime}"] if lifetime else []
        packets = map(wireshark.Fields, checks.layers(text, known + stranger, known, more))
        for number, (packet, row) in enumerate(zip(packets, HISTORY, strict=True), 1):
            behind, before = row[3:]
            what = f"history, packet {number}, lifetime {lifetime}"
            checks.expect(("uet.pds" in packet) == (behind is not None), f"{what}: opened")
            shown = packet.values["uet.tss.analysis.epochs_behind"]
            checks.expect(shown == ([str(behind)] if behind else []), f"{what}: {shown} behind")
            shown = packet.values["uet.tss.analysis.same_nonce_frame"]
            checks.expect(shown == ([str(before[0])] if before else []),
                          f"{what}: nonce of {shown}")
            remarks = {"uet.tss.copy", "uet.tss.nonce_reused", LATE} & packet.remarks.keys()
            wanted = ({before[1]} if before else set()) | ({LATE} if number in late else set())
            checks.expect(remarks == wanted, f"{what}: {remarks}, expected {wanted}")


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    with wireshark.folder() as folder:
        checks = Checks(wireshark.Tshark(sys.argv[1]), sys.argv[2], folder)
        for part in (every_way, rollover, both_ends_of_a_server, history):
            part(checks)
    print(f"{checks.compared} comparisons, {checks.wrong} differences")
    return 1 if checks.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
