#!/usr/bin/env python3
"""uet_conform run --json: cases whose texts are no UTF-8 are in the report too.

Usage: report_test.py UET_CONFORM
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest


class ReportTest(unittest.TestCase):
    program = ""

    def test_a_report_of_invalid_text_is_valid_json(self):
        with tempfile.TemporaryDirectory() as folder:
            case = pathlib.Path(folder, os.fsdecode(b"n\xff.txt"))
            case.write_bytes(b"title T\xff\nno_such_step\n")
            report = pathlib.Path(folder, "report.json")
            done = subprocess.run([self.program, "run", case, "--json", report],
                                  capture_output=True, check=False, timeout=60)
            self.assertEqual(done.returncode, 1, done.stderr)
            written = json.loads(report.read_bytes())["cases"]
        self.assertEqual([one["result"] for one in written], ["broken"])
        self.assertTrue(written[0]["file"].endswith("/n\ufffd.txt"))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    ReportTest.program = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
