#!/usr/bin/env python3
"""uet_sim run as its users call it: which rate counts, what it prints and what it writes.

Usage: run_test.py UET_SIM
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PLAN = """
[model]
parameters = "8M"
layers = 4
hidden = 1000
sequence = 500
[parallelism]
dp = 2
[cluster]
gpus_per_node = 1
link = "400Gbps"
"""


class RunTest(unittest.TestCase):
    program = ""

    def run_it(self, *words):
        return subprocess.run([self.program, "run", *words], capture_output=True, text=True,
                              check=False, timeout=300)

    def result(self, *words, status=0):
        done = self.run_it("--quiet", "--json", "-", *words)
        self.assertEqual(done.returncode, status, done.stderr)
        return json.loads(done.stdout)

    def test_the_load_is_a_share_of_the_rate_of_the_topology(self):
        load = ["--workload", "poisson:load=50%,time=100us", "--until", "150us"]
        flows = [len(self.result("--topo", f"leafspine:4x8x8{rate}", *load, *option,
                                 status=1)["flows"])
                 for rate, option in (("", []), (",gbps=400", []), ("", ["--link-gbps", "400"]))]
        self.assertEqual(flows[1], flows[2])
        self.assertGreater(flows[1], 2 * flows[0])

    def test_a_plan_with_another_rate_is_told(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        path = pathlib.Path(holder.name) / "plan.toml"
        path.write_text(PLAN)
        told = [self.run_it("--quiet", "--topo", f"leafspine:2x1x1,gbps={gbps}", "--plan", path,
                            "--until", "1us").stderr for gbps in (100, 400)]
        self.assertIn("links of 400 Gbit/s, the topology of 100", told[0])
        self.assertEqual(told[1], "")

    def test_what_is_given_twice_or_contradicts_itself_is_refused(self):
        incast = ["--workload", "incast:senders=3,bytes=1MB"]
        for words, told in (
                (["--cc", "nscc,target-us=3,target-us=4", *incast], "target-us is given twice"),
                (["--cc", "swift,base-us=3,base-us=4", *incast], "base-us is given twice"),
                (["--workload", "incast:senders=3,senders=4"], "senders is given twice"),
                (["--cc", "dcqcn,mark-low-us=50,mark-high-us=1", *incast], "mark-high-us")):
            done = self.run_it("--quiet", "--topo", "fattree:4", *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(told, done.stderr)

    def test_a_run_without_an_ended_flow_has_no_completion_times(self):
        done = self.run_it("--topo", "fattree:4", "--workload", "ring:bytes=1MB", "--until", "1us")
        self.assertIn("0 done", done.stdout)
        self.assertNotIn("completion us", done.stdout)

    def test_digest_and_events(self):
        got = self.result("--topo", "leafspine:4x4x4", "--workload", "permutation:bytes=1MB",
                          "--fail", "leaf0:up1=0.5@20us+20us", "--reroute-after", "5us")
        self.assertRegex(got["digest"], r"\A[0-9a-f]{16}\Z")
        self.assertEqual(got["events"], [
            {"event": "link", "at_us": 20, "link": "leaf0:up1", "share": 0.5},
            {"event": "reroute", "at_us": 25},
            {"event": "link", "at_us": 40, "link": "leaf0:up1", "share": 1},
            {"event": "reroute", "at_us": 45}])
        paused = self.result("--topo", "fattree:4", "--workload", "incast:bytes=500kB", "--pfc")
        self.assertEqual(paused["events"],
                         [{"event": "pauses", "count": paused["totals"]["pauses"]}])

    def test_thresholds_of_marks(self):
        """The BDP of a fattree:4 is 178,880 octets: 0.2 and 0.8 are 9 and 35 packets of 4,160."""
        words = ["--topo", "fattree:4", "--workload", "incast:senders=8,bytes=500kB"]
        plain, same = (self.result(*words, *ecn) for ecn in ([], ["--ecn", "37440B:145.6kB"]))
        self.assertEqual(plain["ecn_bytes"], [37440, 145600])
        self.assertEqual(same["digest"], plain["digest"])
        marks = {}
        for ecn, octets in (("0.5:0.5", [89440, 89440]), ("0:0", [0, 0]), ("9:20kB", None),
                            ("0.1:40kB", [17888, 40000]), ("1e9:1e9", [2 ** 32 - 1] * 2)):
            if octets is None:
                self.assertEqual(self.run_it(*words, "--ecn", ecn).returncode, 2)
                continue
            got = self.result(*words, "--ecn", ecn)
            self.assertEqual(got["ecn_bytes"], octets)
            marks[ecn] = got["totals"]["marked"]
        self.assertEqual(marks["1e9:1e9"], 0)
        self.assertGreater(marks["0:0"], marks["0.1:40kB"])
        self.assertGreater(marks["0.1:40kB"], plain["totals"]["marked"])
        self.assertGreater(plain["totals"]["marked"], 0)

    def test_wrong_thresholds_of_marks_are_refused(self):
        for words, text in ((["0.8:0.2"], "the first is above the second"),
                            (["0.2"], "write two thresholds"), (["0.2:"], "write two thresholds"),
                            (["-1:1"], "write two thresholds"), (["a:b"], "write two thresholds"),
                            (["nan:1"], "write two thresholds"),
                            (["0.2:0.8", "--cc", "swift"], "swift does not use marks"),
                            (["0.2:0.8", "--cc", "dcqcn,gain=0.1"], "mark-low-us=")):
            done = self.run_it("--topo", "fattree:4", "--workload", "permutation", "--ecn", *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertRegex(done.stderr, r"\Auet_sim: --ecn[^\n]*\n\Z", words)
            self.assertIn(text, done.stderr)
        self.assertEqual(self.run_it("--topo", "fattree:4", "--workload", "permutation:bytes=50kB",
                                     "--cc", "eqds", "--ecn", "0.2:0.8").returncode, 0)

    def test_a_run_that_is_cut_off_ends_at_its_time(self):
        words = ["--topo", "fattree:4", "--workload", "permutation:bytes=20MB", "--until", "100us"]
        self.assertEqual(self.result(*words, status=1)["end_us"], 100)
        self.assertIn("\n100.000 us simulated", self.run_it("--quiet", *words).stdout)

    def test_a_failed_flow_is_not_done(self):
        got = self.result("--topo", "leafspine:2x2x2", "--workload", "ring:bytes=50kB",
                          "--fail", "host0:up0@0us", status=1)
        totals = got["totals"]
        self.assertGreater(totals["flows_failed"], 0)
        ends = sum(flow["finish_us"] is not None for flow in got["flows"])
        self.assertEqual(totals["flows_done"], ends - totals["flows_failed"])
        self.assertEqual(totals["bytes"], 50_000 * totals["flows_done"])

    def test_the_utilisation_is_that_of_links_to_the_fabric(self):
        got = self.result("--topo", "rail:4x2", "--workload", "ring:stride=2,bytes=1MB")
        sent = sum(port["bytes"] for port in got["ports"]
                   if port["from"].startswith("host") and port["to"].startswith("rail"))
        self.assertAlmostEqual(got["totals"]["utilisation"],
                               sent / (8 * got["end_us"] * 100e3 / 8), places=6)

    # The only flow of the run has begun, and none has ended.
    def test_the_time_that_is_left_is_told_before_a_flow_ends(self):
        with subprocess.Popen([self.program, "run", "--topo", "leafspine:1x2x1", "--workload",
                               "ring:bytes=100GB"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True) as process:
            line = process.stderr.readline()
            process.kill()
        self.assertRegex(line, r" 0 of 2 flows done, about \d+ s left\n")

    def test_a_page_goes_to_standard_output(self):
        done = self.run_it("--quiet", "--topo", "fattree:4", "--workload",
                           "permutation:bytes=100kB", "--report", "-")
        if "built without D3" in done.stderr:
            self.skipTest("built without D3 (Debian: node-d3)")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith("<!"), done.stdout[:100])
        self.assertIn("flows 16 done", done.stderr)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    RunTest.program = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
