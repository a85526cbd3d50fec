#!/usr/bin/env bash
# Builds the provider against the libfabric of a later Debian, with what this machine has, and lets
# a few programs and tests run over the two.
set -euo pipefail
. "$(dirname "$0")/../tools/lib.sh"

usage() {
  cat <<'HELP'
Usage: scripts/newest_libfabric.sh [--suite NAME] [--folder DIR] [-j N]

A step of tools/test.sh, which takes a minute; scripts/debian13.sh does the same in a whole
Debian 13, with its compiler and every test, and takes six times that only to make and fill its
root.
  1. downloads libfabric of a later Debian and the libraries it needs (10 MB) with apt-get, from
     where this machine has its own packages, and unpacks them; nothing is installed
  2. builds the provider and the tests that only later releases have, not optimised, against it
  3. runs them, fi_info and fi_pingpong with that libfabric and the C library it came with; and,
     where it has lnx, tagged messages over lnx, which links shm and uet
Needs no root.

  --suite NAME  the Debian (default trixie, which is 13 and has libfabric 2.1)
  --folder DIR  where that lies (default build/newest); what was unpacked there is used again
  -j N          parallel jobs (default: all processors)
  -h, --help    this text

Exit status: 0 when everything passed, 1 when something failed, 2 wrong usage, 77 when it is
skipped: this system is not Debian, its archive cannot be reached, or its libfabric is as new.
HELP
}

suite=trixie folder=$root/build/newest jobs=$(nproc)
while [ $# -gt 0 ]; do
  case $1 in
    --suite|--folder|-j)
      needs_value "$@"
      case $1 in
        --suite) suite=$2 ;;
        --folder) folder=$(realpath -m "$2") ;;
        -j) needs_number "$@"; jobs=$2 ;;
      esac
      shift ;;
    -h|--help) usage; exit 0 ;;
    *) unknown "$1" ;;
  esac
  shift
done

skip() { echo "SKIPPED: $*"; exit 77; }
for tool in apt-get dpkg-deb pkg-config; do
  command -v "$tool" >/dev/null || skip "$tool is not installed"
done

# apt's state and settings are in the folder, so that those of the machine do not change.
packages=$folder/$suite apt=$folder/apt
apt_get() {
  LC_ALL=C apt-get -qq -o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt/cache" \
    -o Dir::State::status=/dev/null -o Dir::Etc::SourceList="$apt/debian.sources" \
    -o Dir::Etc::SourceParts=/dev/null -o APT::Sandbox::User= -o Debug::NoLocking=1 \
    -o Acquire::Languages=none -o Acquire::Retries=2 -o Acquire::http::Timeout=20 \
    -o APT::Update::Error-Mode=any "$@"
}
# The archive that this machine has its own packages from; empty: none of Debian.
archive() {
  # shellcheck disable=SC2016  # apt's
  . /etc/os-release && [ "${ID:-}" = debian ] &&
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
      "Release: $VERSION_CODENAME" 'Component: main' | head -n 1
}
# apt's messages without a connection; any other message is a failure.
no_network='Could not resolve|Temporary failure resolving|Could not connect|Unable to connect'
no_network+='|Connection (failed|refused|timed out)|Network is unreachable|No route to host'
# download SITE
download() {
  local site=$1
  rm -rf "$apt" "$packages"
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
  printf '%s\n' 'Types: deb' "URIs: $site" "Suites: $suite" 'Components: main' \
    'Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg' >"$apt/debian.sources"
  apt_get update && apt_get install -y --no-install-recommends --download-only \
    libfabric-dev libfabric-bin libstdc++6
}
if [ ! -e "$packages/complete" ]; then
  say "libfabric of $suite"
  site=$(archive) || site=''
  [ -n "$site" ] || skip "this machine has no packages of Debian's archive"
  if ! download "$site" >"$folder.log" 2>&1; then
    cat "$folder.log"
    ! grep -qE "$no_network" "$folder.log" || skip "$site cannot be reached"
    die "the packages of $suite could not be downloaded"
  fi
  for package in "$apt"/cache/archives/*.deb; do dpkg-deb -x "$package" "$packages"; done
  rm -rf "$apt" "$folder.log"
  touch "$packages/complete"
fi

# Paths of other machines have other names between lib and libfabric.so.1.
libraries=$(dirname "$(ls "$packages"/usr/lib/*/libfabric.so.1)")
loader=$(ls "$libraries"/ld-linux*.so.*)
sed "s|^prefix=.*|prefix=$packages/usr|" "$libraries/pkgconfig/libfabric.pc" >"$folder/libfabric.pc"
there=$(PKG_CONFIG_PATH=$folder pkg-config --modversion libfabric)
here=$(pkg-config --modversion libfabric)
[ "$(printf '%s\n%s\n' "$there" "$here" | sort -V | tail -n 1)" != "$here" ] ||
  skip "this machine has libfabric $here, $suite $there"

# Tests of the provider that are about releases, and one of each kind of traffic.
tests=(versions_test auth_key_test directed_test message_test)
peer_tests=(peer_test peer_turn_test peer_close_test)
say "The provider with libfabric $there"
build=$folder/build
export PKG_CONFIG_PATH=$folder
# The library needs a newer C library than the one that is linked with here.
(cd "$root" && cmake --preset dev -B "$build" -DCMAKE_CXX_FLAGS_RELWITHDEBINFO='-O0 -g0' \
  -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=8 \
  -DCMAKE_EXE_LINKER_FLAGS=-Wl,--allow-shlib-undefined >/dev/null)
cmake --build "$build" -j "$jobs" --target uet-fi "${tests[@]}" "${peer_tests[@]}"

# Programs of that release, under their names.
programs=$folder/programs
mkdir -p "$programs"
for program in fi_info fi_pingpong; do
  printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" "$@"\n' \
    "$loader" "$libraries" "$packages/usr/bin/$program" >"$programs/$program"
  chmod +x "$programs/$program"
done
provider=$build/prov/uet system=$root/prov/uet/test/system
failed=0
# check NAME COMMAND...
check() {
  local name=$1
  shift
  if PATH=$programs:$PATH "$@" >"$folder/check.txt" 2>&1; then
    echo "passed: $name"
  else
    echo "FAILED: $name: $*"
    tail -n 40 "$folder/check.txt"
    failed=1
  fi
}
say "fi_info, fi_pingpong and tests with libfabric $there"
for case in info loopback; do check "$case" "$system/pingpong.sh" "$case" "$provider"; done
export FI_PROVIDER_PATH=$provider FI_PROVIDER=uet
there_runs() { timeout 180 "$loader" --library-path "$libraries" "$@"; }
for name in "${tests[@]}"; do check "$name" there_runs "$provider/$name"; done
# Without the test that waits until a peer is given up.
for name in "${peer_tests[@]}"; do
  check "$name" there_runs "$provider/$name" --gtest_filter='-PeerLost*'
done
unset FI_PROVIDER
if there_runs "$packages/usr/bin/fi_info" -l | grep -q '^lnx:'; then
  cmake --build "$build" -j "$jobs" --target lnx_test
  FI_LNX_PROV_LINKS=shm+uet FI_LNX_DISABLE_SHM=1 FI_UET_IFACE=127.0.0.1 \
    check 'lnx, uet alone' there_runs "$provider/lnx_test"
else
  echo "SKIPPED: libfabric $there has no lnx"
fi
exit $failed
