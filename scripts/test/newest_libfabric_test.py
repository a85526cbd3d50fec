#!/usr/bin/env python3
"""When scripts/newest_libfabric.sh skips what it cannot download, and when that is a failure.

A script that prints a given text replaces the system's apt-get.
"""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "newest_libfabric.sh"
APT_GET = """#!/bin/sh
case $* in
  *indextargets*) echo http://archive.test/debian/ ;;
  *) echo "$SAYS" >&2; exit 100 ;;
esac
"""


def is_debian():
    release = pathlib.Path("/etc/os-release")
    return release.exists() and "\nID=debian\n" in "\n" + release.read_text(encoding="utf-8")


@unittest.skipUnless(is_debian() and shutil.which("dpkg-deb") and shutil.which("pkg-config"),
                     "needs Debian, dpkg-deb and pkg-config")
class NewestLibfabricTest(unittest.TestCase):
    def status(self, says):
        with tempfile.TemporaryDirectory() as folder:
            apt_get = pathlib.Path(folder, "apt-get")
            apt_get.write_text(APT_GET, encoding="utf-8")
            apt_get.chmod(0o755)
            env = dict(os.environ, PATH=folder + ":" + os.environ["PATH"], SAYS=says)
            out = subprocess.run([str(SCRIPT), "--folder", folder + "/out"], env=env, timeout=60,
                                 stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                 check=False)
            self.assertIn(says, out.stdout)
            return out.returncode

    def test_without_a_network_it_is_skipped(self):
        for says in ("Could not connect to archive.test:80 (10.0.0.1). - connect (111)",
                     "Temporary failure resolving 'archive.test'",
                     "Cannot initiate the connection to archive.test:80 (10.0.0.1). - connect "
                     "(101: Network is unreachable)"):
            self.assertEqual(self.status("E: Failed to fetch http://archive.test  " + says), 77)

    def test_whatever_else_apt_says_is_a_failure(self):
        for says in ("E: The repository 'http://archive.test/debian trixie Release' does not have "
                     "a Release file.",
                     "E: You don't have enough free space in /var/cache/apt/archives/.",
                     "E: Failed to fetch http://archive.test/pool/l.deb  404  Not Found",
                     "E: Unable to locate package libfabric-dev"):
            self.assertEqual(self.status(says), 1)


if __name__ == "__main__":
    unittest.main()
