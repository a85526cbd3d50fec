#!/usr/bin/env bash
# Runs clang-tidy, as .clang-tidy says, over the stack, its programs and the Wireshark plugin.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/../tools/lib.sh"

usage() {
  cat <<'HELP'
Usage: scripts/clang_tidy.sh [-j N] [--within S] [--commits N | FILE.cpp...]

Looks at the files given, or at each .cpp but the tests and the fuzz targets, and at the headers
that these include. It takes some 25 minutes of processor time. Installs clang-tidy, and what the
build needs, when root.

  --commits N   only what is not committed, and what the last N commits changed, newest first; of a
                header the .cpp beside it
  --within S    begin no file after S seconds; what is left out is named
  -j N          parallel jobs (default: all processors)
  -h, --help    this text

Exit status: 0 without a finding, 1 with one, 2 wrong usage.
HELP
}

jobs=$(nproc) files=() commits='' within=86400
while [ $# -gt 0 ]; do
  case $1 in
    -j) needs_number "$@"; jobs=$2; shift ;;
    --commits) needs_number "$@"; commits=$2; shift ;;
    --within) needs_number "$@"; within=$2; shift ;;
    -h|--help) usage; exit 0 ;;
    -*) unknown "$1" ;;
    *) [ -f "$1" ] || misuse "there is no file $1"; files+=("$(realpath "$1")") ;;
  esac
  shift
done
[ -z "$commits" ] || [ ${#files[@]} -eq 0 ] || misuse "--commits and files exclude each other"
need_packages "${build_packages[@]}" wireshark-dev libgcrypt20-dev libbenchmark-dev clang \
  clang-tidy
cd "$root"
build=build/clang-tidy
mkdir -p build
: >$build.txt
cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
  -DBUILD_TESTING=OFF -DCMAKE_UNITY_BUILD=OFF -DCMAKE_CXX_COMPILER=clang++ >$build.log 2>&1 ||
  { tail -n 20 $build.log; die "cannot configure"; }
folders=(base wire cms pds ses tss fep keys io sim prov conformance dissector tools bench)
if [ -n "$commits" ]; then
  mapfile -t files < <({ git diff --name-only HEAD
    git ls-files --others --exclude-standard
    git log "-$commits" --format= --name-only; } | awk -v among="${folders[*]}" '
      BEGIN { for (i = split(among, names, " "); i > 0; i--) is_known[names[i]] = 1 }
      { sub(/[.]h$/, ".cpp") }
      split($0, parts, "/") > 1 && is_known[parts[1]] && /[.]cpp$/ && !/\/test\// && !seen[$0]++' |
    while read -r file; do [ ! -f "$file" ] || echo "$file"; done)
elif [ ${#files[@]} -eq 0 ]; then
  mapfile -t files < <(find "${folders[@]}" -name '*.cpp' ! -path '*/test/*' | sort)
fi

check() {
  if [ "$(date +%s)" -ge "$2" ]; then
    echo "left out: $3"
  else
    clang-tidy -p "$1" --quiet "$3" 2>/dev/null
  fi
}
export -f check
status=0
[ ${#files[@]} -eq 0 ] || printf '%s\0' "${files[@]}" |
  xargs -0 -P "$jobs" -n 1 bash -c 'check "$@"' - $build $(($(date +%s) + within)) >$build.txt ||
  status=1
# A header's finding comes once for each file that includes it.
grep -E '(error|warning):' $build.txt | sort -u || true
grep '^left out:' $build.txt || true
echo "clang-tidy: ${#files[@]} files, $(grep -c '^left out:' $build.txt) of them left out," \
  "$(grep -cE '(error|warning):' <(sort -u $build.txt)) findings"
exit $status
