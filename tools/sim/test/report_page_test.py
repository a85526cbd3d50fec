#!/usr/bin/env python3
"""Looks at the page of `uet_sim run --report` in headless Chromium.

Usage: report_page_test.py UET_SIM [PICTURE.png]     (exit 77: no such browser, or built without D3)

PICTURE.png: a picture of the page is kept there.
"""
import json
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "page" / "test"))
from pages import PageTest, skip  # noqa: E402

PLOTS = ("fct", "depth", "window", "paths", "load", "queues")
PICTURE = []

CURVES = 'const curves = (id) => all(`#${id} .curve`).map((c) => c.getAttribute("data-name"));'
WALK = CURVES + """
found.title = document.title;
found.totals = Object.fromEntries(all("#totals li").map((li) =>
  [li.firstChild.textContent, li.lastChild.textContent]));
found.curves = Object.fromEntries(%s.map((id) => [id, curves(id)]));
found.drawn = all(".curve").every((c) => c.getAttribute("d").length > 20
  && !c.getAttribute("d").includes("NaN"));
found.cells = all(".cell").length;
found.kinds = all("figcaption").map((c) => c.textContent.split(":")[0]);
const fill = () => all(".cell").map((c) => c.getAttribute("fill"));
const before = fill();
const press = (name) => all("#metric button").find((b) => b.textContent === name).click();
press("trimmed");
found.repainted = fill().some((colour, i) => colour !== before[i]);
found.trims = all("figcaption").map((c) => c.textContent).filter((t) => t.includes("at most 0,"))
  .length;
found.empty = document.getElementById("link").textContent;
const hot = all(".cell").filter((c) => d3.select(c).datum().trimmed > 0);
found.hot = hot.map((c) => c.textContent);
hot[0].dispatchEvent(new MouseEvent("click", { bubbles: true }));
found.link = document.getElementById("link").textContent;
found.chosen = all(".cell.chosen").length;
const button = all("#window .legend button").find((b) => b.textContent === "median window");
button.click();
found.hidden = [curves("window").includes("median window"), button.getAttribute("aria-pressed")];
button.click();
found.again = curves("window").includes("median window");
const svg = document.querySelector("#depth svg").getBoundingClientRect();
document.querySelector("#depth svg").dispatchEvent(new PointerEvent("pointermove",
  { clientX: svg.left + svg.width / 2, clientY: svg.top + 20, bubbles: true }));
found.read = document.querySelector("#depth .read").textContent;
""" % json.dumps(PLOTS)


class ReportPageTest(PageTest):
    program = ""

    def run_it(self, *words):
        page, result = self.folder / "page.html", self.folder / "result.json"
        done = subprocess.run([self.program, "run", "--quiet", "--report", page, "--json", result,
                               *words], capture_output=True, text=True, check=False)
        if "built without D3" in done.stderr:
            skip("built without D3 (Debian: node-d3)")
        self.assertEqual(done.returncode, 0, done.stderr)
        return page, json.loads(result.read_text())

    def test_a_reader_sees_pictures_and_clicks_through_them(self):
        page, result = self.run_it("--topo", "fattree:4", "--workload",
                                   "incast:senders=15,bytes=500kB,receiver=0")
        found = self.walked(page.read_text(), WALK)
        self.assertEqual(found["title"],
                         "uet_sim: incast:senders=15,bytes=500kB,receiver=0 on fattree:4")
        self.assertEqual(found["totals"]["flows done"], "15")
        self.assertEqual(found["totals"]["trimmed"], f"{result['totals']['trimmed']:,}")
        self.assertEqual(set(found["curves"]), set(PLOTS))
        for name, curves in found["curves"].items():
            self.assertTrue(curves, name)
        self.assertIn("median window", found["curves"]["window"])
        self.assertEqual(len(found["curves"]["depth"]), 6)
        self.assertTrue(found["drawn"])
        # 16 hosts, and as many links above the lower and above the middle switches; both ways.
        self.assertEqual(found["cells"], 6 * 16)
        self.assertEqual(len(found["kinds"]), 6)
        self.assertTrue(found["repainted"])
        self.assertIn("Click a link", found["empty"])
        self.assertEqual(found["chosen"], 1)
        self.assertEqual(sum(p["trimmed"] > 0 for p in result["ports"]), len(found["hot"]))
        self.assertTrue(found["link"].startswith(found["hot"][0]))
        self.assertRegex(found["link"], r"utilisation \d.*trimmed [1-9]")
        self.assertEqual(found["hidden"], [False, "false"])
        self.assertTrue(found["again"])
        self.assertRegex(found["read"], r"^[\d.k]+ us: ")

    def test_a_permutation_of_128_hosts_has_every_link(self):
        page, _ = self.run_it("--topo", "fattree:8", "--workload", "permutation:bytes=1MB")
        found = self.walked(page.read_text(), "found.cells = all('.cell').length;")
        self.assertEqual(found["cells"], 6 * 128)
        if PICTURE:
            self.chromium(f"--screenshot={pathlib.Path(PICTURE[0]).resolve()}", page.as_uri())
            self.assertTrue(pathlib.Path(PICTURE[0]).stat().st_size > 10_000)

    def test_nothing_of_a_run_becomes_part_of_the_page(self):
        name = "</script><script>document.title='name'<img src=x>"
        matrix = self.folder / "x"
        matrix.mkdir()
        parts = name.split("/")
        for part in parts[:-1]:
            matrix = matrix / part
            matrix.mkdir(exist_ok=True)
        matrix = matrix / parts[-1]
        matrix.write_text("Nodes 16\nConnections 1\n0->13 start 0 size 100000\n")
        page, _ = self.run_it("--topo", "fattree:4", "--matrix", matrix)
        found = self.walked(page.read_text(), """
found.title = document.title;
found.heading = document.getElementById("title").textContent;
found.elements = all("img, #title *").length;
""")
        self.assertTrue(found["title"].startswith("uet_sim: "))
        self.assertIn(name, found["heading"])
        self.assertEqual(found["elements"], 0)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    ReportPageTest.program = sys.argv[1]
    PICTURE = sys.argv[2:]
    unittest.main(argv=sys.argv[:1])
