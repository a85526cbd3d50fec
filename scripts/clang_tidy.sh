#!/usr/bin/env bash
# Runs clang-tidy, as .clang-tidy says, over the stack, its programs and the Wireshark plugin.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/../tools/lib.sh"

usage() {
  cat <<'HELP'
Usage: scripts/clang_tidy.sh [-j N] [FILE.cpp...]

Looks at the files given, or at each .cpp but the tests and the fuzz targets, and at the headers
that these include. It takes some 25 minutes of processor time. Installs clang-tidy, and what the
build needs, when root.

  -j N          parallel jobs (default: all processors)
  -h, --help    this text

Exit status: 0 without a finding, 1 with one, 2 wrong usage.
HELP
}

jobs=$(nproc) files=()
while [ $# -gt 0 ]; do
  case $1 in
    -j) needs_number "$@"; jobs=$2; shift ;;
    -h|--help) usage; exit 0 ;;
    -*) unknown "$1" ;;
    *) [ -f "$1" ] || misuse "there is no file $1"; files+=("$(realpath "$1")") ;;
  esac
  shift
done
need_packages "${build_packages[@]}" wireshark-dev libgcrypt20-dev libbenchmark-dev clang \
  clang-tidy
cd "$root"
build=build/clang-tidy
mkdir -p build
cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
  -DBUILD_TESTING=OFF -DCMAKE_UNITY_BUILD=OFF -DCMAKE_CXX_COMPILER=clang++ >$build.log 2>&1 ||
  { tail -n 20 $build.log; die "cannot configure"; }
if [ ${#files[@]} -eq 0 ]; then
  mapfile -t files < <(find base wire cms pds ses tss fep keys io sim prov conformance dissector \
    tools bench -name '*.cpp' ! -path '*/test/*' | sort)
fi
status=0
printf '%s\0' "${files[@]}" |
  xargs -0 -P "$jobs" -n 4 clang-tidy -p $build --quiet >$build.txt 2>/dev/null || status=1
# A header's finding comes once for each file that includes it.
grep -E '(error|warning):' $build.txt | sort -u || true
echo "clang-tidy: ${#files[@]} files, $(grep -cE '(error|warning):' <(sort -u $build.txt)) findings"
exit $status
