#!/usr/bin/env bash
# Runs libfabric's own tests (fabtests) over uet, server and client on one host or on two.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

usage() {
  cat <<'HELP'
Usage: tools/fabtests.sh [--bin DIR] [--build DIR] [--root DIR] [--netns] [--secured] [--mode MODE]
                         [--filter REGEX] [--repeat N] [--timeout S] [--json FILE] [--junit FILE]
                         [--keep] [--logs DIR]

Runs what tools/fabtests.txt names, with data verification where a program has it, prints a table,
and keeps the output of what failed. Build fabtests from libfabric's public source first; its
version should be that of the libfabric it runs with.

  --bin DIR       folder of the fabtests programs (default: where fi_rdm_pingpong is in PATH)
  --build DIR     build folder of uet (default build/release; built when absent)
  --root DIR      run in this root (scripts/debian13.sh makes one); --bin and --build are in it
  --netns         server and client on two hosts made of network namespaces (default: one host,
                  over 127.0.0.1 in a namespace of its own where that is allowed)
  --secured       with transport security: FI_UET_TSS=file and keys made for this run
  --mode MODE     how the ends find each other (default: default)
                    default  the client addresses node and service
                    oob      addresses are exchanged out of band (-E)
                    oobsync  and so are all barriers (-b)
                    all      one after the other
  --filter REGEX  only the lines of the list that match
  --repeat N      run the list N times
  --timeout S     seconds for one test (default 120)
  --json FILE     the results as JSON
  --junit FILE    the results as JUnit XML
  --keep          keep the output of tests that passed, too
  --logs DIR      where the output is kept (default: a new folder in TMPDIR)
  -h, --help      this text

Exit status: 0 when nothing failed, 1 otherwise, 2 wrong usage. A program that ends
with the status for "not offered" counts as failed, unless the list leaves it out with the reason.
HELP
}

args=() bin='' build=$root/build/release chroot='' netns=0 secured=0
while [ $# -gt 0 ]; do
  case $1 in
    --bin|--build|--root|--mode|--filter|--repeat|--timeout|--json|--junit|--logs)
      needs_value "$@"
      case $1 in
        --bin) bin=$2 ;;
        --build) build=$2 ;;
        --root) needs_folder "$@"; chroot=$(realpath "$2") ;;
        --repeat|--timeout) needs_number "$@"; args+=("$1" "$2") ;;
        *) args+=("$1" "$2") ;;
      esac
      shift ;;
    --netns) netns=1 ;;
    --secured) secured=1 ;;
    --keep) args+=("$1") ;;
    -h|--help) usage; exit 0 ;;
    *) unknown "$1" ;;
  esac
  shift
done

if [ -z "$bin" ]; then
  bin=$(command -v fi_rdm_pingpong) || die "no fabtests in PATH: give --bin"
  bin=$(dirname "$bin")
fi
in_root=()
if [ -n "$chroot" ]; then
  need_packages iproute2 python3
  in_root=(chroot "$chroot")
  args+=(--root "$chroot")
else
  need_packages "${build_packages[@]}" "${run_packages[@]}"
  bin=$(realpath "$bin")
  targets=(uet-fi)
  [ $secured -eq 0 ] || targets+=(uet_keys)
  if [ ! -e "$build/prov/uet/libuet-fi.so" ] ||
     { [ $secured -eq 1 ] && [ "$build" = "$root/build/release" ] &&
       [ ! -x "$build/tools/uet_keys" ]; }; then
    say "Building ${targets[*]} (build/release)"
    (cd "$root" && cmake --preset release -DBUILD_TESTING=OFF >/dev/null &&
      cmake --build --preset release --target "${targets[@]}")
    build=$root/build/release
  fi
  build=$(realpath "$build")
fi
[ -x "$chroot$bin/fi_rdm_pingpong" ] || die "no fi_rdm_pingpong in $chroot$bin"
[ -e "$chroot$build/prov/uet/libuet-fi.so" ] || die "no libuet-fi.so in $chroot$build/prov/uet"

version=$("${in_root[@]}" fi_info --version | awk '$1 == "libfabric:" { print $2 }')
say "fabtests of $bin over uet, libfabric $version"
keys=$(mktemp -d)
trap 'remove_hosts; rm -rf "$keys"' EXIT
[ $secured -eq 0 ] || secure "$build" "$keys"
hosts=(--server 127.0.0.1 --client 127.0.0.1)
if make_hosts; then
  hosts+=(--host-a "ip netns exec $host_a" --host-b "ip netns exec $host_a")
  if [ $netns -eq 1 ]; then
    hosts=(--server "$addr_a" --client "$addr_b"
      --host-a "ip netns exec $host_a" --host-b "ip netns exec $host_b")
  fi
elif [ $netns -eq 1 ]; then
  die "no network namespaces here"
fi
python3 "$root/tools/fabtests.py" --list "$root/tools/fabtests.txt" --data "$root/tools" \
  --bin "$bin" --provider "$build/prov/uet" --major "${version%%.*}" "${hosts[@]}" \
  ${args[@]+"${args[@]}"}
