#!/usr/bin/env python3
"""Packed corpora: what was packed comes back, and an archive writes nowhere else."""
import io
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "pack_corpus.py"


def run(*words):
    return subprocess.run([sys.executable, SCRIPT, *words], capture_output=True, text=True,
                          check=False)


class PackCorpusTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())
                                   if hasattr(self, "enterContext") else tempfile.mkdtemp())
        (self.folder / "in").mkdir()
        self.archive = self.folder / "a.tar.xz"

    def test_inputs_come_back(self):
        inputs = {"empty": b"", "zeros": bytes(700), "named-by-what-it-did": b"\xff\n\x00"}
        for name, octets in inputs.items():
            (self.folder / "in" / name).write_bytes(octets)
        self.assertEqual(run(self.folder / "in", self.archive).returncode, 0)
        self.assertEqual(run("--unpack", self.archive, self.folder / "out").returncode, 0)
        found = {p.name: p.read_bytes() for p in (self.folder / "out").iterdir()}
        self.assertEqual(found, inputs)

    def test_the_same_inputs_make_the_same_archive(self):
        (self.folder / "in/x").write_bytes(b"x")
        run(self.folder / "in", self.archive)
        (self.folder / "in/x").touch()
        run(self.folder / "in", self.folder / "b.tar.xz")
        self.assertEqual(self.archive.read_bytes(), (self.folder / "b.tar.xz").read_bytes())

    def test_an_archive_that_names_another_folder_is_refused(self):
        with tarfile.open(self.archive, "w:xz") as out:
            out.addfile(tarfile.TarInfo("../elsewhere"), io.BytesIO())
        done = run("--unpack", self.archive, self.folder / "out")
        self.assertEqual(done.returncode, 1)
        self.assertIn("is not an input", done.stderr)
        self.assertFalse((self.folder / "elsewhere").exists())

    def test_bad_usage(self):
        self.assertEqual(run(self.folder / "in", self.archive).returncode, 2, "no inputs")
        self.assertEqual(run().returncode, 2)


if __name__ == "__main__":
    unittest.main()
