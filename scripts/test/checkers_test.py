#!/usr/bin/env python3
"""Plants one violation at a time in a small tree and asks the checkers to find it."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent


def run(tool, root, *args):
    out = subprocess.run([sys.executable, str(SCRIPTS / tool), *args, str(root)],
                         capture_output=True, text=True, check=False)
    return out.returncode, out.stdout


class Tree(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.dir.name)
        subprocess.run(["git", "init", "-q", str(self.root)], check=True)

    def tearDown(self):
        self.dir.cleanup()

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


class CheckTidyTest(Tree):
    def finding(self, path, text):
        self.write(path, text)
        code, out = run("check_tidy.py", self.root)
        self.assertEqual(code, 1, out)
        return out

    def test_clean_tree_passes(self):
        self.write("base/a.cpp", "// What this is.\nint f(int a) {\n  return a;\n}\n")
        code, out = run("check_tidy.py", self.root)
        self.assertEqual((code, out), (0, "check_tidy: 1 files, 0 findings\n"))

    def test_missing_head_comment(self):
        self.assertIn("base/a.cpp:1: no head comment", self.finding("base/a.cpp", "int x;\n"))

    def test_long_line(self):
        self.assertIn("base/a.cpp:2: 107 columns",
                      self.finding("base/a.cpp", "// A.\nint " + "x" * 102 + ";\n"))

    def test_trailing_blanks(self):
        self.assertIn("base/a.cpp:2: trailing", self.finding("base/a.cpp", "// A.\nint x; \n"))

    def test_long_file_and_long_header(self):
        self.assertIn("501 lines", self.finding("base/a.cpp", "// A.\n" + "int x;\n" * 500))
        self.assertIn("251 lines", self.finding("base/a.h", "// A.\n" + "int x;\n" * 250))

    def test_long_function(self):
        body = "  g();\n" * 70
        out = self.finding("base/a.cpp", "// A.\nvoid f() {\n" + body + "}\n")
        self.assertIn("base/a.cpp:2: f has 72 lines", out)

    def test_long_method_inside_a_class(self):
        body = "    g();\n" * 70
        out = self.finding("base/a.cpp",
                           "// A.\nclass A {\n  int f() const {\n" + body + "  }\n};\n")
        self.assertIn("f has 72 lines", out)

    def test_upward_include(self):
        out = self.finding("wire/a.cpp", '// A.\n#include "pds/pdc.h"\n')
        self.assertIn("wire/a.cpp:2: wire may not include pds", out)

    def test_tests_share_the_world_but_no_other_part_of_the_simulation(self):
        world = '// A.\n#include "sim/world/world.h"\n'
        self.write("pds/test/a.h", world)
        self.write("sim/world/a.h", world + '#include "base/time.h"\n')
        self.assertEqual(run("check_tidy.py", self.root)[0], 0)
        for path, include in (("pds/test/b.h", "sim/plan.h"), ("pds/b.h", "sim/world/world.h"),
                              ("pds/rx/test/b.h", "sim/world/world.h"),
                              ("sim/world/b.h", "pds/pds.h"), ("sim/world/b.h", "sim/plan.h")):
            with self.subTest(path):
                out = self.finding(path, f'// A.\n#include "{include}"\n')
                self.assertIn(f"may not include {include}", out)

    def test_upward_dependency_in_cmake(self):
        out = self.finding("cms/CMakeLists.txt",
                           "uet_add_library(cms SOURCES a.cpp DEPS base ses)\n")
        self.assertIn("cms may not depend on ses", out)

    def test_forbidden_calls(self):
        for line, what in [("auto t = std::chrono::steady_clock::now();", "a clock"),
                           ("int r = rand();", "outside randomness"),
                           ("std::mutex m;", "threads"),
                           ('auto* f = fopen("x", "r");', "files"),
                           ("int s = socket(1, 2, 3);", "sockets"),
                           ("throw 1;", "exceptions"),
                           ("auto* p = new int;", "memory from the heap"),
                           ("std::vector<int> v;", "memory from the heap"),
                           ("std::unordered_map<int, int> m;", "hidden allocation")]:
            with self.subTest(line):
                self.assertIn(what, self.finding("pds/a.cpp", "// A.\n" + line + "\n"))

    def test_forbidden_words_in_comments_and_strings_are_fine(self):
        self.write("pds/a.cpp", '// No rand() here.\nconst char* s = "throw";\n')
        self.assertEqual(run("check_tidy.py", self.root)[0], 0)

    # [LF-104, LF-105] One header decides which libfabric this is, by no macro that may be gone.
    def test_conditions_on_libfabric(self):
        for line in ("#ifdef FI_MR_BASIC", "#if defined(FI_RESCAN)", "#ifndef FI_ORDER_NONE",
                     "#if FI_MAJOR_VERSION >= 2", "#  elif FI_MINOR_VERSION > 1"):
            text = f"// A.\n{line}\n#endif\n"
            self.assertIn("prov/uet/a.cpp:2: a condition on FI_",
                          self.finding("prov/uet/a.cpp", text))
        (self.root / "prov/uet/a.cpp").unlink()
        self.assertIn("prov/uet/api/compat.h:2: a condition on FI_LOCAL_MR",
                      self.finding("prov/uet/api/compat.h", "// A.\n#if FI_LOCAL_MR\n#endif\n"))
        self.write("prov/uet/api/compat.h", "// A.\n#if FI_MAJOR_VERSION > 1\n#endif\n")
        self.write("prov/uet/a.cpp", "// A.\n#if UET_HAVE_BASE_MR\n#endif\n")
        code, out = run("check_tidy.py", self.root)
        self.assertEqual(code, 0, out)

    def test_binary(self):
        (self.root / "base").mkdir()
        (self.root / "base/a.bin").write_bytes(b"\0\1")
        code, out = run("check_tidy.py", self.root)
        self.assertEqual(code, 1)
        self.assertIn("a binary", out)


class CheckCitationsTest(Tree):
    def setUp(self):
        super().setUp()
        self.write("docs/reference/requirements.csv",
                   "id,file,section,level,confidence,summary\n"
                   "PDS-001,pds.md,1,must,high,one\n"
                   "PDS-002,pds.md,1,must,high,two\n"
                   "T-01,tss.md,1,must,high,three\n")
        self.write("docs/open-requirements.csv",
                   "pattern,status,reason\nT-*,open,later\n")
        self.write("pds/test/a_test.cpp", "// [PDS-001..002]\n")
        run("check_citations.py", self.root, "--write")

    def test_complete_tree_passes(self):
        code, out = run("check_citations.py", self.root)
        self.assertEqual((code, out), (0, "check_citations: 3 rules, 2 cited by tests, "
                                       "0 of them tested, 0 findings\n"))
        text = (self.root / "docs/compliance.md").read_text()
        self.assertIn("| PDS-002 | cited | `pds/test/a_test.cpp` | two |", text)
        self.assertIn("| T-01 | open | later | three |", text)

    def test_planted_faults_make_a_rule_tested(self):
        self.write("scripts/mutants/pds.txt",
                   "pds/a.cpp PDS-001 goes wrong\n- f();\n+\n\n"
                   "pds/a.cpp PDS-002 goes wrong\n- g();\n+\n\n"
                   "? pds/a.cpp PDS-002 goes wrong unnoticed\n- h();\n+\n")
        _, out = run("check_citations.py", self.root, "--write")
        self.assertIn("2 cited by tests, 1 of them tested", out)
        text = (self.root / "docs/compliance.md").read_text()
        self.assertIn("| PDS-001 | tested |", text)
        self.assertIn("| PDS-002 | gap |", text)

    def test_unknown_id(self):
        self.write("pds/a.cpp", "// [PDS-999]\n")
        code, out = run("check_citations.py", self.root)
        self.assertEqual(code, 1)
        self.assertIn("pds/a.cpp:1: cites PDS-999", out)

    def test_rule_without_test_or_reason(self):
        self.write("pds/test/a_test.cpp", "// [PDS-001]\n")
        self.write("pds/a.cpp", "// [PDS-002] cited in code only\n")
        code, out = run("check_citations.py", self.root)
        self.assertEqual(code, 1)
        self.assertIn("PDS-002 is neither tested nor listed", out)

    def test_stale_reason(self):
        self.write("docs/open-requirements.csv",
                   "pattern,status,reason\nT-*,open,later\nPDS-001,open,no\n")
        code, out = run("check_citations.py", self.root)
        self.assertEqual(code, 1)
        self.assertIn("PDS-001 matches nothing open", out)

    def test_stale_document(self):
        self.write("pds/test/b_test.cpp", "// [PDS-002]\n")
        code, out = run("check_citations.py", self.root)
        self.assertEqual(code, 1)
        self.assertIn("docs/compliance.md is stale", out)


if __name__ == "__main__":
    unittest.main()
