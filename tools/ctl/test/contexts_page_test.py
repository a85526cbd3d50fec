#!/usr/bin/env python3
"""Looks at the page of `uet_ctl plot` in headless Chromium. The recording is written by hand, and
so are the numbers that the page has to show.

Usage: contexts_page_test.py UET_CTL [RECORDING PICTURE.png]   (exit 77: Chromium or D3 is missing)

PICTURE.png: a picture of the page of RECORDING is kept there.
"""
import json
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "page" / "test"))
from pages import PageTest, skip  # noqa: E402

PICTURE = []
HOSTILE = "</script><script>document.title='name'</script><img src=x>"
COLUMNS = ["path", "window_bytes", "inflight_bytes", "waiting_bytes", "rtt_ns", "base_rtt_ns",
           "acks", "marked", "evs", "evs_resting", "evs_excluded", "credit_bytes"]
SAME = {"pid": 4711, "domain": "eth0", "address": "10.0.0.1", "tc": 0}
NSCC = {"program": "a.out", "kind": "sprayed", "lane": 0, "algorithm": "nscc"}
PATHS = [
    {**NSCC, "peer": "10.0.0.9 4793"},
    {"program": HOSTILE, "peer": HOSTILE, "kind": "single", "lane": 3, "algorithm": "aimd"},
    {**NSCC, "peer": "10.0.0.8 4793", "algorithm": "rccc"},
]
# Context 0 is marked once in four ACKs, then in two, then not at all; context 1 is away for a
# sample; context 2 has no window.
SAMPLES = [
    [[0, 100000, 50000, 7000, 12000, 10000, 0, 0, 16, 0, 0, 0],
     [1, 4000, 10, 0, 0, 0, 0, 0, 1, 0, 0, 0],
     [2, 0, 900, 0, 20000, 0, 0, 0, 16, 0, 0, 64000]],
    [[0, 80000, 80000, 9000, 14000, 10000, 100, 25, 16, 4, 0, 0],
     [1, 5000, 20, 0, 0, 0, 0, 0, 1, 0, 0, 0]],
    [[0, 60000, 60000, 0, 22000, 10000, 200, 75, 16, 3, 2, 0]],
    [[0, 60000, 0, 0, 16000, 10000, 400, 75, 16, 0, 1, 0],
     [1, 6000, 20, 0, 0, 0, 0, 0, 1, 0, 0, 0]],
    [[1, 7000, 20, 0, 0, 0, 0, 0, 1, 0, 0, 0]],
]

WALK = """
const curves = (id) => Object.fromEntries(all(`#${id} .curve`)
  .map((c) => [c.getAttribute("data-name"), c.getAttribute("d")]));
const seen = () => Object.fromEntries(["window", "rtt", "ecn", "evs", "acks", "all"]
  .map((id) => [id, curves(id)]));
const totals = () => Object.fromEntries(all("#totals li").map((li) =>
  [li.firstChild.textContent, li.lastChild.textContent]));
found.title = document.title;
found.about = document.getElementById("about").textContent;
found.elements = all("img, #path option *, td button *").length;
found.first = [seen(), totals()];
found.rows = all("#paths tr").map((tr) => [...tr.children].map((td) => td.textContent));
found.options = all("#path option").map((o) => o.textContent);
const waiting = all("#window .legend button").find((b) => b.textContent === "waiting");
found.hidden = waiting.getAttribute("aria-pressed");
waiting.click();
found.shown = "waiting" in curves("window");
const svg = document.querySelector("#ecn svg");
const box = svg.getBoundingClientRect();
svg.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + box.width * .75,
  clientY: box.top + 20, bubbles: true }));
found.read = document.querySelector("#ecn .read").textContent;
const choice = document.getElementById("path");
choice.value = "1";
choice.dispatchEvent(new Event("change", { bubbles: true }));
found.second = [seen(), totals()];
found.chosen = all("#paths tr").map((tr) => tr.classList.contains("chosen"));
all("#paths button")[2].click();
found.third = [seen(), totals(), choice.value];
"""


