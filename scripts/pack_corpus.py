#!/usr/bin/env python3
"""Packs a folder of fuzz inputs into one archive, the same octets for the same inputs.

Usage: scripts/pack_corpus.py FOLDER ARCHIVE.tar.xz     packs; inputs keep their names
       scripts/pack_corpus.py --list ARCHIVE.tar.xz     prints names and sizes
       scripts/pack_corpus.py --unpack ARCHIVE.tar.xz FOLDER

The corpora are in fuzz/corpus, one archive for each target; the build unpacks them. Exit 0: done;
1: it failed; 2: wrong usage.
"""
import io
import pathlib
import sys
import tarfile

import command_line


def pack(folder, archive):
    inputs = sorted(p for p in folder.iterdir() if p.is_file())
    if not inputs:
        command_line.misuse(f"there is no input in {folder}")
    with tarfile.open(archive, "w:xz", format=tarfile.USTAR_FORMAT) as out:
        for path in inputs:
            octets = path.read_bytes()
            entry = tarfile.TarInfo(path.name)  # no owner, no time
            entry.size = len(octets)
            out.addfile(entry, io.BytesIO(octets))
    print(f"{archive}: {len(inputs)} inputs")


def inputs_of(archive):
    """(name, octets) of each input."""
    with tarfile.open(archive, "r:xz") as packed:
        for entry in packed:
            if not entry.isfile() or pathlib.PurePath(entry.name).name != entry.name:
                raise tarfile.TarError(f"{entry.name} is not an input")
            yield entry.name, packed.extractfile(entry).read()


def main():
    flags = ("--list", "--unpack")
    words = command_line.read(__doc__, sys.argv[1:], flags, (1, 2))
    try:
        if "--list" in sys.argv:
            for name, octets in inputs_of(words[0]):
                print(f"{len(octets):8} {name}")
            return
        if len(words) < 2:
            command_line.misuse("something is missing")
        if "--unpack" not in sys.argv:
            pack(command_line.folder(words[0]), pathlib.Path(words[1]))
            return
        folder = pathlib.Path(words[1])
        folder.mkdir(parents=True, exist_ok=True)
        for name, octets in inputs_of(words[0]):
            (folder / name).write_bytes(octets)
    except (OSError, tarfile.TarError) as error:
        sys.exit(f"pack_corpus.py: {error}")


if __name__ == "__main__":
    main()
