#!/usr/bin/env python3
"""Plants one violation at a time in a small tree and asks the checkers to find it."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SCRIPTS))
import arrows  # noqa: E402
import check_tidy  # noqa: E402
import class_sizes  # noqa: E402
import plain_words  # noqa: E402


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

    def test_operation_tables_stand_with_the_entry_points(self):
        text = "// A.\nstatic struct fi_ops_cq cq_ops = {\n    .size = 1,\n};\n"
        self.assertIn("prov/uet/completion/a.cpp:2: an operation table of libfabric outside",
                      self.finding("prov/uet/completion/a.cpp", text))
        self.write("prov/uet/completion/a.cpp", "// A.\nint f(fi_ops_cq* ops);\n")
        self.write("prov/uet/api/a.cpp", text)
        self.write("prov/uet/completion/test/a.cpp", text)
        self.assertEqual(run("check_tidy.py", self.root)[0], 0)

    def test_long_function(self):
        for lines, is_found in ((58, False), (59, True)):
            text = "// A.\nvoid f() {\n" + "  g();\n" * lines + "}\n"
            if is_found:
                self.assertIn("base/a.cpp:2: f has 61 lines, at most 60",
                              self.finding("base/a.cpp", text))
            else:
                self.write("base/a.cpp", text)
                self.assertEqual(run("check_tidy.py", self.root)[0], 0)

    def test_long_functions_of_all_forms(self):
        for head in ("class A {\nint f() const {", "A::f(int a)\n    : a_{a}, b_(c{1}) {",
                     'extern "C" int f() {', "struct A* f() {", "auto f() -> int {"):
            with self.subTest(head):
                end = "  }\n};\n" if head.startswith("class") else "}\n"
                out = self.finding("base/a.cpp", f"// A.\n{head}\n" + "g();\n" * 70 + end)
                self.assertIn("f has 7", out)

    def class_text(self, functions, members, keyword="class", more=""):
        return (f"// A.\n{keyword} A {{\n public:\n  A(int a);\n  ~A();\n"
                + "  bool operator==(const A& other) const;\n" + more
                + "".join(f"  void f{i}(int a = 1) {{ g(); }}\n" for i in range(functions))
                + ("" if keyword == "struct" else " private:\n")
                + "".join(f"  int m{i}_ = 0;\n" for i in range(members)) + "};\n")

    def test_large_class(self):
        # With a constructor, a destructor and an operator.
        self.write("base/a.h", self.class_text(27, 14))
        self.assertEqual(run("check_tidy.py", self.root)[0], 0)
        self.assertIn("base/a.h:2: A has 31 functions and 14 members, at most 30 and 14",
                      self.finding("base/a.h", self.class_text(28, 14)))
        self.assertIn("A has 30 functions and 15 members",
                      self.finding("base/a.h", self.class_text(27, 15)))
        self.assertIn("base/a.cpp:2: A has 31 functions",
                      self.finding("base/a.cpp", self.class_text(28, 14)))
        hidden = " private:\n  A(const A&) = delete;\n public:\n"
        self.assertIn("A has 31 functions",
                      self.finding("base/a.h", self.class_text(27, 14, more=hidden)))

    def test_a_plain_record_has_as_many_members_as_it_needs(self):
        asks = "  bool is_odd() const { return m0_ & 1; }\n  static A none();\n"
        lists = "  template <class V>\n  void fields(V& v) { v(m0_); }\n"
        self.write("base/a.h", self.class_text(0, 40, "struct", asks + lists))
        self.assertEqual(run("check_tidy.py", self.root), (0, "check_tidy: 1 files, 0 findings\n"))
        for text in (self.class_text(1, 40, "struct"), self.class_text(0, 40)):
            self.assertIn("and 40 members", self.finding("base/a.h", text))

    def test_an_exception_that_is_not_needed(self):
        file, name = next(iter(class_sizes.EXCEPTIONS)).split()
        out = self.finding(file, f"// A.\nclass {name} {{}};\n")
        self.assertIn(f"scripts/class_sizes.py:1: the exception for {file} {name} is not needed",
                      out)

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

    def folders(self, *rows):
        lines = [f"| `{name}` | what it owns | {cell} |" for name, cell in rows]
        self.write("docs/architecture.md", "## 2. Folders\n\n" + "\n".join(lines) + "\n")

    def test_the_arrows_are_those_of_the_page(self):
        self.folders(("a", "`b` (a remark); `a/up` also `c`; `a/low`, `a/in` only `d`"),
                     ("b", "nothing"), ("c", ""), ("d", "all"), ("e", "`b/part`"))
        allowed = arrows.Arrows(self.root)
        for path, header, is_allowed in (
                ("a/x.h", "a/y.h", True), ("a/x.h", "b/y.h", True), ("a/x.h", "c/y.h", False),
                ("a/up/x.h", "c/y.h", True), ("a/up.cpp", "c/y.h", True),
                ("a/upper.cpp", "c/y.h", False), ("a/low/x.h", "a/low/y.h", True),
                ("a/low/x.h", "a/y.h", False), ("a/low/x.h", "b/y.h", False),
                ("a/low/x.h", "d/y.h", True), ("a/in.h", "b/y.h", False),
                ("b/x.h", "c/y.h", False), ("c/x.h", "b/y.h", False),
                ("d/x.h", "tools/y.h", True), ("e/x.h", "b/part/y.h", True),
                ("e/x.h", "b/y.h", False), ("elsewhere/x.h", "a/y.h", True),
                ("a/test/x.h", "c/y.h", True), ("a/test/x.h", "prov/y.h", False)):
            with self.subTest(path=path, header=header):
                self.assertEqual(allowed.may_include(path, header), is_allowed)

    def test_parts_have_rows_of_their_own(self):
        self.folders(("a", "`b`"), ("b", "nothing"), ("c", "nothing"))
        page = self.root / "docs/architecture.md"
        rows = page.read_text().rstrip("\n")
        page.write_text(rows + "\n| `a/x`, `a/y` | | only `c` |\n| `a/z` | | also `c` |\n")
        allowed = arrows.Arrows(self.root)
        for path, header, is_allowed in (
                ("a/w/w.h", "b/b.h", True), ("a/w/w.h", "c/c.h", False),
                ("a/x/x.h", "c/c.h", True), ("a/y/y.h", "b/b.h", False),
                ("a/z/z.h", "b/b.h", True), ("a/z/z.h", "c/c.h", True)):
            with self.subTest(path=path, header=header):
                self.assertEqual(allowed.may_include(path, header), is_allowed)
        page.write_text(rows + "\n| `a/x`, `a/y` | | `c` |\n")
        with self.assertRaises(arrows.Unreadable):
            arrows.Arrows(self.root)

    def test_arrows_that_go_in_a_circle(self):
        self.folders(("a", "`b`"), ("b", "`c`"), ("c", "`b`"))
        self.assertIn("docs/architecture.md:1: the arrows of section 2 go in a circle: b -> c -> b",
                      self.finding("a/a.h", "// A.\n"))

    def test_a_row_that_is_no_list_of_folders(self):
        for cell in ("all above", "`b` and `c`", "`b`; `z/y` also `b`", "`b`; `c`"):
            with self.subTest(cell):
                self.folders(("a", cell), ("b", ""), ("c", ""))
                with self.assertRaises(arrows.Unreadable):
                    arrows.Arrows(self.root)
        self.assertEqual(run("check_tidy.py", self.root)[0], 1)

    def test_lists_of_cmake_have_the_limits_of_code(self):
        self.assertIn("a/CMakeLists.txt:2: 101 columns",
                      self.finding("a/CMakeLists.txt", "# A.\n" + "x" * 101 + "\n"))
        self.assertIn("b/CMakeLists.txt:1: 501 lines, at most 500",
                      self.finding("b/CMakeLists.txt", "# B.\n" * 501))
        self.assertIn("c/c.cmake:1: 501 lines", self.finding("c/c.cmake", "# C.\n" * 501))

    def test_scripts_have_the_limit_of_code_and_data_has_none(self):
        for kind in ("py", "sh", "js"):
            self.assertIn(f"a/a.{kind}:1: 501 lines, at most 500",
                          self.finding(f"a/a.{kind}", "# A.\n" * 501))
            self.write(f"a/a.{kind}", "# A.\n" * 500)
        for path in ("a/a.md", "a/a.csv", "a/a.json"):
            self.write(path, "A\n" * 501)
        code, out = run("check_tidy.py", self.root)
        self.assertEqual(code, 0, out)

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

    def test_words_that_are_not_plain(self):
        for path, text, line, phrase in [
                ("base/a.cpp", "// A.\n// Reads so many octets.\nint x;\n", 2, "so many octets"),
                ("base/a.cpp", '// A.\nconst char* t = "waits For Ever";\n', 2, "for ever"),
                ("base/a.cpp", "// A.\n// Looks in\n// vain.\nint x;\n", 2, "in vain"),
                ("base/a.cpp", '// A.\nconst char* t = "told "\n    "to wait";\n', 2,
                 "told to wait"),
                ("tools/a.py", '"""A."""\n# Sends so many packets.\n', 2, "so many packets"),
                ("docs/a.md", "# A\n\nRefusals are borne.\n", 3, "borne")]:
            with self.subTest(text):
                self.assertIn(f'{path}:{line}: "{phrase}" is not plain: ',
                              self.finding(path, text))
                (self.root / path).unlink()

    def test_listed_phrases_are_found_in_names_of_tests(self):
        phrases = list(plain_words.PHRASES)
        for form in ("TEST(ATest, A{}B) {{}}", "TEST_F(ATest, A{}) {{}}", "TEST_P(ATest, {}B) {{}}",
                     "TYPED_TEST(ATest,\n           A{}) {{}}"):
            names = [phrase.title().replace(" ", "") for phrase in phrases]
            self.find_in_names("a/a.cpp", "// A.\n", form, names)
        names = [phrase.replace(" ", "_") for phrase in phrases]
        self.find_in_names("a/a.py", '"""A."""\n', "    def test_a_{}_b(self):", names)

    def find_in_names(self, path, head, form, names):
        """The listed phrase is found in each test, one after the other, and in no other line."""
        self.write(path, head + "".join(form.format(name) + "\n" for name in names))
        findings = run("check_tidy.py", self.root)[1].splitlines()[:-1]
        self.assertEqual(len(findings), len(names), form)
        lines = form.count("\n") + 1
        for number, (phrase, found) in enumerate(zip(plain_words.PHRASES, findings)):
            self.assertIn(f'{path}:{1 + (number + 1) * lines}: "{phrase}" is not plain: ', found)
        (self.root / path).unlink()

    def test_plain_names_of_tests_pass(self):
        self.write("a/a.cpp", "// A.\nTEST(ATest, ForEveryPacket) {}\nint for_ever();\n")
        self.write("a/a.py", '"""A."""\n\n\ndef test_a_number_that_is_nonesuch():\n    pass\n')
        code, out = run("check_tidy.py", self.root)
        self.assertEqual(code, 0, out)

    def test_every_listed_phrase_is_found(self):
        phrases = list(plain_words.PHRASES)
        self.assertGreater(len(phrases), 20)
        self.write("base/a.cpp", "// A.\n" + "".join(f"// {phrase}.\n" for phrase in phrases))
        out = run("check_tidy.py", self.root)[1]
        for line, phrase in enumerate(phrases, 2):
            with self.subTest(phrase):
                self.assertIn(f'base/a.cpp:{line}: "{phrase}" is not plain: write '
                              f"{plain_words.PHRASES[phrase]} (docs", out)

    def test_plain_words_pass(self):
        self.write("base/a.cpp", "// For every packet of four octets.\n"
                                 "constexpr int borne_ = 1;  // a name in code, not in words\n")
        self.write("docs/reference/a.md", "For ever.\n")
        code, out = run("check_tidy.py", self.root)
        self.assertEqual(code, 0, out)

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


class ClassSizesTest(unittest.TestCase):
    def sizes(self, text):
        found = class_sizes.classes(check_tidy.strip_comments_and_strings(text))
        return [(c.name, c.functions, c.members) for c in found]

    def test_what_counts(self):
        self.assertEqual(self.sizes("""
            struct Later;
            enum class Kind : uint8_t { one, two };
            template <class T>
            class alignas(64) A final : public B<T>, C {
             public:
              using Link = int (*)(int);
              explicit A(int a) noexcept : a_{a}, d_(f(a)) { g(); }
              A(const A&) = delete;
              ~A();
              A& operator=(const A&) = delete;
              explicit operator bool() const { return a_ != 0; }
              bool operator()(int a) const;
              [[nodiscard]] std::span<const std::pair<int, int>> list() const;
              static Result<A*> make(int a = f(1), int b = 2);
              template <class Fn>
              void each(Fn&& fn) {
                for (int i = 0; i < 3; ++i) fn(i);
              }
              void (*hook)(int) = nullptr;
              std::function<void(int)> call;
             private:
              friend class D;
              static constexpr int kMax = 3;
              int a_, b_[2];
              uint8_t flag : 1 = 0;
              std::array<int, 3> d_{1, 2};
            };
            int f() { struct Inner { int x; }; return 0; }
            """),
                         [("A", ["A", "A", "~A", "operator_", "bool", "operator_", "list", "make",
                                 "each"],
                           ["hook", "call", "a_", "b_", "flag", "d_"])])

    def test_nested_classes_count_by_themselves(self):
        self.assertEqual(self.sizes("""
            namespace a::b {
            class A {
              struct B {
                int x = 0;
                int get() const { return x; }
              };
              struct { int y; } pair_;
              enum State : uint8_t { on, off };
              union { int z; };
              B b_;
              int f();
            };
            }"""),
                         [("A", ["f"], ["y", "pair_", "z", "b_"]), ("A::B", ["get"], ["x"])])


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

    def test_sections_and_decisions_that_do_not_exist(self):
        self.write("docs/architecture.md", "# Architecture\n\n## 5. Threads\n")
        self.write("docs/decisions/0004-time.md", "# 4. Time\n")
        self.write("pds/a.cpp", "// [architecture 5] [PDS-001, decision 4]\n")
        self.assertEqual(run("check_citations.py", self.root)[0], 0)
        self.write("pds/a.cpp", "// [architecture 5, 6]\n// [architecture room]\n// decision 2\n")
        code, out = run("check_citations.py", self.root)
        self.assertEqual(code, 1)
        self.assertIn("pds/a.cpp:1: docs/architecture.md has no section 6", out)
        self.assertIn("pds/a.cpp:2: docs/architecture.md has no section room", out)
        self.assertIn("pds/a.cpp:3: docs/decisions has no decision 2", out)

    def test_rule_without_test_or_reason(self):
        self.write("pds/test/a_test.cpp", "// [PDS-001]\n")
        self.write("pds/a.cpp", "// [PDS-002] cited in code only\n")
        code, out = run("check_citations.py", self.root)
        self.assertEqual(code, 1)
        self.assertIn("PDS-002 is neither tested nor listed", out)

    def test_a_test_that_cites_too_many_rules(self):
        self.write("pds/test/b_test.cpp", "// [PDS-001..041]\n")
        _, out = run("check_citations.py", self.root)
        self.assertIn("pds/test/b_test.cpp:1: PDS-001..041 cites 41 rules, at most 40", out)
        self.write("pds/test/b_test.cpp", "// [PDS-001..040]\n")
        _, out = run("check_citations.py", self.root)
        self.assertNotIn("at most 40", out)

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


class ManPageTest(Tree):
    def check(self, text):
        self.write("docs/configuration.md", "## User\n| `FI_UET_A` | a thing | 1 | 2 |\n")
        self.write("docs/man/a.1.md", "---\ntitle: a\nsection: 1\nsource: uet\nbook: B\n---\n"
                   "# PARAMETERS\n\n<!-- parameters of docs/configuration.md -->\n" + text)
        return run("man_page.py", self.root)

    def test_text_and_tables_in_fences_pass(self):
        code, out = self.check("Text.\n\n```\n| a | b |\n```\n")
        self.assertEqual((code, out), (0, "1 pages, 1 parameters\n"))

    def test_table(self):
        code, out = self.check("| a | b |\n|---|---|\n| 1 | 2 |\n")
        self.assertEqual(code, 1)
        self.assertIn("a.1.md: a table, which would become running text: | a | b |", out)

    def test_open_fence(self):
        code, out = self.check("```\ntext\n")
        self.assertEqual(code, 1)
        self.assertIn("a.1.md: a code fence is not closed", out)


if __name__ == "__main__":
    unittest.main()
