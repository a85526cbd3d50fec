# shellcheck shell=bash
# Shared by the scripts of this folder: packages, and a pair of test hosts made of network
# namespaces. Source it; it does nothing by itself.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '\n== %s\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# What is wrong with the command line, in one line; exit status 2. The checks take "$@", an option
# and what follows it.
misuse() { printf '%s: %s (see --help)\n' "${0##*/}" "$*" >&2; exit 2; }
unknown() {
  case $1 in
    -*) misuse "unknown option $1" ;;
    *) misuse "unexpected argument $1" ;;
  esac
}
needs_value() { [ $# -gt 1 ] || misuse "$1 needs a value"; }
needs_number() {
  [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || misuse "$1 needs a number above 0"
}
needs_folder() {
  needs_value "$@"
  [ -d "$2" ] || misuse "$1: there is no folder $2"
}

# Packages of Debian 12 (and later) that building and testing need.
build_packages=(g++ cmake ninja-build pkg-config git libfabric-dev libgtest-dev libcli11-dev
  nlohmann-json3-dev libssl-dev libtomlplusplus-dev
  liburing-dev)
run_packages=(libfabric-bin iproute2 procps python3)
test_packages=(ccache tshark valgrind util-linux nftables ethtool wireshark-dev libgcrypt20-dev
  node-d3 openmpi-bin python3-mpi4py libbenchmark-dev)
# The same for Fedora, for .github/workflows/ci.yml. It has no package of D3.
fedora_packages=(gcc-c++ cmake ninja-build pkgconf-pkg-config git libfabric-devel gtest-devel
  cli11-devel json-devel openssl-devel tomlplusplus-devel liburing-devel
  libfabric iproute procps-ng python3
  ccache wireshark-cli valgrind util-linux nftables ethtool wireshark-devel libgcrypt-devel
  openmpi python3-mpi4py-openmpi google-benchmark-devel diffutils findutils gawk)

# need_packages NAME...: installs what is missing. Without root it names what to install and stops.
need_packages() {
  local missing=() p
  if ! command -v dpkg-query >/dev/null; then
    say "This system is not Debian: install the counterparts of these packages: $*"
    return 0
  fi
  for p in "$@"; do
    dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  [ "$(id -u)" -eq 0 ] || die "missing packages: ${missing[*]}; install them, or run as root"
  say "Installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# Two hosts joined by a cable: namespaces $host_a and $host_b, with addresses $addr_a, $addr_b (and
# $addr6_a, $addr6_b). make_hosts returns non-zero, having changed nothing, where it may not.
host_a=uet-a-$$ host_b=uet-b-$$
addr_a=10.47.93.1 addr_b=10.47.93.2
addr6_a=fd47:93::1 addr6_b=fd47:93::2
hosts_mtu=9000

make_hosts() {
  ip netns add "$host_a" 2>/dev/null || return 1
  if ! ip netns add "$host_b" 2>/dev/null ||
     ! ip -n "$host_a" link add veth-uet type veth peer name veth-uet netns "$host_b" \
       2>/dev/null; then
    remove_hosts
    return 1
  fi
  local ns
  for ns in "$host_a" "$host_b"; do
    ip -n "$ns" link set lo up
    ip -n "$ns" link set veth-uet mtu "$hosts_mtu" up
    ip netns exec "$ns" sysctl -q -w net.ipv6.conf.veth-uet.accept_dad=0 2>/dev/null || true
  done
  ip -n "$host_a" addr add "$addr_a/24" dev veth-uet
  ip -n "$host_b" addr add "$addr_b/24" dev veth-uet
  ip -n "$host_a" addr add "$addr6_a/64" dev veth-uet nodad
  ip -n "$host_b" addr add "$addr6_b/64" dev veth-uet nodad
}

# For tests: exit status 77, skipped, where the privilege is missing. With it, hosts that cannot be
# made are a failure, not a reason to skip.
need_hosts() {
  make_hosts && return 0
  local capabilities net_admin=12 sys_admin=21
  capabilities=$((16#$(awk '/^CapEff:/ {print $2}' /proc/self/status)))
  if ((capabilities >> net_admin & capabilities >> sys_admin & 1)); then
    die "the network namespaces could not be made"
  fi
  echo "SKIPPED: network namespaces need CAP_SYS_ADMIN and CAP_NET_ADMIN"
  exit 77
}

remove_hosts() {
  ip netns del "$host_a" 2>/dev/null
  ip netns del "$host_b" 2>/dev/null
  return 0
}

# on A|B COMMAND...: runs it on that host.
on() {
  local ns=$host_a
  [ "$1" = B ] && ns=$host_b
  shift
  ip netns exec "$ns" "$@"
}

# secure BUILD FOLDER: makes keys in FOLDER with BUILD's uet_keys; what runs from here on seals its
# packets with them.
secure() {
  local keys=$1/tools/uet_keys
  [ -x "$keys" ] || die "no $keys: build the target uet_keys"
  "$keys" counters --quiet "$2/counters" && "$keys" generate --quiet "$2/keys.toml" --sdi 7
  export FI_UET_TSS=file FI_UET_TSS_KEYS=$2/keys.toml FI_UET_TSS_COUNTERS=$2/counters
}
