"""Looks at pages in headless Chromium: a script clicks through a page as a reader would, and writes
what it finds into the document, which the browser dumps.

Imported by the tests of pages; runs nothing by itself.
"""
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")

# %s: the steps, which put each thing found under its name into `found`.
SCRIPT = """
<pre id="found"></pre>
<script>
const found = {};
const all = (what) => [...document.querySelectorAll(what)];
try { %s } catch (error) { found.error = String(error.stack); }
document.getElementById("found").textContent = JSON.stringify(found);
</script>
"""


def browser():
    for name in BROWSERS:
        if path := shutil.which(name):
            return path
    return skip(f"none of {', '.join(BROWSERS)} is installed (Debian: chromium)")


def skip(why):
    print(f"SKIPPED: {why}")
    sys.stdout.flush()
    os._exit(77)  # from inside a test, too


class PageTest(unittest.TestCase):
    window = "1300,1750"

    @classmethod
    def setUpClass(cls):
        cls.browser = browser()

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def chromium(self, *words):
        root = ["--no-sandbox"] if os.geteuid() == 0 else []
        done = subprocess.run(
            [self.browser, "--headless=new", *root, "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", f"--user-data-dir={self.folder}/profile",
             f"--window-size={self.window}", "--virtual-time-budget=4000", *words],
            capture_output=True, text=True, check=False, timeout=190)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return done.stdout

    def walked(self, page, script):
        """What the script finds in the page of that text."""
        looked_at = self.folder / "looked_at.html"
        looked_at.write_text(page.replace("</body>", SCRIPT % script + "</body>"))
        dom = self.chromium("--dump-dom", looked_at.as_uri())
        found = re.search(r'<pre id="found">(.*?)</pre>', dom, re.S)
        self.assertIsNotNone(found, dom[-2000:])
        out = json.loads(html.unescape(found.group(1)))
        self.assertNotIn("error", out)
        return out
