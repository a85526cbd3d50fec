#!/usr/bin/env python3
"""uet_sim compare as its users call it, on results written by hand and on those of two runs.

Usage: compare_test.py PATH_OF_UET_SIM
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
TOTALS = {"fct_mean_us": 100, "fct_p50_us": 90, "fct_p99_us": 200, "fct_max_us": 250, "trimmed": 10,
          "dropped_no_room": 1, "dropped_link_down": 2, "dropped_no_way": 3, "resent": 10,
          "flows_failed": 0}


class CompareTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def result(self, name, finished=True, **changes):
        path = self.folder / name
        path.write_text(json.dumps({"topology": "fattree:4", "workload": "ring", "seed": 7,
                                    "finished": finished, "totals": {**TOTALS, **changes}}))
        return path

    def compare(self, *words):
        return subprocess.run([PROGRAM, "compare", *map(str, words)], capture_output=True,
                              text=True, check=False, timeout=60)

    def rows(self, *words):
        done = self.compare(*words, "--json")
        out = json.loads(done.stdout)
        self.assertEqual(out["worse"], done.returncode == 1)
        return {row["name"]: row for row in out["rows"]}

    def test_the_same_is_no_worse(self):
        a = self.result("a")
        done = self.compare(a, a, "--limit", 0)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("fattree:4, ring, seed 7", done.stdout)
        self.assertNotIn("worse", done.stdout)

    def test_a_limit_is_a_number(self):
        a = self.result("a")
        for limit in ("nan", "inf", "-1", "much"):
            done = self.compare(a, a, "--limit", limit)
            self.assertEqual(done.returncode, 2, limit)
            self.assertIn("--limit", done.stderr)

    def test_times_of_a_run_without_an_ended_flow_are_not_judged(self):
        none = {name: 0 for name in TOTALS if name.startswith("fct_")}
        a = self.result("a", finished=False, flows_done=0, **none)
        b = self.result("b", flows_done=9)
        done = self.compare(a, b)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("A has not finished", done.stdout)
        self.assertIsNone(self.rows(a, b)["FCT mean, us"]["percent"])

    def test_texts_are_no_numbers(self):
        a = self.result("a", trimmed="many")
        done = self.compare(a, a)
        self.assertEqual(done.returncode, 2)
        self.assertIn("trimmed is not a number", done.stderr)

    def test_lost_output_is_an_error(self):
        a = self.result("a")
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROGRAM, "compare", a, a], stdout=full, stderr=subprocess.PIPE,
                                  text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("standard output", done.stderr)

    def differences(self, change):
        """Between a result and one with some members changed: as text, and by JSON."""
        base = json.loads(self.result("a").read_text())
        base["flows"] = [{"from": 0, "to": 1, "bytes": 9}, {"from": 2, "to": 3, "bytes": 9}]
        for name, members in (("a", {}), ("b", change)):
            (self.folder / name).write_text(json.dumps({**base, **members}))
        words = (self.folder / "a", self.folder / "b")
        text, told = self.compare(*words), json.loads(self.compare(*words, "--json").stdout)
        self.assertEqual((text.returncode, told["worse"]), (0, False))
        is_told = "A and B have other traffic" in text.stdout
        # One traffic may have two names, and another seed draws other flows.
        has_other_flows = any(d["name"] == "flows" for d in told["differences"])
        is_other = has_other_flows and ("seed" not in change or "workload" in change)
        self.assertEqual(is_told, is_other)
        return text.stdout, [(d["name"], d["a"], d["b"]) for d in told["differences"]]

    def test_other_questions_are_named(self):
        self.assertEqual(self.differences({"seed": 8, "congestion": "rccc"})[1], [])
        text, found = self.differences({"topology": "fattree:8"})
        self.assertEqual(found, [("topology", "fattree:4", "fattree:8")])
        self.assertIn("\ntopology differs: A fattree:4, B fattree:8\n", text)
        text, found = self.differences({"workload": "", "matrix": "x.cm"})
        self.assertEqual(found, [("matrix", "none", "x.cm"), ("workload", "ring", "none")])
        self.assertEqual(self.differences({"plan": "p.toml"})[1], [("plan", "none", "p.toml")])
        one = {"from": 0, "to": 1, "bytes": 9}
        text, found = self.differences({"flows": [one]})
        self.assertEqual(found, [("flows", "2", "1")])
        self.assertIn("\nflows differ: A 2, B 1\n", text)
        for member in ("from", "to", "bytes", "start_us"):
            other = {"from": 2, "to": 3, "bytes": 9, member: 5}
            self.assertEqual(self.differences({"flows": [one, other]})[1],
                             [("flows", "2", "2 with other hosts, octets or starts")])
        text, found = self.differences({"flows": [one], "seed": 8})
        self.assertEqual(found, [("flows", "2", "1")])
        self.differences({"flows": [one], "seed": 8, "workload": "incast"})
        same = [one, {"from": 2, "to": 3, "bytes": 9}]
        self.assertEqual(self.differences({"flows": same})[1], [])

    def test_each_measure_counts_alone(self):
        a = self.result("a")
        for key, name in (("fct_mean_us", "FCT mean, us"), ("fct_p50_us", "FCT p50, us"),
                          ("fct_p99_us", "FCT p99, us"), ("fct_max_us", "FCT max, us"),
                          ("trimmed", "trimmed"), ("resent", "resent")):
            rows = self.rows(a, self.result("b", **{key: TOTALS[key] * 1.1}))
            self.assertEqual([row["name"] for row in rows.values() if row["worse"]], [name])
            self.assertAlmostEqual(rows[name]["percent"], 10)

    def test_drops_of_all_reasons_are_one_number(self):
        rows = self.rows(self.result("a"), self.result("b", dropped_no_way=6))
        self.assertEqual((rows["dropped"]["a"], rows["dropped"]["b"]), (6, 9))
        self.assertTrue(rows["dropped"]["worse"])

    def test_the_limit_decides(self):
        a, b = self.result("a"), self.result("b", fct_p99_us=212)
        self.assertEqual(self.compare(a, b, "--limit", 6.1).returncode, 0)
        self.assertEqual(self.compare(a, b, "--limit", 5.9).returncode, 1)
        self.assertEqual(self.compare(b, a, "--limit", 0).returncode, 0)
        self.assertEqual(self.compare(a, b).returncode, 1)

    def test_more_than_none_is_worse_than_any_limit(self):
        done = self.compare(self.result("a"), self.result("b", flows_failed=1), "--limit", 1000)
        self.assertEqual(done.returncode, 1)
        self.assertIn("from 0", done.stdout)

    def test_a_run_that_has_not_finished_is_worse(self):
        self.assertEqual(self.compare(self.result("a"), self.result("b", False)).returncode, 1)

    def test_results_of_runs(self):
        paths = []
        for balancing in ("mixed", "single"):
            paths.append(self.folder / balancing)
            subprocess.run([PROGRAM, "run", "--quiet", "--topo", "fattree:4", "--workload",
                            "permutation:bytes=500kB", "--lb", balancing, "--json", paths[-1]],
                           check=True, stdout=subprocess.DEVNULL)
        rows = self.rows(*paths)
        self.assertGreater(rows["FCT max, us"]["percent"], 20)

    def test_what_is_no_result_is_refused(self):
        other = self.folder / "other"
        for text in ("", "[]", "{}", '{"totals": {}}', '{"totals": 3}',
                     '{"totals": {"fct_max_us": "x"}}', '{"totals": {"fct_max_us": 1}}'):
            other.write_text(text)
            done = self.compare(self.result("a"), other)
            self.assertEqual(done.returncode, 2, text)
            self.assertEqual(done.stdout, "")
            self.assertEqual(done.stderr.count("\n"), 1)
        for path, says in ((self.folder / "none", "cannot be opened"), ("/", "must be a file")):
            done = self.compare(self.result("a"), path)
            self.assertEqual(done.returncode, 2, path)
            self.assertIn(says, done.stderr)
        self.assertEqual(self.compare(self.result("a")).returncode, 2)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    PROGRAM = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
