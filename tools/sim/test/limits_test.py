#!/usr/bin/env python3
"""What uet_sim run cannot take: absurd numbers in options and files. Each ends at once with a line
and exit status 2. It takes files of any name.

Usage: limits_test.py UET_SIM
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TREE = """Nodes {nodes}
Tiers 3
Podsize 16
Tier 0
Downlink_speed_Gbps {gbps}
Radix_Down 4
Radix_Up 4
Downlink_Latency_ns {latency}
Tier 1
Downlink_speed_Gbps 100
Radix_Down 4
Radix_Up 4
Downlink_Latency_ns 1000
Bundle 1
Tier 2
Downlink_speed_Gbps 100
Radix_Down {top}
Downlink_Latency_ns 1000
Bundle 1
"""
GOOD = {"nodes": 128, "gbps": 100, "latency": 1000, "top": 8}


class LimitsTest(unittest.TestCase):
    program = ""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def run_it(self, *words):
        return subprocess.run([self.program, "run", "--quiet", *map(str, words)],
                              capture_output=True, check=False, timeout=100)

    def assert_refused(self, *words):
        with self.subTest(words=words):
            done = self.run_it(*words)
            self.assertEqual((done.returncode, done.stdout), (2, b""), done.stderr)
            self.assertRegex(done.stderr, rb"\Auet_sim[^\n]+\n\Z")

    def file(self, name, octets):
        path = self.folder / name
        path.write_bytes(octets if isinstance(octets, bytes) else octets.encode())
        return path

    def test_wrong_values_of_options_are_refused(self):
        for option, values in {
                "--link-gbps": ("nan", "inf", "-1", "0", "1e7", "x"),
                "--queue-bdp": ("nan", "inf", "-1", "1e30", "0.001"),
                "--buffer-mb": ("nan", "inf", "-1", "1e30", "0.000001", "0.0000001"),
                "--until": ("nan", "-1s", "1e300s"), "--sample": ("nan", "-1us", "0us"),
                "--seed": ("-1", "99999999999999999999999", "1.5", "x"),
                "--cc": ("srd,paths=1e9", "srd,paths=0", "swift,base-us=1e300",
                         "tfc --window-bytes=1"),
                "--fail": ("leaf0:up0@1us+1us*4000000000", "leaf0:up0@1us+1000s*10000",
                           "leaf0:up0@1us+0us*3", "leaf0:up0@1us+1us*0"),
                "--mtu": ("0", "-1", "nan", "100000"), "--evs": ("0", "65537"),
                "--json": ("/nonexist/x", "/"), "--report": ("/nonexist/x", "/"),
                "--window-bytes": ("-1", "99999999999999999999", "5")}.items():
            for value in values:
                self.assert_refused("--topo", "fattree:4", "--workload", "permutation",
                                    *f"{option}={value}".split(" "))

    def test_the_advice_on_room_is_good(self):
        words = ["--topo", "fattree:4", "--workload", "permutation:bytes=100kB"]
        for option, values in {"--queue-bdp": ("0.000001", "1e-12", "0.0001", "0.02"),
                               "--buffer-mb": ("0.0000001", "1e-12", "0.001")}.items():
            for value in values:
                with self.subTest(option=option, value=value):
                    done = self.run_it(*words, option, value)
                    self.assertEqual(done.returncode, 2)
                    self.assertIn(b"; give at least ", done.stderr)
                    done = self.run_it(*words, option, done.stderr.split()[-1].decode())
                    self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_refused_run_leaves_files_alone(self):
        kept, new = self.file("kept.json", "kept"), self.folder / "new.json"
        for path in (kept, new):
            self.assert_refused("--topo", "fattree:4", "--workload", "permutation", "--json", path,
                                "--cc", "tfc", "--window-bytes", "1")
        self.assertEqual(kept.read_text(), "kept")
        self.assertFalse(new.exists())

    def test_a_file_for_two_results_is_refused(self):
        kept, new = self.file("kept", "kept"), self.folder / "new"
        (self.folder / "link").symlink_to(kept)
        for json_name, page in ((kept, kept), (new, new), (kept, self.folder / "link"),
                                (new, f"{self.folder}/./new")):
            self.assert_refused("--topo", "fattree:4", "--workload", "permutation", "--json",
                                json_name, "--report", page)
        self.assertEqual(kept.read_text(), "kept")
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"kept", "link"})

    def test_numbers_of_flows(self):
        for words in (["all-to-all"], ["ring-all-reduce"], ["experts"], ["all-gather"],
                      ["broadcast", "--chunks", "1000"], ["tree-all-reduce", "--chunks", "1000"]):
            self.assert_refused_at_once("traffic", *words, "--hosts", "1000000")
        self.assert_refused_at_once("traffic", "poisson", "--time", "1week")

    def assert_refused_at_once(self, *words):
        with self.subTest(words=words):
            done = subprocess.run([self.program, *words], capture_output=True, check=False,
                                  timeout=100)
            self.assertEqual((done.returncode, done.stdout), (2, b""), done.stderr)
            self.assertRegex(done.stderr,
                             rb"\Auet_sim[^\n]+ flows; at most 16777216 are possible; [^\n]+\n\Z")

    def test_names_of_topologies(self):
        for topology in ("fattree:0", "fattree:-4", "fattree:4294967296", "fattree:100000",
                         "leafspine:4000000000x4000000000x4000000000",
                         "leafspine:65536x65536x65536", "leafspine:1000000x1x1",
                         "fattree:4,gbps=nan", "fattree:4,gbps=inf", "fattree:4,latency=-1us",
                         "fattree:4,latency=1s,gbps=10",
                         "fattree:4,latency=900000s,switch=900000s,gbps=0.001",
                         "fattree:4,latency=1e300s", "rail:1000000x1000000",
                         "railonly:65536x65536", "rail:8x8,spines=4000000000",
                         "rail:1x524288,spines=65536", "fattree:128,planes=16",
                         "leafspine:512x1024x1024,planes=32",
                         "fattree:4,planes=4000000000", "leafspine:4x8x8,oversub=4",
                         "rail:4x4,planes=2", "fattree:4,spines=1", "/"):
            self.assert_refused("--topo", topology, "--workload", "permutation")

    def test_files_of_topologies(self):
        good = self.file("good.topo", TREE.format(**GOOD))
        done = self.run_it("--topo", good, "--workload", "permutation:bytes=4kB")
        self.assertEqual(done.returncode, 0, done.stderr)
        for wrong in ({"nodes": 2**31}, {"nodes": 2**32}, {"nodes": -128}, {"nodes": "nan"},
                      {"nodes": 2**20, "top": 2**16}, {"gbps": "nan"}, {"gbps": -1}, {"gbps": 0},
                      {"latency": -5}, {"latency": "inf"}, {"top": 2**31}):
            text = TREE.format(**{**GOOD, **wrong})
            self.assert_refused("--topo", self.file("bad.topo", text), "--workload", "permutation")
        for octets in (b"", b"\xff\xfe\0Nodes 128\n", b"Nodes 128\nNodes 128\n",
                       b"\0" * 10000):
            self.assert_refused("--topo", self.file("bad.topo", octets), "--workload",
                                "permutation")

    def test_matrices(self):
        head = "Nodes 16\nConnections {}\n"
        for text in (head.format(2**32 - 1) + "0->1 start 0 size 2\n",
                     head.format(1) + "0->1 start 0 size 99999999999999999999999\n",
                     head.format(1) + "0->1 start 0 size -1\n",
                     head.format(1) + "0->1 start 0 size nan\n",
                     head.format(1) + "0->1 start -1 size 2\n",
                     head.format(1) + "0->99 start 0 size 2\n",
                     head.format(2) + "0->1 id 1 start 0 size 2\n0->2 id 1 start 0 size 2\n",
                     head.format(1) + f"0->1 start 0 size {2**60}\n",
                     f"Nodes {2**31}\nConnections 1\n0->1 start 0 size 2\n", "\0\xff"):
            self.assert_refused("--topo", "fattree:4", "--matrix", self.file("bad.cm", text))
        self.assert_refused("--topo", "fattree:4", "--matrix", "/")

    def test_a_run_that_is_cut_off_leaves_no_result(self):
        result, part = self.folder / "x.json", self.folder / "x.json.part"
        command = [self.program, "run", "--quiet", "--topo", "fattree:8", "--workload",
                   "permutation:bytes=1GB", "--json", result]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as run:
            until = time.monotonic() + 60
            while not part.exists() and time.monotonic() < until:
                time.sleep(0.02)
            run.terminate()
        self.assertEqual(run.returncode, -signal.SIGTERM)
        self.assertTrue(part.exists())
        self.assertFalse(result.exists())
        done = self.run_it("--topo", "fattree:4", "--workload", "permutation:bytes=4kB", "--json",
                           result)  # that of a run which was cut off is in no one's way
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(result.read_text())["totals"]["flows_done"], 16)
        self.assertFalse(part.exists())

    def test_a_result_has_names_of_any_octets(self):
        matrix = self.file(os.fsdecode(b"m\xff.cm"),
                           "Nodes 16\nConnections 1\n0->1 start 0 size 2\n")
        done = self.run_it("--topo", "fattree:4", "--matrix", matrix, "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(json.loads(done.stdout)["matrix"].endswith("m\ufffd.cm"))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    LimitsTest.program = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
