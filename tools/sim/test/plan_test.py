#!/usr/bin/env python3
"""uet_sim plan and uet_sim traffic as their users call them; expected values are counted by hand.

Usage: plan_test.py PATH_OF_UET_SIM
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""

# 8 ranks on 4 nodes. An activation: 2 bytes * 500 * 1,000 = 1 MB; 2e6 parameters for each rank.
TINY = """
[model]
parameters = "8M"
layers = 4
hidden = 1000
sequence = 500
[parallelism]
dp = 2
tp = 2
pp = 2
micro_batches = 3
[cluster]
gpus_per_node = 2
gpu = "1TFLOPS"
efficiency = "50%"
link = "400Gbps"
"""


def run(*words):
    return subprocess.run([PROGRAM, *map(str, words)], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=60, check=False)


class Case(unittest.TestCase):
    def good(self, *words):
        out = run(*words)
        self.assertEqual((out.returncode, out.stderr), (0, ""), words)
        return out.stdout

    def plan(self, *words):
        return json.loads(self.good("plan", "--json", *words))

    def misuse(self, says, *words):
        out = run(*words)
        self.assertEqual((out.returncode, out.stdout), (2, ""), words)
        self.assertRegex(out.stderr, r"\A[^\n]+\n\Z")
        self.assertIn(says, out.stderr)


class PlanTest(Case):
    def test_the_smallest_and_the_largest_work(self):
        self.assertRegex(self.good("plan", "--work", "430", "--time", "1week"),
                         r"work +430 FLOP, given\n(.*\n)+GPUs +1\n")
        most = self.good("plan", "--work", "1e30ZFLOP", "--time", "1week")
        self.assertRegex(most, r"GPUs +[1-9]\d{0,2}(,\d{3}){8,}\n")
        self.misuse("too large", "plan", "--work", "1e300YFLOP")
        self.misuse("--work", "plan", "--work", "0")
        self.misuse("--gpus is a whole number", "plan", "--work", "430ZFLOP", "--gpus", "3.5")

    # 624e12 * 0.3 * 604,800 s = 1.13219e20 FLOP for a GPU in a week.
    def test_gpus_for_work_in_a_week(self):
        week = ("--gpu", "624TFLOPS", "--utilisation", "30%", "--time", "1week")
        self.assertEqual(self.plan("--work", "430ZFLOP", *week)["sizing"]["gpus"], 3798)
        self.assertEqual(self.plan("--work", "600ZFLOP", *week)["sizing"]["gpus"], 5300)
        text = self.good("plan", "--work", "430ZFLOP", *week)
        self.assertIn("430 ZFLOP, given", text)
        self.assertRegex(text, r"GPUs +3,798\n")

    # 6 * 70e9 * 1e12 = 4.2e23; 1,000 GPUs of 1,000 TFLOPS at 42 %: 1e6 s. 8 with recomputation.
    def test_work_is_estimated_and_said_how(self):
        words = ("--parameters", "70B", "--tokens", "1T", "--gpu", "1PFLOPS", "--utilisation",
                 "0.42", "--gpus", "1000")
        sizing = self.plan(*words)["sizing"]
        self.assertAlmostEqual(sizing["flop"], 4.2e23, delta=1e12)
        self.assertAlmostEqual(sizing["seconds"], 1e6, delta=1)
        self.assertIn("estimated as 6 x 70B parameters x 1T tokens", self.good("plan", *words))
        full = self.plan(*words, "--recompute", "full")["sizing"]
        self.assertAlmostEqual(full["flop"], 5.6e23, delta=1e12)
        self.assertIn("8 x 70B", full["work_from"])

    # A ring of 8 at 400 Gb/s without latency: 2 * 7/8 * 1e9 * 8 / 400e9 = 35 ms. In 2 nodes of 4
    # with 4,000 Gb/s: 2 * 3/4 of it there, 3 ms, and a quarter of it on each rail: 2 * 1/2 * 0.25e9
    # bytes, 5 ms.
    def test_time_of_an_all_reduce(self):
        answer = self.plan("--all-reduce", "1GB", "--ranks", 8, "--link", "400Gbps",
                           "--link-latency", "0s", "--scale-up", "4000Gbps", "--scale-up-latency",
                           "0s", "--gpus-per-node", 4)["all_reduce"]
        self.assertAlmostEqual(answer["ring_seconds"], 35e-3)
        self.assertAlmostEqual(answer["halving_doubling_seconds"], 35e-3)
        self.assertAlmostEqual(answer["two_levels_seconds"], 8e-3)

    # Counted in sim/training/test/step_cost_test.cpp.
    def test_a_file_and_options_that_override_it(self):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(TINY)
            file.flush()
            step = self.plan(file.name)["step"]
            self.assertEqual(step["ranks"], 8)
            self.assertEqual(step["bytes_of_rank"]["TP"]["scale_up"], 24e6)
            self.assertEqual(step["bytes_of_rank"]["PP"]["same_rail"], 1.5e6)
            self.assertEqual(step["bytes_of_rank"]["DP"]["same_rail"], 4e6)
            self.assertEqual(step["rail_share"], 1)
            self.assertEqual(step["memory_bytes"]["optimizer"], 24e6)
            self.assertAlmostEqual(step["seconds"]["computing"], 36e-3)
            self.assertEqual(self.plan(file.name, "--dp", 1)["step"]["ranks"], 4)
            text = self.good("plan", file.name)
            self.assertIn("8 on 4 nodes: DP 2 x FSDP 1 x TP 2 x PP 2; EP 1", text)
            self.assertIn("100.0 % stay on their rail", text)
            self.assertNotIn("FSDP 0", text.split("step  ")[1])  # parts that there are not
            self.misuse("pp = 3 does not divide layers = 4", "plan", file.name, "--pp", 3)

    def test_errors_name_the_option_or_the_line(self):
        self.misuse("what to plan?", "plan")
        self.misuse("--work: 'much' is not work, such as 430ZFLOP", "plan", "--work", "much")
        self.misuse("--dp: '1.5' is not a whole number", "plan", "--dp", "1.5")
        self.misuse("--tokens needs --parameters", "plan", "--tokens", "1T")
        for words, what in ((["--tokens", "1T"], "--tokens"),
                            (["--parameters", "70B"], "--parameters"),
                            (["--tokens", "1T", "--parameters", "70B"],
                             "--parameters and --tokens")):
            self.misuse(f"--work is the whole work, so {what} would not count", "plan", "--work",
                        "430ZFLOP", *words)
        self.misuse("--ranks needs --all-reduce", "plan", "--work", 1, "--ranks", 8)
        self.misuse("--all-reduce needs --ranks", "plan", "--all-reduce", 1)
        self.misuse("one of --gpus and --time", "plan", "--work", 1, "--gpus", 1, "--time", 1)
        self.misuse("--utilisation is above 0", "plan", "--work", 1, "--utilisation", 0)
        self.misuse("/nowhere.toml: cannot be opened", "plan", "/nowhere.toml")
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write("[model]\nlayer = 3\n")
            file.flush()
            self.misuse(file.name + ":2: layer: there is no such key in model", "plan", file.name)


class TrafficTest(Case):
    def test_a_workload_is_a_matrix(self):
        lines = self.good("traffic", "incast", "--hosts", 128, "--senders", 8, "--bytes", "2MB",
                          "--seed", 5).splitlines()
        self.assertEqual(lines[:3], ["Nodes 128", "Connections 8", "Triggers 0"])
        self.assertEqual(len(lines), 11)
        for line in lines[3:]:
            self.assertRegex(line, r"^\d+->0 id \d start 0 size 2000000$")

    # A ring of 4 in 6 rounds of 4: flows of the first round start by time, and each triggers the
    # next.
    def test_a_collective_has_triggers(self):
        text = self.good("traffic", "ring-all-reduce", "--hosts", 4, "--bytes", 4000)
        lines = text.splitlines()
        self.assertEqual(lines[:3], ["Nodes 4", "Connections 24", "Triggers 20"])
        self.assertEqual(text.count(" start 0 "), 4)
        self.assertEqual(text.count(" size 1000"), 24)
        self.assertEqual(text.count("oneshot"), 20)

    def test_it_goes_to_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "F.cm"
            self.assertEqual(self.good("traffic", "permutation", "-o", path), "")
            self.assertEqual(path.read_text(), self.good("traffic", "permutation"))
        out = run("traffic", "permutation", "-o", "/nowhere/F.cm")
        self.assertEqual((out.returncode, out.stdout), (1, ""))
        self.assertIn("/nowhere/F.cm: cannot be written", out.stderr)

    def test_errors_name_what_is_wrong(self):
        self.misuse("which workload?", "traffic")
        self.misuse("incats", "traffic", "incats")
        self.misuse("senders is 1 to 15, not 16", "traffic", "incast", "--senders", 16)
        self.misuse("--bytes: 'big' is not bytes", "traffic", "incast", "--bytes", "big")
        self.misuse("--parallel", "traffic", "incast", "--parallel", 2)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