class ContextsPageTest(PageTest):
    program = ""

    def plot(self, recording):
        page = self.folder / "page.html"
        done = subprocess.run([self.program, "plot", recording, "--out", page], capture_output=True,
                              text=True, check=False)
        if "built without D3" in done.stderr:
            skip("built without D3 (Debian: node-d3)")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return page

    def recording(self, end=True):
        lines = [{"uet_ctl_record": 1, "began_unix_ms": 10000, "interval_ms": 1000,
                  "columns": COLUMNS}]
        lines += [{"path": i, **SAME, **path} for i, path in enumerate(PATHS)]
        lines += [{"t_us": i * 1000000, "rows": rows} for i, rows in enumerate(SAMPLES)]
        if end:
            lines.append({"end": "time", "samples": 5, "left_out": 1234})
        path = self.folder / "some.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path

    def test_a_reader_sees_each_context(self):
        found = self.walked(self.plot(self.recording()).read_text(), WALK)
        self.assertEqual(found["title"], "uet_ctl: some.jsonl")
        self.assertEqual(found["about"], "5 samples of 3 contexts, one each 1,000 ms, since "
                         "1970-01-01T00:00:10.000Z; 1,234 contexts were left out")
        curves, totals = found["first"]
        self.assertEqual({name: sorted(each) for name, each in curves.items()}, {
            "window": ["in flight", "window"], "rtt": ["RTT", "base RTT"], "ecn": ["ECN share"],
            "evs": ["excluded", "in use", "resting"], "acks": ["ACKs"],
            "all": sorted(found["options"])})
        for each in curves.values():
            for name, drawn in each.items():
                self.assertNotIn("NaN", drawn, name)
        # 75 marks in 400 ACKs; (12 + 14 + 22 + 16) / 4 us.
        self.assertEqual(totals, {
            "mean window": "75,000 octets", "most in flight": "80,000 octets", "mean RTT": "16 us",
            "base RTT": "10 us", "ECN share": "18.8%", "most excluded EVs": "2"})
        self.assertEqual((found["hidden"], found["shown"]), ("false", True))
        self.assertRegex(found["read"], r"^2\.\d+ s: ECN share 0\.5$")

        self.assertEqual(found["options"][0], "10.0.0.9 4793, class 0, sprayed, nscc")
        self.assertEqual([row[1:] for row in found["rows"]], [
            ["75,000", "80,000", "16", "10", "18.8", "2"], ["5,500", "20", "-", "-", "-", "0"],
            ["-", "900", "20", "-", "-", "0"]])
        curves, totals = found["second"]
        self.assertEqual(curves["window"]["window"].count("M"), 2, "a gap where it was away")
        self.assertEqual(curves["rtt"]["RTT"], "", "no round trip was seen")
        self.assertEqual((totals["mean RTT"], totals["ECN share"]), ("- us", "-"))
        self.assertEqual(found["chosen"], [False, True, False])
        curves, totals, chosen = found["third"]
        self.assertEqual(chosen, "2")
        self.assertIn("credit", curves["window"])
        self.assertEqual(curves["window"]["window"], "", "credit alone decides")

    def test_nothing_of_a_recording_becomes_part_of_the_page(self):
        found = self.walked(self.plot(self.recording(end=False)).read_text(), WALK)
        self.assertEqual(found["title"], "uet_ctl: some.jsonl")
        self.assertEqual(found["elements"], 0)
        self.assertEqual(found["options"][1], HOSTILE + ", class 0, lane 3, aimd")
        self.assertTrue(found["about"].endswith("; cut off"))

    def test_a_picture_is_kept(self):
        if not PICTURE:
            self.skipTest("none is asked for")
        page = self.plot(pathlib.Path(PICTURE[0]).resolve())
        self.chromium(f"--screenshot={pathlib.Path(PICTURE[1]).resolve()}", page.as_uri())


if __name__ == "__main__":
    if len(sys.argv) not in (2, 4):
        sys.exit(__doc__)
    ContextsPageTest.program = sys.argv[1]
    PICTURE = sys.argv[2:]
    unittest.main(argv=sys.argv[:1])
