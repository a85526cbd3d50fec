#!/usr/bin/env python3
"""Calls every tool with --help, and with command lines that are wrong.

Usage: command_lines_test.py [PROGRAM...]      (the built programs; the scripts are found)

A wrong command line ends with status 2, nothing on standard output, and one line on standard error
that names the tool and what is wrong; nothing is installed, built or run before that.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
SHELL = sorted(p for folder in ("tools", "scripts", "bench")
               for p in (ROOT / folder).glob("*.sh") if not p.name.startswith("lib"))
CHECKERS = [SCRIPTS / name for name in ("check_tidy.py", "check_citations.py",
                                        "configuration_doc.py", "man_page.py", "pack_corpus.py")]
PROGRAMS = []
PATH = ""

# Commands of the programs, each with the arguments that it cannot do without.
COMMANDS = {
    "uet_conform": [["run", "/"]],
    "uet_ctl": [["stats"], ["dump"], ["doctor"], ["paths"], ["record", "--out", "/"],
                ["plot", "/", "--out", "/"]],
    "uet_keys": [["inspect", "/"], ["roll", "/", "--sdi", "1"]],
    "uet_pcap": [["make", "in", "out"], ["print", "in"], ["ladder", "in", "--list"]],
    "uet_perf": [[], ["pdcs"], ["gap"], ["loss"]],
    "uet_replay": [["/"]],
    "uet_sim": [[], ["plan"], ["traffic", "incast"]],
    "uet_stress": [[]],
    "raw_pingpong": [["client", "127.0.0.1"]],
}


# All that reading a command line takes. A script that gets further finds nothing to do harm with.
HARMLESS = ("bash", "cat", "dirname", "env", "nproc", "realpath")


def run(*words):
    return subprocess.run([str(w) for w in words], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=60, check=False, env=dict(os.environ, PATH=PATH))


def tools():
    return [[t] for t in SHELL + PROGRAMS] + [[sys.executable, t] for t in CHECKERS]


class CommandLinesTest(unittest.TestCase):
    def assert_misuse(self, says, *words):
        out = run(*words)
        line = " ".join(map(str, words))
        self.assertEqual((out.returncode, out.stdout), (2, ""), line + "\n" + out.stderr)
        self.assertRegex(out.stderr, r"\A[^\n]+\n\Z", line)
        name = next(pathlib.Path(w).name for w in words if w != sys.executable)
        self.assertIn(name, out.stderr.split(": ")[0], line)
        self.assertIn(says, out.stderr, line)
        self.assertIn("--help", out.stderr, line)

    def test_help_is_given_on_standard_output(self):
        for tool in tools():
            for flag in ("--help", "-h"):
                out = run(*tool, flag)
                self.assertEqual((out.returncode, out.stderr), (0, ""), tool)
                self.assertIn("usage", out.stdout.lower(), tool)
                self.assertRegex(out.stdout, r"(?is)\bexit\b.*\b2\b", tool)
                self.assertTrue(all(len(line) <= 100 for line in out.stdout.split("\n")), tool)

    def test_lost_output_is_an_error(self):
        for program in PROGRAMS:
            with open("/dev/full", "w") as full:
                out = subprocess.run([program, "--help"], stdout=full, stderr=subprocess.PIPE,
                                     text=True, timeout=60, check=False)
            self.assertEqual(out.returncode, 2, program)
            self.assertEqual(out.stderr, f"{pathlib.Path(program).name}: standard output cannot be "
                                         "written\n")

    def test_unknown_options(self):
        for tool in tools():
            self.assert_misuse("--nonsense", *tool, "--nonsense")
        for program in PROGRAMS:
            for command in COMMANDS[program.name]:
                self.assert_misuse("--nonsense", program, *command, "--nonsense")

    def test_loss_is_measured_by_another_program(self):
        for script in ("bench/peers.sh", "tools/bench_peers.sh"):
            for option in ("--loss", "--loss=1", "--delay-us"):
                self.assert_misuse("see bench/network.py loss", ROOT / script, option)

    def test_surplus_words(self):
        for script in SHELL:
            self.assert_misuse("surplus", script, "surplus")
        for program in PROGRAMS:
            self.assert_misuse("surplus", program, "surplus")

    def test_every_option_of_a_script_is_in_its_help_and_in_its_synopsis(self):
        for script in SHELL:
            help_text = run(script, "--help").stdout
            synopsis, _, rest = help_text.partition("\n\n")
            known = set(re.findall(r"^ +((?:-\S+\|)*-\S+)\)", script.read_text(), re.M))
            for name in {n for group in known for n in group.split("|")} - {"-h", "--help", "--"}:
                if name == "-*":
                    continue
                self.assertIn(name, synopsis, script.name)
                self.assertRegex(rest, rf"(?m)^ *{re.escape(name)}\b", script.name)

    def test_options_of_scripts_without_their_value(self):
        for script in SHELL:
            options = re.findall(r"^ +(-\S*\w) +[A-Z]+\b", run(script, "--help").stdout, re.M)
            for option in options:
                self.assert_misuse(option, script, option)

    def test_values_that_are_not_numbers(self):
        for script in SHELL:
            options = re.findall(r"^ +(-\S+) +[NS]\b", run(script, "--help").stdout, re.M)
            for option in set(options) - {"--only"}:
                self.assert_misuse(option, script, option, "many")

    def test_a_missing_folder(self):
        for checker in ("check_tidy.py", "check_citations.py", "man_page.py"):
            self.assert_misuse("/nowhere", sys.executable, SCRIPTS / checker, "/nowhere")
        self.assert_misuse("/nowhere", sys.executable, SCRIPTS / "configuration_doc.py", "/nowhere")

    def test_versions_of_the_programs_agree(self):
        versions = {run(program, "--version").stdout for program in PROGRAMS}
        self.assertEqual(len(versions), min(1, len(PROGRAMS)), versions)

    def test_a_command_is_asked_for_where_one_is_needed(self):
        for program in PROGRAMS:
            if program.name in ("uet_conform", "uet_ctl", "uet_pcap"):
                self.assert_misuse(COMMANDS[program.name][0][0], program)

    def test_values_that_programs_do_not_take(self):
        wrong = {"uet_ctl": ["stats", "--watch", "0"], "uet_perf": ["--repeats", "0"],
                 "uet_replay": ["/nowhere"], "uet_sim": ["--count", "0"],
                 "uet_stress": ["--only", "nothing"]}
        for program in [p for p in PROGRAMS if p.name in wrong]:
            self.assert_misuse(wrong[program.name][-1], program, *wrong[program.name])

    def test_a_number_that_does_not_fit_its_field_is_said_with_its_line(self):
        for program in [p for p in PROGRAMS if p.name == "uet_pcap"]:
            with tempfile.NamedTemporaryFile("w", suffix=".txt") as text:
                text.write("# one line\n0 10.0.0.1 > 10.0.0.2 | RUD_CC_REQ credit_target=-1\n")
                text.flush()
                out = run(program, "make", text.name, "-")
                self.assertEqual((out.returncode, out.stdout, out.stderr),
                                 (1, "", f"uet_pcap: {text.name}:2: credit_target=-1: no such "
                                         "value; credit_target is 0 to 16777215\n"))


if __name__ == "__main__":
    PROGRAMS = [pathlib.Path(p) for p in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as PATH:
        for command in HARMLESS:
            os.symlink(shutil.which(command), os.path.join(PATH, command))
        unittest.main(argv=sys.argv[:1])
