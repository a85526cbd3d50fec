#!/usr/bin/env bash
# Replaces the key of two processes every second while messages go both ways: none is lost, and no
# packet is refused. What ctest secured_attack_test does in short form. [TSS-045..050]
set -euo pipefail
. "$(dirname "$0")/../tools/lib.sh"

usage() {
  cat <<'HELP'
Usage: scripts/rollovers.sh BUILD [SECONDS]

BUILD is a build folder with the targets uet-fi and secured_attack_test; SECONDS (default 60) is how
long keys are replaced.
HELP
}
case ${1:-} in
  -h|--help) usage; exit 0 ;;
  "") usage >&2; exit 2 ;;
esac
build=$(realpath "$1")
export FI_PROVIDER_PATH=$build/prov/uet FI_PROVIDER=uet UET_ROLLOVERS=${2:-60} UET_ROLLOVER_MS=1000
"$build/prov/uet/secured_attack_test" --gtest_filter='SecuredRolloverTest.*'
