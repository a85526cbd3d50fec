#!/usr/bin/env bash
# Builds the provider twice: once to count what a ping-pong and a stream run through, and once
# optimised for those counts. Takes a third off the processor time of a small message.
set -euo pipefail
. "$(dirname "$0")/../tools/lib.sh"

usage() {
  cat <<'HELP'
Usage: bench/profiled_build.sh [--loopback]

Makes build/release-profiled from the release preset and the counts of a training run, which are
kept in build/profile. Install it, or point FI_PROVIDER_PATH at build/release-profiled/prov/uet.

The training runs fi_pingpong with 8 octets to 1 MiB: over loopback, and as root between two network
namespaces that it makes and removes, with both back ends (udp, packet), and with 1 % loss.
Needs g++ 12 or later.

  --loopback  do not make namespaces
  -h, --help  this text

Exit status: 0 when the provider was built and passed a ping-pong, 1 otherwise, 2 wrong usage.
HELP
}

loopback=0
while [ $# -gt 0 ]; do
  case $1 in
    --loopback) loopback=1 ;;
    -h|--help) usage; exit 0 ;;
    *) unknown "$1" ;;
  esac
  shift
done

need_packages "${build_packages[@]}" "${run_packages[@]}"
cd "$root"
trap remove_hosts EXIT

# build FOLDER MODE: the release preset with UET_PROFILE=MODE.
build() {
  cmake --preset release -B "build/$1" -DBUILD_TESTING=OFF -DUET_PROFILE="$2" \
    -DUET_PROFILE_DIR="$root/build/profile" >/dev/null
  cmake --build "build/$1" --target uet-fi raw_pingpong
  export FI_PROVIDER_PATH=$root/build/$1/prov/uet
}

# pingpong OCTETS ROUNDS: one training run; the server may have to be waited for.
pingpong() {
  local tool=(timeout 120 fi_pingpong -p uet -e rdm -c -S "$1" -I "$2")
  "${run_a[@]}" "${tool[@]}" >/dev/null 2>&1 &
  local server_pid=$! try status=1
  for try in 1 2 3 4 5; do
    sleep 0.5
    "${run_b[@]}" "${tool[@]}" "$server" >/dev/null 2>&1 && status=0 && break
  done
  wait "$server_pid" || status=1
  [ $status -eq 0 ] || die "fi_pingpong of $1 octets failed (try $try)"
}

train() {
  pingpong 8 20000
  pingpong 64 5000
  pingpong 4096 3000
  pingpong 65536 500
  pingpong 1048576 100
}

say "Building to count (build/profiling)"
rm -rf build/profile
build profiling record

run_a=() run_b=() server=127.0.0.1
say "Counting over loopback"
train
FI_UET_FAULT=loss=0.01 pingpong 4096 1000
if [ $loopback -eq 0 ] && make_hosts; then
  run_a=(ip netns exec "$host_a") run_b=(ip netns exec "$host_b") server=$addr_a
  for backend in udp packet; do
    say "Counting between two namespaces, FI_UET_IO=$backend"
    FI_UET_IO=$backend train
  done
fi

say "Building for these counts (build/release-profiled)"
build release-profiled use
pingpong 8 1000
say "Done: export FI_PROVIDER_PATH=$FI_PROVIDER_PATH"
