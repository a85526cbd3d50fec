#!/usr/bin/env python3
"""Every comparison transport through the command line of uet_sim run, and what it refuses.

Usage: transports_test.py UET_SIM
"""
import json
import subprocess
import sys
import unittest

TRANSPORTS = ("roce", "dcqcn", "hpcc", "swift", "srd", "eqds")


def run(*options, workload="permutation:bytes=200kB"):
    words = [sys.argv[1], "run", "--quiet", "--topo", "fattree:4", "--workload", workload, *options]
    return subprocess.run(words, capture_output=True, text=True, check=False)


class Transports(unittest.TestCase):
    def test_each_has_all_results(self):
        for name in TRANSPORTS:
            with self.subTest(name):
                done = run("--cc", name, "--sample", "1us", "--json", "-")
                self.assertEqual(done.returncode, 0, done.stderr)
                result = json.loads(done.stdout)
                self.assertTrue(result["finished"])
                self.assertEqual(result["congestion"], name)
                self.assertEqual(result["totals"]["flows_done"], 16)
                self.assertEqual(result["counters"]["data_sent"],
                                 16 * 49 + result["totals"]["resent"])
                self.assertGreater(max(result["samples"]["windows"]["p50"]), 0)

    def test_help_has_a_line_for_each(self):
        text = run("--help").stdout
        for name in TRANSPORTS:
            self.assertIn(f" {name}: ", text)

    def test_constants_of_the_stack_change_the_run(self):
        incast = "incast:senders=8,bytes=500kB"
        for plain, changed in (("nscc", "nscc,target-us=1"), ("rccc", "rccc,rate=0.5"),
                               ("both", "both,first=0,window-max=0.5")):
            with self.subTest(changed):
                before, after = (json.loads(run("--cc", cc, "--json", "-", workload=incast).stdout)
                                 for cc in (plain, changed))
                self.assertEqual(after["congestion"], changed)
                self.assertTrue(after["finished"])
                self.assertNotEqual(before["digest"], after["digest"])
                self.assertNotEqual(before["end_us"], after["end_us"])

    def test_help_and_lists_of_constants_fit_a_terminal(self):
        self.assertEqual([x for x in run("--help").stdout.splitlines() if len(x) > 100], [])
        for name in ("nscc", "rccc", "both"):
            lines = run("--cc", name + ",").stderr.splitlines()
            self.assertGreater(len(lines), 8)
            self.assertLessEqual(max(map(len, lines)), 100, name)

    def test_constants_change_the_run(self):
        ends = [json.loads(run("--cc", cc, "--json", "-").stdout)["end_us"]
                for cc in ("swift", "swift,first-window=2")]
        self.assertLess(ends[0], ends[1])

    def test_what_excludes_each_other_is_refused(self):
        for words, text in (
                (["--cc", "hpcc", "--lb", "reps"], "leave out --lb reps"),
                (["--cc", "srd", "--lb", "reps"], "chooses its paths itself"),
                (["--cc", "roce", "--evs", "16"], "has no entropy values"),
                (["--cc", "swift", "--window-bytes", "9000"], "--cc fixed"),
                (["--cc", "swift,base=1"], "base-us=20  target delay"),
                (["--cc", "fixed,base-us=1"], "takes no constants"),
                (["--cc", "nscc,base-us=1"], "\n  gamma=0.8  (0 to 1) "),
                (["--cc", "rccc,gamma=1"], "\n  pull=4  (1 to 64) "),
                (["--cc", "both,mean=all"], "time or htsim or samples is needed"),
                (["--cc", "nscc,base-rtt-us=1e6"], "bandwidth-delay product"),
                (["--cc", "hope"], "not in {"),
                (["--cc", "roce", "--pfc-thresholds", "1:2"], "second is above the first")):
            with self.subTest(" ".join(words)):
                done = run(*words)
                self.assertEqual(done.returncode, 2)
                self.assertIn(text, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
