#!/usr/bin/env python3
"""The drawings of `uet_pcap ladder`: every arrow of an SVG as computed by hand from a capture in
text, JSON, what is said of a cut, of wrong usage and of hostile files, and their exit statuses.

Usage: ladder_drawing_test.py UET_PCAP
"""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

SVG = "{http://www.w3.org/2000/svg}"
LEFT, RIGHT = 285, 865  # the lifelines

CAPTURE = (pathlib.Path(__file__).parent / "ladder.txt").read_text()
# By packet: class, from, to, and the label.
ARROWS = [
    ("data", LEFT, RIGHT, "psn 1000 syn SEND msg 1 4 B"),
    ("data", LEFT, RIGHT, "psn 1001 syn SEND msg 1 4 B"),
    ("nack", RIGHT, LEFT, "NACK NO_PKT_BUFFER psn 1001"),
    ("again", LEFT, RIGHT, "psn 1001 SEND msg 1 4 B, sent again"),
    ("copy", LEFT, RIGHT, "psn 1000 syn SEND msg 1 4 B, duplicate"),
    ("ack", RIGHT, LEFT, "ACK cack 1001 RESPONSE OK msg 1"),
    ("control", LEFT, RIGHT, "CLOSE_CMD psn 1002"),
]


def block(kind, body):
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def option(code, value):
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def with_interface(capture, name, comment):
    """The packets of a capture made by uet_pcap, under an interface of that name."""
    octets = capture.read_bytes()
    at = struct.unpack_from("<I", octets, 4)[0]
    section, rest = octets[:at], octets[at:]
    rest = rest[struct.unpack_from("<I", rest, 4)[0]:]
    interface = struct.pack("<HHI", 1, 0, 0) + option(2, name) + option(1, comment)
    return section + block(1, interface + option(9, b"\x09") + struct.pack("<I", 0)) + rest


