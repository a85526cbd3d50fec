#!/usr/bin/env python3
"""How faults are planted behind their switches, and which tests count as citing a rule."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SCRIPTS / "mutants"))
import citing  # noqa: E402
import plant  # noqa: E402
import run  # noqa: E402


def fault(search, replacement, name="pds/1"):
    made = plant.Fault(name, "pds/a.cpp", "PDS-001", "goes wrong")
    made.search, made.replacement = search, replacement
    return made


def planted(code, *entries):
    """The code with these faults; numbers are shown as F1, F2 and so on."""
    faults = [fault(*e, name=f"pds/{i}") for i, e in enumerate(entries, 1)]
    text = plant.plant_in(faults, code).removeprefix(plant.SWITCH)
    for i, f in enumerate(faults, 1):
        text = text.replace(str(f.number), f"F{i}")
    return text


class PlantTest(unittest.TestCase):
    def test_statement(self):
        self.assertEqual(planted("f();\n  g(1);\n", ("g(1);", "g(2);")),
                         "f();\n  { if (uet_fault(F1)) { g(2); } else { g(1); } }\n")

    def test_statement_that_is_left_out(self):
        self.assertEqual(planted("{ g(1); }", ("g(1);", "")),
                         "{ { if (uet_fault(F1)) {  } else { g(1); } } }")

    def test_condition(self):
        self.assertEqual(planted("{ if (a < b) return; }", ("if (a < b)", "if (a <= b)")),
                         "{ if (uet_fault(F1) ? (a <= b) : (a < b)) return; }")

    def test_declaration(self):
        self.assertEqual(planted("{ const bool b = x; }",
                                 ("const bool b = x;", "const bool b = y;")),
                         "{ const bool b = (uet_fault(F1) ? (y) : (x)); }")

    def test_marked_piece_of_an_expression(self):
        self.assertEqual(planted("v = f(a + 1) * a;", ("f(`a + 1`)", "a")),
                         "v = f((uet_fault(F1) ? (a) : (a + 1))) * a;")

    def test_value_at_the_end_of_a_statement(self):
        self.assertEqual(planted("v = a - b;", ("a - b;", "b - a;")),
                         "v = (uet_fault(F1) ? (b - a) : (a - b));")

    def test_a_constant_of_the_compiler_is_refused(self):
        with self.assertRaises(plant.Misfit):
            planted("struct A {\n  static constexpr int kMost = 63;\n};", ("kMost = `63`;", "2"))
        planted("constexpr int f() { return 63; }", ("return `63`;", "2"))

    def test_a_table_with_a_fault_is_filled_when_the_process_starts(self):
        code = "constexpr Row kRows[] = {\n    {1, 2},\n};\nint f() { return 2; }"
        self.assertEqual(planted(code, ("{1, `2`}", "3"), ("return `2`;", "4")),
                         "const     Row kRows[] = {\n    {1, (uet_fault_now(F1) ? (3) : (2))},\n};"
                         "\nint f() { return (uet_fault(F2) ? (4) : (2)); }")
        self.assertEqual(planted("constexpr Row kRows[] = {{1}};\nf();", ("f();", "g();"))[:9],
                         "constexpr")

    def test_two_faults_of_one_piece(self):
        self.assertEqual(planted("return a;", ("return `a`;", "b"), ("return `a`;", "c")),
                         "return (uet_fault(F1) ? (b) : uet_fault(F2) ? (c) : (a));")

    def test_a_fault_within_the_piece_of_another(self):
        self.assertEqual(planted("; f(a, b);", ("f(a, b);", ""), ("f(`a`, b)", "0")),
                         "; { if (uet_fault(F1)) {  } "
                         "else { f((uet_fault(F2) ? (0) : (a)), b); } }")

    def test_white_space_of_the_code_does_not_matter(self):
        self.assertIn("uet_fault", planted("v = a +\n      b;", ("`a + b`;", "a")))

    def test_comments_stay_outside(self):
        self.assertEqual(planted("; f(a);  // why\n", ("`f(a);` // why", "")),
                         "; { if (uet_fault(F1)) {  } else { f(a); } }  // why\n")

    def refused(self, code, search, replacement):
        with self.assertRaises(plant.Misfit) as refusal:
            planted(code, (search, replacement))
        return str(refusal.exception)

    def test_a_statement_without_its_scope(self):
        self.assertIn("belongs to the piece", self.refused("A::f(a);", "f(a);", "g(a);"))

    def test_brackets_that_stay_open_on_one_side(self):
        self.assertIn("brackets", self.refused("if (a) { return f();", "if (a) { return f();",
                                               "if (a) { return;  }"))
        self.assertIn("brackets", self.refused("if (a) { g(); f(b);", "f(b);", "f(b;"))

    def test_text_that_is_not_there_or_twice(self):
        self.assertIn("found 0 times", self.refused("f();", "g();", ""))
        self.assertIn("found 2 times", self.refused("f(); f();", "f();", ""))

    def test_what_cannot_be_switched(self):
        self.assertIn("not one expression", self.refused("f(a, b);", "f(`a, b`)", "b, a"))
        self.assertIn("nothing cannot stand", self.refused("v = a;", "= `a`;", ""))
        self.assertIn("another initial value", self.refused("{ int v = a; }", "int v = a;", ""))

    def test_pieces_that_overlap(self):
        with self.assertRaises(plant.Misfit):
            planted("v = a + b + c;", ("`a + b`", "a"), ("`b + c`", "c"))


class ListTest(unittest.TestCase):
    def read(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "pds.txt"
            path.write_text(text)
            return plant.read_lists(folder)

    def test_entries(self):
        found = self.read("# a comment\n\npds/a.cpp PDS-V8 goes wrong\n- f();\n+\n\n"
                          "pds/b.cpp T-04 so does this\n- g(a)\n+ g(b)\n")
        self.assertEqual([(f.name, f.file, f.rule, f.search, f.replacement) for f in found],
                         [("pds/1", "pds/a.cpp", "PDS-V8", "f();", ""),
                          ("pds/2", "pds/b.cpp", "T-04", "g(a)", "g(b)")])

    def test_known_gaps(self):
        found = self.read("pds/a.cpp PDS-001 goes wrong\n- f();\n+\n\n"
                          "? pds/a.cpp PDS-001 does so unnoticed\n- g();\n+\n")
        self.assertEqual([(f.file, f.is_gap) for f in found],
                         [("pds/a.cpp", False), ("pds/a.cpp", True)])

    def test_numbers_do_not_depend_on_other_entries(self):
        one = "pds/a.cpp PDS-V8 goes wrong\n- f();\n+\n"
        other = "pds/b.cpp T-04 so does this\n- g(a)\n+ g(b)\n"
        self.assertEqual(self.read(one)[0].number, self.read(other + one)[1].number)

    def test_what_is_no_entry(self):
        for text in ("pds/a.cpp PDS-V8 lacks lines\n", "pds/a.cpp PDS-V8 lacks one\n- f();\n",
                     "ses/a.cpp SES-001 of another folder\n- f();\n+\n",
                     "pds/a.cpp twice\n- f();\n+\n",
                     2 * "pds/a.cpp PDS-V8 twice\n- f();\n+\n"):
            with self.assertRaises(plant.Misfit, msg=text):
                self.read(text)


class CitingTest(unittest.TestCase):
    def test_comment_above_body_and_file(self):
        self.assertEqual(citing.rules_of_tests(
            "// Of the file. [PDS-001]\n#include \"a.h\"\n\n"
            "// [PDS-010..012] Of one test.\nTEST(A, One) {\n  f();  // [T-04]\n}\n\n"
            "TEST_F(B, Two) {\n}\n"),
            {"A.One": {"PDS-001", "PDS-010", "PDS-011", "PDS-012", "T-04"},
             "B.Two": {"PDS-001"}})

    def test_a_test_of_one_line_ends_there(self):
        text = "TEST(A, One) { f(); }\n\n// [PDS-003]\nTEST(A, Two) {\n}\n"
        self.assertEqual(citing.rules_of_tests(text), {"A.One": set(), "A.Two": {"PDS-003"}})

    def test_comment_of_a_helper_counts_for_the_file(self):
        text = "// [PDS-002]\nint helper();\n\nTEST(A, One) {\n}\n"
        self.assertEqual(citing.rules_of_tests(text), {"A.One": {"PDS-002"}})


class ProgramTest(unittest.TestCase):
    def program(self, entry, **more):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "sim/world/test/a_test.cpp"
            source.parent.mkdir(parents=True)
            source.write_text("TEST(A, One) {\n}\n// [PDS-001]\nTEST(B, Two) {\n}\n")
            return citing.program_of({"name": entry, "properties": [], **more}, "a_test",
                                     "/b/a_test", [source], pathlib.Path(folder))

    def test_is_of_the_folder_of_its_sources(self):
        self.assertEqual(self.program("a_test").folders, {"sim"})

    def test_an_entry_for_some_tests_has_these_only(self):
        part = self.program("a_two", command=["/b/a_test", "--gtest_filter=B.*"])
        self.assertEqual(part.tests, {"B.Two": {"PDS-001"}})
        self.assertEqual(part.target, "a_test")
        self.assertEqual(part.filter_of(()), "B.Two:*/B.Two/*:B/*.Two")

    def test_what_its_environment_leaves_out_is_left_out(self):
        program = self.program("a_test", properties=[
            {"name": "ENVIRONMENT", "value": ["A=1", "GTEST_FILTER=-*Two*"]},
            {"name": "RESOURCE_LOCK", "value": ["peer"]}])
        self.assertEqual(program.filter_of(()), "*:-*Two*")
        self.assertEqual(program.locks, ["peer"])

    def test_an_entry_that_chooses_parameters_has_none(self):
        self.assertEqual(self.program("a_ring", command=["/b/a_test",
                                                         "--gtest_filter=*/Ring*"]).tests, {})


class WholeTreeTest(unittest.TestCase):
    def test_every_fault_fits(self):
        done = subprocess.run([sys.executable, str(SCRIPTS / "mutants/run.py"), "--list"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(len(done.stdout.splitlines()), 300)

    def test_a_sample_is_the_same_each_time(self):
        def sample(seed):
            return subprocess.run(
                [sys.executable, str(SCRIPTS / "mutants/run.py"), "--list", "--sample", "10",
                 "--seed", seed], capture_output=True, text=True, check=True).stdout
        self.assertEqual(sample("7"), sample("7"))
        self.assertNotEqual(sample("7"), sample("8"))
        self.assertEqual(len(sample("7").splitlines()), 10)


class MemoryTest(unittest.TestCase):
    def outcome(self, code):
        limit, run.MEMORY_MAX_BYTES = run.MEMORY_MAX_BYTES, 200_000_000
        try:
            return run.run_command("a", [sys.executable, "-c", code], None, 20, "/")
        finally:
            run.MEMORY_MAX_BYTES = limit

    def test_who_takes_too_much_is_ended(self):
        outcome = self.outcome("import time; a = b'1' * 300_000_000; time.sleep(60)")
        self.assertFalse(outcome.passed)
        self.assertEqual(outcome.by, "a (crashes)")
        self.assertLess(outcome.seconds, 10)

    def test_address_space_is_free(self):
        outcome = self.outcome("import mmap, time; m = mmap.mmap(-1, 1 << 40, flags=0x4022); "
                               "time.sleep(0.5)")
        self.assertTrue(outcome.passed)


if __name__ == "__main__":
    unittest.main()
