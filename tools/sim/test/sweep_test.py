#!/usr/bin/env python3
"""uet_sim_sweep as its users call it, on this machine and, where mpirun and mpi4py are, by MPI.

Usage: sweep_test.py UET_SIM SWEEP.py [mpi]     (mpi: only that; exit 77: it is not there)
"""
import csv
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = SWEEP = ""
SMALL = ["--", "--topo", "fattree:4", "--workload", "permutation:bytes=100kB"]
PYTHONS = ("/usr/bin/python3", "python3")  # Debian's mpi4py is for Debian's Python


class SweepTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name) / "results"

    def sweep(self, *words, before=(), python=None):
        command = [*before, *([python, "-m", "mpi4py.futures"] if before else [sys.executable]),
                   SWEEP, str(self.folder), "--program", PROGRAM, *words]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)

    def table(self):
        with open(self.folder / "table.csv", newline="") as file:
            return list(csv.DictReader(file))

    def look_at_six_points(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = self.table()
        self.assertEqual([(row["lb"], row["seed"]) for row in rows],
                         [(lb, seed) for lb in ("mixed", "single") for seed in "123"])
        self.assertTrue(all(row["flows_done"] == "16" for row in rows))
        alone = json.loads(subprocess.run(
            [PROGRAM, "run", "--quiet", *SMALL[1:], "--lb", "single", "--seed", "2", "--json", "-"],
            capture_output=True, text=True, check=True).stdout)
        kept = json.loads((self.folder / "lb=single,seed=2.json").read_text())
        self.assertEqual(kept["digest"], alone["digest"])


class LocalTest(SweepTest):
    def test_too_many_seeds(self):
        done = self.sweep("--seeds", "1-99999999999", *SMALL)
        self.assertEqual(done.returncode, 2)
        self.assertIn("more than 100000 seeds", done.stderr)

    def test_an_interrupted_sweep_ends_its_runs_and_can_go_on(self):
        large = ["--", "--topo", "fattree:16", "--workload", "permutation:bytes=2MB"]
        for sign in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(sign):
                sweep = subprocess.Popen(  # a shell's background job ignores SIGINT
                    [sys.executable, SWEEP, str(self.folder), "--program", PROGRAM, "--jobs", "1",
                     "--seeds", "1-50", *large], stderr=subprocess.PIPE, text=True,
                    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
                self.addCleanup(sweep.kill)
                self.assertIn("50 points", sweep.stderr.readline())
                while not list(self.folder.glob(".*.part")):
                    time.sleep(0.05)
                sweep.send_signal(sign)
                errors = sweep.communicate(timeout=60)[1]
                self.assertEqual(sweep.returncode, 130)
                self.assertIn("the same command goes on", errors)
                self.assertNotIn("Traceback", errors)
                self.assertFalse(list(self.folder.glob(".*.part")))
                sweep.stderr.close()

    def test_each_point_is_run_once(self):
        words = ["--seeds", "1-3", "--vary", "lb=mixed,single", "--jobs", "2", *SMALL]
        self.look_at_six_points(self.sweep(*words))
        one = self.folder / "lb=mixed,seed=1.json"
        times = {p.name: p.stat().st_mtime_ns for p in self.folder.glob("*.json")}
        one.unlink()
        (self.folder / ".x.part").write_text("cut off")
        again = self.sweep(*words)
        self.assertIn("6 points, 5 of them are there", again.stderr)
        self.look_at_six_points(again)
        changed = [name for name, at in times.items()
                   if (self.folder / name).stat().st_mtime_ns != at]
        self.assertEqual(changed, [one.name])
        self.assertEqual(list(self.folder.glob(".*.part")), [])

    def digest_of(self, *words):
        done = subprocess.run([PROGRAM, "run", "--quiet", *words, "--json", "-"],
                              capture_output=True, text=True, check=True)
        return json.loads(done.stdout)["digest"]

    def test_parts_of_a_value_are_varied(self):
        topology, incast = ["--topo", "fattree:4"], "incast:bytes=500kB,senders="
        self.assertEqual(self.sweep(
            "--vary", "cc.gamma=0.5,1", "--vary", "workload.senders=4,8", "--", *topology,
            "--workload", "incast:bytes=500kB", "--cc=nscc,target-us=2").returncode, 0)
        rows = self.table()
        self.assertEqual([(row["cc.gamma"], row["workload.senders"]) for row in rows],
                         [("0.5", "4"), ("0.5", "8"), ("1", "4"), ("1", "8")])
        kept = [json.loads((self.folder / f"cc.gamma={gamma},workload.senders={n},seed=1.json")
                           .read_text())["digest"] for gamma in ("0.5", "1") for n in "48"]
        alone = [self.digest_of(*topology, "--workload", incast + n, "--cc",
                                "nscc,target-us=2,gamma=" + gamma)
                 for gamma in ("0.5", "1") for n in "48"]
        self.assertEqual(kept, alone)
        self.assertEqual(len(set(kept)), 4)

    def test_a_failure_is_varied_beside_another_one(self):
        self.assertEqual(self.sweep("--vary", "fail=tor0:up1@3us,tor1:up1@3us", *SMALL,
                                    "--fail", "tor2:up0@2us").returncode, 0)
        for path in self.folder.glob("fail*.json"):
            self.assertEqual([e["event"] for e in json.loads(path.read_text())["events"]],
                             ["link", "reroute"] * 2)

    def test_values_and_their_parts_are_varied_together(self):
        self.assertEqual(self.sweep("--vary", "cc=nscc;both,pull=2", "--vary", "cc.gamma=0.5,1",
                                    *SMALL).returncode, 0)
        kept = json.loads((self.folder / "cc=both,pull=2,cc.gamma=1,seed=1.json").read_text())
        self.assertEqual(kept["congestion"], "both,pull=2,gamma=1")
        self.assertEqual(len(self.table()), 4)

    def test_a_folder_of_another_sweep_is_refused(self):
        self.assertEqual(self.sweep(*SMALL).returncode, 0)
        done = self.sweep(*SMALL, "--mtu", "2048")
        self.assertEqual(done.returncode, 2)
        self.assertIn("other options", done.stderr)

    def test_two_sweeps_of_a_folder_do_not_run_at_once(self):
        waits = self.folder.parent / "waits"  # with its point, until there is a file `go`
        waits.write_text(f'#!/bin/sh\nuntil test -e "$0.go"; do sleep 0.02; done\n'
                         f'exec "{PROGRAM}" "$@"\n')
        waits.chmod(0o755)
        command = [sys.executable, SWEEP, str(self.folder), "--program", str(waits), *SMALL]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as first:
            try:
                until = time.monotonic() + 60
                while not (begun := list(self.folder.glob(".*.part"))):
                    self.assertLess(time.monotonic(), until)
                    time.sleep(0.02)
                second = self.sweep(*SMALL)
                self.look_at_a_line(second, "second")
                self.assertIn("another sweep runs in this folder", second.stderr)
                self.assertEqual(list(self.folder.glob(".*.part")), begun)
            finally:
                waits.with_name("waits.go").touch()
            _, told = first.communicate(timeout=300)
        self.assertEqual(first.returncode, 0, told)
        self.assertEqual(self.sweep(*SMALL).returncode, 0)  # the lock has gone with the first
        self.assertEqual(len(self.table()), 1)

    def test_a_point_that_cannot_be_run_is_named(self):
        done = self.sweep("--vary", "lb=mixed,none", *SMALL)
        self.assertEqual(done.returncode, 1)
        self.assertIn("lb=none,seed=1: ", done.stderr)
        self.assertEqual(len(self.table()), 1)

    def test_a_flow_that_does_not_end_is_told(self):
        done = self.sweep(*SMALL, "--until", "5us")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.table()[0]["finished"], "False")

    def test_wrong_usage(self):
        for words in (["--seeds", "3-1"], ["--seeds", "x"], ["--vary", "lb"], ["--jobs", "0"],
                      ["--nonsense"], ["--program", "/nonexist"], ["--vary", "cc=nscc,gamma=1"],
                      ["--vary", "cc.gamma=1"], ["--vary", "lb.x=1"], ["--vary", "lb=reps,"]):
            self.look_at_a_line(self.sweep(*words, *SMALL), words)
            self.assertFalse(self.folder.exists(), words)
        self.folder = pathlib.Path("/proc/nowhere")
        self.look_at_a_line(self.sweep(*SMALL), "/proc/nowhere")

    def test_what_every_point_would_refuse_is_refused_at_once(self):
        for words, text in (
                (["--vary", "foo=1,2"], "no option --foo; uet_sim run --help"),
                (["--vary", "link=1,2"], "no option --link;"),
                (["--vary", "foo="], "foo= is not OPTION=VALUE"),
                (["--vary", "seed=1,2"], "give --seeds FIRST-LAST"),
                (["--vary", "json=a,b"], "a JSON file for each point"),
                (["--vary", "report=a,b"], "uet_sim run --report"),
                (["--vary", "topo=fattree:4,fattree:8"], "leave one out"),
                (["--vary", "lb=reps", "--vary", "lb=mixed"], "there twice"),
                (["--vary", "workload.bytes=1kB,2kB"], "bytes=100kB has bytes already"),
                (["--vary", "cc=rccc;both,pull=2", "--vary", "cc.pull=1,3"],
                 "both,pull=2 has pull already"),
                (["--jobs", "0"], "--jobs 0: a number above 0"),
                (["--jobs", "-1"], "--jobs -1: a number above 0")):
            done = self.sweep(*words, *SMALL)
            self.look_at_a_line(done, words)
            self.assertIn(text, done.stderr)
            self.assertFalse(self.folder.exists(), words)
        for words, text in ((["--json", "a"], "a JSON file for each point"),
                            (["--json=a"], "a JSON file for each point"),
                            (["--seed", "3"], "give --seeds FIRST-LAST"),
                            (["--report", "a"], "uet_sim run --report")):
            done = self.sweep(*SMALL, *words)
            self.look_at_a_line(done, words)
            self.assertIn(text, done.stderr)
            self.assertFalse(self.folder.exists(), words)

    def look_at_a_line(self, done, words):
        self.assertEqual((done.returncode, done.stdout), (2, ""), words)
        self.assertRegex(done.stderr, r"\Auet_sim_sweep: [^\n]+\n\Z", words)

    def test_options_that_give_no_result_claim_no_folder(self):
        self.assertEqual(self.sweep(*SMALL, "--mtx", "2048").returncode, 1)
        self.assertEqual(self.sweep(*SMALL, "--mtu", "2048").returncode, 0)
        self.assertIn("2048", (self.folder / "options.txt").read_text())

    def test_progress_goes_to_standard_error(self):
        done = self.sweep("--seeds", "1-2", *SMALL)
        self.assertEqual(done.stdout, "")
        self.assertIn("2 of 2 points, about 0 s left", done.stderr)

    def test_it_is_a_command_of_the_simulator(self):
        done = subprocess.run([PROGRAM, "sweep", str(self.folder), "--seeds", "1-2", *SMALL],
                              capture_output=True, text=True, check=False, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.table()), 2)
        told = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True)
        self.assertIn("uet_sim_sweep", told.stdout)


    def test_its_command_is_the_first_word(self):
        for words in (["--seed", "3", "sweep"],
                      ["--seed", "3", "sweep", str(self.folder), "--seeds", "1-2", *SMALL]):
            done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False,
                                  timeout=300)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertRegex(done.stderr, r"\Auet_sim[^\n]*: sweep is the first word[^\n]*\n\Z")
        self.assertFalse(self.folder.exists())


class MpiTest(SweepTest):
    def test_ranks_share_the_points(self):
        python = next((p for p in PYTHONS if shutil.which(p) and subprocess.run(
            [p, "-c", "import mpi4py"], capture_output=True, check=False).returncode == 0), None)
        if python is None or shutil.which("mpirun") is None:
            print("SKIPPED: no mpirun or no mpi4py (Debian: openmpi-bin python3-mpi4py)")
            sys.stdout.flush()
            os._exit(77)
        root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        before = ["mpirun", *root, "--oversubscribe", "-n", "3"]
        done = self.sweep("--seeds", "1-3", "--vary", "lb=mixed,single", *SMALL, before=before,
                          python=python)
        self.assertIn("6 points, 0 of them are there; 2 ranks", done.stderr)
        self.look_at_six_points(done)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    PROGRAM, SWEEP = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1],
                  defaultTest="MpiTest" if sys.argv[3:] else "LocalTest")
