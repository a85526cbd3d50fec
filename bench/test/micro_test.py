#!/usr/bin/env python3
"""uet_micro runs one case of each subject, and each of them is in its JSON.

Usage: micro_test.py PROGRAM

How fast it is, is not checked.
"""
import json
import subprocess
import sys
import unittest

PROGRAM = ""
CASES = {
    "codecs": "codecs/stream/compared",
    "matching": "matching/exact/any_order/10",
    "timers": "timers/expire/10",
    "windows": "windows/tx/gaps/64",
}


def run(*options):
    out = subprocess.run([PROGRAM, *options], capture_output=True, text=True, timeout=100,
                         check=False)
    if out.returncode != 0:
        raise AssertionError(f"exit status {out.returncode}\n{out.stderr}")
    return out.stdout


class MicroTest(unittest.TestCase):
    def test_the_subjects_are_those_of_the_files(self):
        names = run("--benchmark_list_tests").split()
        self.assertEqual({name.split("/")[0] for name in names}, set(CASES))

    def test_a_case_of_each_subject_runs(self):
        out = run("--benchmark_min_time=0.001", "--benchmark_format=json",
                  f"--benchmark_filter=^({'|'.join(CASES.values())})$")
        ran = json.loads(out)["benchmarks"]
        cases = [b for b in ran if b["run_type"] == "iteration"]
        self.assertEqual(sorted(b["name"] for b in cases), sorted(CASES.values()))
        for b in cases:
            self.assertGreater(b["iterations"], 0, b["name"])


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
