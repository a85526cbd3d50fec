"""How the checkers of this folder take their command lines; the text behind --help is their own.

What is wrong with one is said in one line on standard error, and the exit status is 2.
"""
import pathlib
import sys


def misuse(what):
    sys.stderr.write(f"{pathlib.Path(sys.argv[0]).name}: {what} (see --help)\n")
    sys.exit(2)


def read(text, args, flags=(), words=(0, 0)):
    """The words of the command line; `words` is their least and largest number. Flags may be
    anywhere."""
    if "-h" in args or "--help" in args:
        print(text.strip())
        sys.exit(0)
    found = []
    for arg in args:
        if arg.startswith("-") and arg not in flags:
            misuse(f"unknown option {arg}")
        if arg not in flags:
            found.append(arg)
    if len(found) < words[0]:
        misuse("something is missing")
    if len(found) > words[1]:
        misuse(f"unexpected argument {found[words[1]]}")
    return found


def folder(name):
    path = pathlib.Path(name)
    if not path.is_dir():
        misuse(f"there is no folder {name}")
    return path