class LadderDrawingTest(unittest.TestCase):
    program = ""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.capture = self.made("capture.pcapng", CAPTURE)

    def made(self, name, text):
        path = self.folder / name
        subprocess.run([self.program, "make", "-", path], input=text, text=True, check=True)
        return path

    def run_ladder(self, *arguments):
        return subprocess.run([self.program, "ladder", *map(str, arguments)], text=True,
                              capture_output=True, check=False, timeout=60)

    def drawn(self, *arguments, said=""):
        done = self.run_ladder(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, said))
        return done.stdout

    def svg(self, *arguments, said=""):
        path = self.folder / "ladder.svg"
        self.drawn(self.capture, "-o", path, *arguments, said=said)
        return ElementTree.parse(path).getroot()

    def test_every_packet_is_an_arrow(self):
        root = self.svg()
        self.assertEqual(root.get("role"), "img")
        arrows = [g for g in root.iter(SVG + "g") if g.get("role") == "listitem"]
        labels = [t.text for t in root.iter(SVG + "text") if t.get("class") == "l"]
        heights = []
        for arrow, label, expected in zip(arrows, labels, ARROWS, strict=True):
            line = arrow.find(SVG + "line")
            tip = float(arrow.find(SVG + "path").get("d")[1:].split()[0])
            found = (arrow.get("class"), round(float(line.get("x1"))), round(tip), label)
            self.assertEqual(found, expected)
            self.assertEqual(line.get("y1"), line.get("y2"))
            heights.append(float(line.get("y1")))
        steps = {b - a for a, b in zip(heights, heights[1:])}
        self.assertEqual(len(steps), 1, "a line for each event")

    def test_titles_hold_the_fields(self):
        titles = [t.text for t in self.svg().iter(SVG + "title")]
        nack = next(t for t in titles if t.startswith("Frame 3,"))
        for field in ("nack_psn = 1001", "nack_code = NO_PKT_BUFFER", "ip.src = 10.0.0.2"):
            self.assertIn(field, nack)

    def test_brackets_and_the_link_of_the_nack(self):
        root = self.svg()
        brackets = [p.get("d") for p in root.iter(SVG + "path") if p.get("class") == "msg"]
        links = [p.get("d") for p in root.iter(SVG + "path") if p.get("class") == "link"]
        y = {a.get("id"): a.find(SVG + "line").get("y1") for a in root.iter(SVG + "g")
             if a.get("role") == "listitem"}
        self.assertEqual(len(brackets), 1)
        self.assertIn(f" {y['p1']}h", brackets[0])
        self.assertIn(f"V{y['p6']}h", brackets[0])
        self.assertEqual(len(links), 1)
        self.assertTrue(links[0].startswith(f"M{RIGHT}.0 {y['p2']}c"), links[0])

    def test_to_scale_heights_are_times(self):
        root = self.svg("--time", "proportional")
        y = [float(a.find(SVG + "line").get("y1")) for a in root.iter(SVG + "g")
             if a.get("role") == "listitem"]
        whole = y[-1] - y[0]  # 5 ms
        for found, time_ms in zip(y, (0, 1, 2, 3, 3, 4, 5), strict=True):
            self.assertAlmostEqual((found - y[0]) / whole, time_ms / 5, places=2)
        text = " ".join(t.text or "" for t in root.iter(SVG + "text"))
        self.assertIn("1 arrows are too close to the one before for a label", text)

    def test_a_cut_is_said_in_the_picture_and_on_the_terminal(self):
        cut = "Packets 2 to 4 of 7 are drawn."
        root = self.svg("--from", "2", "--packets", "3",
                        said=f"uet_pcap: {cut} --from and --packets choose.\n")
        text = " ".join(t.text or "" for t in root.iter(SVG + "text"))
        self.assertIn(cut, text)
        arrows = [g.get("class") for g in root.iter(SVG + "g") if g.get("role") == "listitem"]
        self.assertEqual(arrows, ["data", "nack", "again"])

    def test_json_has_the_same(self):
        got = json.loads(self.drawn(self.capture, "--json"))
        self.assertEqual(got["counts"], {"packets": 7, "data": 4, "ack": 1, "nack": 1, "control": 1,
                                         "retransmissions": 1, "duplicates": 1, "lost": None})
        again = got["packets"][3]
        self.assertEqual((again["cause"], again["caused_by"], again["previous"]), ("NACK", 2, 1))
        self.assertEqual(again["fields"]["message_offset"], "4")
        self.assertNotIn("fate", again)
        self.assertEqual(got["messages"][0]["response"], 5)

    def test_the_list_shows_each_pdc_with_its_packets(self):
        self.assertEqual(self.drawn(self.capture, "--list").split("\n")[1].split(),
                         ["0", "RUD", "10.0.0.1/9", "10.0.0.2/77", "7"])
        self.assertEqual(json.loads(self.drawn(self.capture, "--list", "--json"))[0]["packets"], 7)

    def test_sealed_packets_are_opened_with_keys(self):
        keys = self.folder / "keys"
        keys.write_text("".join(f"sdi={sdi} an=0 mode=cluster key={digit * 64}\n"
                                for sdi, digit in ((7, "1"), (8, "2"))))
        clear = json.loads(self.drawn(self.capture, "--json"))
        sealed = self.folder / "sealed.pcapng"
        subprocess.run([self.program, "make", "-", sealed, "--keys", keys, "--sdi", "7"],
                       input=CAPTURE, text=True, check=True)
        got = json.loads(self.drawn(sealed, "--json", "--keys", keys))
        self.assertEqual([p["label"] for p in got["packets"]],
                         [p["label"] for p in clear["packets"]])
        self.assertEqual(got["counts"], clear["counts"])
        fields = got["packets"][0]["fields"]
        self.assertEqual((fields["sdi"], fields["psn"]), ("7", "1000"))
        self.drawn(sealed, "--keys", keys, "-o", self.folder / "sealed.html")
        self.assertIn("psn 1001 SEND", (self.folder / "sealed.html").read_text())
        # Without the key it belongs to no PDC; the text names the packets that are left out.
        self.assertEqual(self.run_ladder(sealed, "--json").returncode, 1)
        keys.write_text("sdi=8 an=0 mode=cluster key=" + "2" * 64 + "\n")
        done = self.run_ladder(sealed, "--json", "--keys", keys)
        self.assertEqual(done.returncode, 1)
        self.assertIn("are left out: 7 ", done.stderr)
        keys.write_text("sdi=8 nonsense\n")
        done = self.run_ladder(sealed, "--json", "--keys", keys)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn(f"{keys}:", done.stderr)

    def test_two_captures_show_what_was_lost(self):
        lines = CAPTURE.splitlines(keepends=True)
        other = self.made("other.pcapng", "".join(lines[:2] + lines[3:]).replace("0.00", "9.00"))
        got = json.loads(self.drawn(self.capture, other, "--json"))
        self.assertEqual([p["fate"] for p in got["packets"]],
                         ["arrived", "lost"] + 5 * ["arrived"])
        self.assertEqual(got["counts"]["lost"], 1)

    def test_what_is_wrong_is_said(self):
        text = self.folder / "text"
        text.write_text("no capture")
        empty = self.made("empty.pcapng", "")
        for arguments, status, words in (
                ([self.capture], 2, "where to?"),
                ([self.capture, "-o", "x.png"], 2, "ends in neither .svg nor .html"),
                ([self.capture, "--pdc", "1", "--json"], 1, "no PDC 1: there are 1"),
                ([self.capture, "--from", "8", "--json"], 1, "the PDC has 7 packets"),
                ([text, "--json"], 1, "neither pcap nor pcapng"),
                ([empty, "--json"], 1, "no packet of a PDC"),
                ([self.folder / "absent", "--json"], 1, "cannot read"),
                ([self.capture, "-o", self.folder / "absent" / "x.svg"], 1, "cannot write"),
                ([self.capture, "--time", "short", "--json"], 2, "--time"),
                ([self.capture, "--pdc", "-1", "--json"], 2, "--pdc"),
                ([], 2, "CAPTURE")):
            done = self.run_ladder(*arguments)
            self.assertEqual(done.returncode, status, arguments)
            self.assertIn(words, done.stderr, arguments)

    def test_a_file_that_ends_early_is_drawn_so_far(self):
        cut = self.folder / "cut.pcapng"
        cut.write_bytes(self.capture.read_bytes()[:-7])
        done = self.run_ladder(cut, "--json")
        self.assertEqual(done.returncode, 0)
        self.assertIn("what is before that is shown", done.stderr)
        self.assertEqual(json.loads(done.stdout)["counts"]["packets"], 6)

    def test_names_cannot_escape_from_the_drawing(self):
        name = b"\"'><script>alert(1)</script>\x00\x1b\xff]]>"
        hostile = self.folder / "<b>&amp;.pcapng"
        hostile.write_bytes(with_interface(self.capture, name, b"</script><!--"))
        svg, page = self.folder / "hostile.svg", self.folder / "hostile.html"
        self.drawn(hostile, "-o", svg)
        self.drawn(hostile, "-o", page)
        text = " ".join(t.text or "" for t in ElementTree.parse(svg).getroot().iter(SVG + "text"))
        self.assertIn("From <b>&amp;.pcapng.", text)
        document = page.read_text()
        self.assertEqual(document.count("<script"), 2)
        self.assertEqual(document.count("</script"), 2)
        self.assertNotIn("<!--", document)
        data = document.split('type="application/json">')[1].split("</script>")[0]
        self.assertEqual(json.loads(data)["points"][0]["comment"], "</script><!--")

    def test_the_page_is_whole_in_itself(self):
        page = self.folder / "page.html"
        self.drawn(self.capture, "-o", page)
        document = page.read_text()
        for outside in ("src=", "href=", "@import", "fetch(", "XMLHttpRequest", "url("):
            self.assertNotIn(outside, document)
        self.assertIn("default-src 'none'", document)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    LadderDrawingTest.program = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
