#!/usr/bin/env python3
"""Looks at the page of `uet_pcap ladder` in headless Chromium.

Usage: ladder_page_test.py UET_PCAP       (exit 77: there is no such browser)
"""
import pathlib
import subprocess
import sys
import unittest

from ladder_drawing_test import ARROWS, CAPTURE, with_interface

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "page" / "test"))
from pages import PageTest  # noqa: E402


HELP = """
const drawn = () => [...view.querySelectorAll(".packet")];
const labels = () => [...view.querySelectorAll(".l")].map((l) => l.textContent);
const fields = () => Object.fromEntries([...details.querySelectorAll("dt")]
  .map((dt) => [dt.textContent, dt.nextSibling.textContent]));
const send = (to, event) => to.dispatchEvent(event);
const type = (id, text) => {
  $(id).value = text;
  send($(id), new Event("input", { bubbles: true }));
};
const press = (key) => send(scroller, new KeyboardEvent("keydown", { key, bubbles: true }));
const point_at = (g) => { send(g, new PointerEvent("pointermove", { bubbles: true })); draw(); };
const y = (g) => Number(g.querySelector(".a").getAttribute("y1"));
"""

WALK = """
found.title = document.title;
found.classes = drawn().map((g) => g.getAttribute("class").split(" ")[1]);
found.labels = labels();
found.names = drawn().map((g) => g.getAttribute("aria-label"));
found.ends = [...document.querySelectorAll("#ends .end")].map((e) => e.textContent);
found.lost = document.getElementById("counts").textContent;

point_at(drawn()[2]);
found.hovered = fields();
found.links = [...details.querySelectorAll("button")].map((b) => b.textContent);
details.querySelector("button").click();
found.followed = fields().frame;
press("Escape");

type("text", "nack_code=no_pkt");
found.by_text = labels();
type("text", "");
type("psn-from", "1001"); type("psn-to", "1001");
found.by_psn = labels();
type("psn-from", "1002"); type("psn-to", "1000");
found.by_wrapped_psn = labels();
type("psn-from", ""); type("psn-to", "x");
found.invalid = $("psn-to").getAttribute("aria-invalid");
type("psn-to", ""); type("message", "1");
found.by_message = labels().length;
document.querySelector("#kinds input[value=ack]").click();
found.by_kind = labels().length;
$("reset").click();
found.after_reset = labels().length;

const rows = drawn().map(y);
found.compact_row = rows[1] - rows[0];
$("zoom-in").click(); draw();
const zoomed = drawn().map(y);
found.zoomed_row = zoomed[1] - zoomed[0];
$("zoom-reset").click();
$("proportional").click(); draw();
const scaled = drawn().map(y);
found.scaled = scaled.map((at) => (at - scaled[0]) / (scaled[6] - scaled[0]));
$("compact").click();

press("Home"); press("ArrowDown");
found.walked = [scroller.getAttribute("aria-activedescendant"), fields().frame];
press("n");
found.problem = fields().frame;
const plain = getComputedStyle(document.body).backgroundColor;
$("theme").click();
found.themes = [plain, getComputedStyle(document.body).backgroundColor];
"""

LARGE = """
const size = () => view.querySelectorAll("*").length;
found.total = packets.length;
found.at_top = [drawn().length > 5, size() < 2500];
press("End");
found.at_end = [fields().psn, drawn().length > 5, size() < 2500];
zoomTo(0.02); draw();
found.dense = [size() < 12000, $("shown").textContent.includes("zoom in") ||
  $("shown").textContent.includes("without room")];
scroller.scrollTop = 0;
type("text", "psn=15000");
found.found = labels().filter((l) => l.startsWith("psn 15000 ")).length;
"""


