#!/usr/bin/env bash
# Replaces the key of two processes every second while messages go both ways: none is lost, and no
# packet is refused. What ctest secured_attack_test does in short form. [TSS-045..050]
set -euo pipefail
. "$(dirname "$0")/../tools/lib.sh"

usage() {
  cat <<'HELP'
Usage: scripts/rollovers.sh [--build DIR] [--seconds N]

Replaces keys while messages move, and checks that none is lost.

  --build DIR   build folder with the targets uet-fi and secured_attack_test (default: build/dev)
  --seconds N   how long (default: 60)
  -h, --help    this text

Exit status: 0 when nothing was lost, 2 wrong usage, another one otherwise.
HELP
}

build=$root/build/dev seconds=60
while [ $# -gt 0 ]; do
  case $1 in
    --build)
      [ -n "${2:-}" ] || misuse "--build needs a folder"
      build=$2; shift ;;
    --seconds) needs_number "$@"; seconds=$2; shift ;;
    -h|--help) usage; exit 0 ;;
    *) unknown "$1" ;;
  esac
  shift
done
[ -x "$build/prov/uet/secured_attack_test" ] ||
  die "no $build/prov/uet/secured_attack_test: cmake --build $build --target secured_attack_test"
export FI_PROVIDER_PATH=$build/prov/uet FI_PROVIDER=uet
export UET_ROLLOVERS=$seconds UET_ROLLOVER_MS=1000
"$build/prov/uet/secured_attack_test" --gtest_filter='SecuredRolloverTest.*'
