#!/usr/bin/env bash
# Builds the coverage preset, runs the tests of folders and prints a table for each: lines of its
# source files, and how many of them the tests reached. Needs gcov, which comes with the compiler.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/../tools/lib.sh"

usage() {
  cat <<'HELP'
Usage: scripts/coverage.sh [--min PERCENT] [--missing] [-j N] [FOLDER...]

  FOLDER         whose files are measured, by the tests with its label (default: pds ses)
  --min PERCENT  fail when fewer lines of all files of a folder are covered (default: 97 for pds
                 and ses, 0 for others)
  --missing      name the lines that no test reaches
  -j N           compilations at a time (default: all processors)
  -h, --help     this text

The table goes to standard output, what the build says to standard error.
Exit status: 0; 1 when a test fails or too few lines are covered; 2 wrong usage.
HELP
}

folders=() min='' jobs=$(nproc) missing=0
while [ $# -gt 0 ]; do
  case $1 in
    --min)
      [[ ${2:-} =~ ^[0-9]+(\.[0-9]+)?$ ]] || misuse "--min needs a number of percent"
      min=$2
      shift ;;
    --missing) missing=1 ;;
    -j) needs_number "$@"; jobs=$2; shift ;;
    -h|--help) usage; exit 0 ;;
    -*) unknown "$1" ;;
    *) folders+=("${1%/}") ;;
  esac
  shift
done
[ ${#folders[@]} -gt 0 ] || folders=(pds ses)
for folder in "${folders[@]}"; do
  [ -f "$root/$folder/CMakeLists.txt" ] || misuse "there is no folder $folder with tests"
done

# How much of a folder must be reached when --min does not say it.
usual_min() {
  case $1 in
    pds|ses) echo 97 ;;
    *) echo 0 ;;
  esac
}

cd "$root"
build=build/coverage
cmake --preset coverage >/dev/null

measure() {
  local folder=$1 least=$2
  cmake --build "$build" -j "$jobs" --target "tests_$folder" >&2 || return 1
  find "$build" -name '*.gcda' -delete
  ctest --test-dir "$build" -L "^$folder\$" --output-on-failure >&2 || return 1

  # Every object that was compiled, from the library and the tests: a header is covered by whatever
  # includes it.
  find "$build" -name '*.gcno' -print0 |
    xargs -0 -r gcov --json-format --stdout 2>/dev/null |
    python3 -c '
import json, os, sys
root, folder, least, show = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4] == "1"
hits = {}
for text in sys.stdin:
    if not text.strip():
        continue
    report = json.loads(text)
    for file in report["files"]:
        path = os.path.normpath(os.path.join(report["current_working_directory"], file["file"]))
        name = os.path.relpath(path, root)
        if not name.startswith(folder + "/") or "/test/" in name:
            continue
        for line in file["lines"]:
            lines = hits.setdefault(name, {})
            number = line["line_number"]
            lines[number] = lines.get(number, 0) + line["count"]
if not hits:
    sys.exit("coverage.sh: no file of " + folder + " was compiled")
print("%-32s %7s %8s %8s" % ("file", "lines", "covered", "percent"))
total = covered = 0
for name, lines in sorted(hits.items()):
    reached = sum(1 for count in lines.values() if count > 0)
    total += len(lines)
    covered += reached
    print("%-32s %7d %8d %7.1f%%" % (name, len(lines), reached, 100.0 * reached / len(lines)))
    left = sorted(number for number, count in lines.items() if count == 0)
    if show and left:
        print("    not reached: " + ", ".join(map(str, left)))
percent = 100.0 * covered / total
print("%-32s %7d %8d %7.1f%%" % ("all", total, covered, percent))
if percent < least:
    sys.exit("coverage.sh: %.1f %% is less than %g %%" % (percent, least))
' "$root" "$folder" "$least" "$missing"
}

status=0
for folder in "${folders[@]}"; do
  measure "$folder" "${min:-$(usual_min "$folder")}" || status=1
done
exit "$status"