class LadderPageTest(PageTest):
    program = ""
    window = "1400,900"

    def page(self, capture):
        path = self.folder / "page.html"
        subprocess.run([self.program, "ladder", capture, "-o", path], check=True)
        return path.read_text()

    def capture(self, text):
        path = self.folder / "capture.pcapng"
        subprocess.run([self.program, "make", "-", path], input=text, text=True, check=True)
        return path

    def walked(self, page, script):
        return super().walked(page, HELP + script)

    def test_a_reader_finds_everything(self):
        found = self.walked(self.page(self.capture(CAPTURE)), WALK)
        self.assertEqual(found["title"], "PDC 0: 10.0.0.1 (PDCID 9) and 10.0.0.2 (PDCID 77), RUD")
        self.assertEqual(found["classes"], [css for css, *_ in ARROWS])
        self.assertEqual(found["labels"], [label for *_, label in ARROWS])
        self.assertEqual(found["names"][2], "Frame 3, 2.000 ms: NACK NO_PKT_BUFFER psn 1001")
        self.assertEqual(found["ends"], ["10.0.0.1initiator, PDCID 9", "10.0.0.2target, PDCID 77"])
        self.assertIn("? lost", found["lost"])

        self.assertEqual(found["hovered"]["nack_code"], "NO_PKT_BUFFER (7)")
        self.assertEqual(found["hovered"]["nack_psn"], "1001")
        self.assertEqual(found["hovered"]["lost"], "not known")
        self.assertEqual(found["hovered"]["response time"], "1.000 ms")
        self.assertEqual(found["links"], ["Answers frame 2: psn 1001 syn SEND msg 1 4 B"])
        self.assertEqual(found["followed"], "2")

        self.assertEqual(found["by_text"], [ARROWS[2][3]])
        self.assertEqual(found["by_psn"], [ARROWS[i][3] for i in (1, 2, 3)])
        self.assertEqual(found["by_wrapped_psn"], [ARROWS[i][3] for i in (0, 4, 6)])
        self.assertEqual(found["invalid"], "true")
        self.assertEqual((found["by_message"], found["by_kind"]), (5, 4))
        self.assertEqual(found["after_reset"], 7)

        self.assertAlmostEqual(found["zoomed_row"], 1.5 * found["compact_row"], places=3)
        for scaled, time_ms in zip(found["scaled"], (0, 1, 2, 3, 3, 4, 5), strict=True):
            self.assertAlmostEqual(scaled, time_ms / 5, places=3)
        self.assertEqual(found["walked"], ["p1", "2"])
        self.assertEqual(found["problem"], "3")
        self.assertNotEqual(*found["themes"])

    def test_twenty_thousand_packets_are_walked_through(self):
        lines = ["0 10.0.0.1 > 10.0.0.2 | RUD_REQ syn psn=0 spdcid=9 | SMALL opcode=NO_OP"]
        lines += [f"{n / 1e6:.6f} 10.0.0.1 > 10.0.0.2 | RUD_REQ psn={n} spdcid=9 dpdcid=7 | SMALL "
                  "opcode=NO_OP" for n in range(1, 20000)]
        found = self.walked(self.page(self.capture("\n".join(lines))), LARGE)
        self.assertEqual(found["total"], 20000)
        self.assertEqual(found["at_top"], [True, True])
        self.assertEqual(found["at_end"], ["19999", True, True])
        self.assertEqual(found["dense"], [True, True])
        self.assertEqual(found["found"], 1)

    def test_nothing_of_a_capture_becomes_part_of_the_page(self):
        hostile = self.folder / "<img src=x onerror=document.title='file'>.pcapng"
        hostile.write_bytes(with_interface(
            self.capture(CAPTURE), b"</script><script>document.title='name'</script>",
            b"<img src=x onerror=\"document.title='comment'\">"))
        found = self.walked(self.page(hostile), """
found.title = document.title;
found.about = $("about").textContent;
found.elements = document.querySelectorAll("img, #about *").length;
""")
        self.assertTrue(found["title"].startswith("PDC 0:"))
        self.assertIn("<img src=x onerror=document.title='file'>.pcapng", found["about"])
        self.assertIn("</script><script>document.title='name'</script>", found["about"])
        self.assertEqual(found["elements"], 0)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    LadderPageTest.program = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
