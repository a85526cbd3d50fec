# SPDX-License-Identifier: GPL-2.0-or-later
"""What `cmake --install --component wireshark` puts below a prefix is all that Wireshark needs.

Usage: install_test.py PLUGINS CMAKE BUILD PLUGIN-FOLDER
"""
import filecmp
import pathlib
import subprocess
import sys

import wireshark


def main():
    if len(sys.argv) != 5:
        print(__doc__)
        return 2
    _, built, cmake, build, plugin_folder = sys.argv
    built = next(pathlib.Path(built).glob("*/epan/uet.so"))
    release = built.parents[1].name
    with wireshark.folder() as prefix:
        subprocess.run([cmake, "--install", build, "--component", "wireshark", "--prefix", prefix],
                       check=True, stdout=subprocess.DEVNULL)
        found = {str(path.relative_to(prefix)) for path in pathlib.Path(prefix).rglob("*")
                 if path.is_file()}
        profile = "share/wireshark/profiles/UET"
        expected = {f"{plugin_folder}/epan/uet.so", f"{profile}/colorfilters",
                    f"{profile}/preferences"}
        if found != expected:
            print(f"installed {sorted(found)}, expected {sorted(expected)}")
            return 1
        if not plugin_folder.endswith(f"wireshark/plugins/{release}"):
            print(f"{plugin_folder} is not the folder of release {release}")
            return 1
        source = pathlib.Path(__file__).resolve().parents[1] / "profile"
        for name in ("colorfilters", "preferences"):
            if not filecmp.cmp(source / f"{name}.txt", f"{prefix}/{profile}/{name}", shallow=False):
                print(f"{name} is not that of the source")
                return 1
        wireshark.Tshark(f"{prefix}/{pathlib.Path(plugin_folder).parent}").must_load()
    print(f"{len(found)} files installed, the plugin is loaded")
    return 0


if __name__ == "__main__":
    sys.exit(main())
