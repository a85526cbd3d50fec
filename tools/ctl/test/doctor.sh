#!/usr/bin/env bash
# `uet_ctl doctor` as a user runs it, on a host made of a network namespace whose troubles this
# script makes. Exit 77: no namespaces here.
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../lib.sh"
[ $# -eq 2 ] || { echo "Usage: doctor.sh UET_CTL PROVIDER-DIR" >&2; exit 2; }
uet_ctl=$1
export FI_PROVIDER_PATH=$2
unset FI_PROVIDER

out=$(mktemp -d)
holder=
finish() {
  [ -z "$holder" ] || kill "$holder" 2>/dev/null
  remove_hosts
  rm -rf "$out"
}
trap finish EXIT
need_hosts

failures=0
# says STATUS PATTERN WHAT [VARIABLE=VALUE...]: the doctor ends so and has a line like that.
says() {
  local status=$1 pattern=$2 what=$3
  shift 3
  on A env "$@" "$uet_ctl" doctor >"$out/text" 2>&1
  local got=$?
  [ $got -eq "$status" ] ||
    { echo "FAILED: $what: status $got, not $status"; cat "$out/text"; failures=$((failures + 1)); }
  grep -Eq "$pattern" "$out/text" ||
    { echo "FAILED: $what: no line like $pattern"; cat "$out/text"; failures=$((failures + 1)); }
}

# Linux 6.2 and CAP_NET_RAW, which a user who may make namespaces usually has.
may_use_packet_sockets() {
  [ "$(printf '6.2\n%s\n' "$(uname -r)" | sort -V | head -n 1)" = 6.2 ] &&
    [ $((16#$(awk '/^CapEff:/ {print $2}' /proc/self/status) >> 13 & 1)) -eq 1 ]
}

# The system's limits are the machine's, so no more is asked for than every system grants.
small=FI_UET_SOCKBUF=65536
on A "$uet_ctl" doctor >"$out/first" 2>&1
if grep -Eq '^(warning|fault) +(drops|ephemeral|files|firewall)' "$out/first"; then
  well=1  # this machine has such problems itself
else
  well=0
fi
says $well '^ok +provider +.*libuet-fi.so offers .*veth-uet' "a host that is well" $small
says $well '^ok +mtu +veth-uet: MTU 9000, packets carry 8192 octets' "its MTU" $small
says $well '^ok +ports +UDP 4793 of 10.47.93.1 is free, and 1024 places' "its ports" $small
says $well '^ok +addresses +10.47.93.1 on veth-uet, fd47:93::1 on veth-uet' "its addresses" $small
says $well '^ok +packet +UDP sockets everywhere' "UDP sockets" $small FI_UET_IO=udp
if may_use_packet_sockets && on A ip xfrm policy add src 10.255.0.0/16 dst 10.255.0.0/16 dir out
then
  says $well '^ok +packet +veth-uet: UDP sockets: there are IPsec policies' "IPsec" $small
  says $well '^ok +packet +veth-uet: packet sockets, because' "IPsec passed by" $small \
    FI_UET_IO=packet
  on A ip xfrm policy flush
  says $well '^ok +packet +veth-uet: packet sockets' "packet sockets" $small
fi
says $well '^ok +provider' "the usual setting" $small FI_PROVIDER=uet
says 1 '^warning +buffers +receive buffer: [0-9]+ octets of 1073741824' "too small a buffer" \
  FI_UET_SOCKBUF=1073741824
says 3 '^fault +provider +FI_PROVIDER=tcp leaves uet out' "a filter" FI_PROVIDER=tcp
says 3 '^fault +provider +no libuet-fi.so in FI_PROVIDER_PATH=/nowhere' "no provider" \
  FI_PROVIDER_PATH=/nowhere
says 1 '^warning +settings +FI_UET_MODE=fast is not valid, so the default is used' "a value" \
  $small FI_UET_MODE=fast
says 1 'fix: unset FI_UET_MODE, or set it to: auto, rud, rod or rudi, for example' \
  "its remedy" $small FI_UET_MODE=fast
says 3 '^fault +settings +FI_UET_JOB_ID=none is not valid, so the provider offers nothing' \
  "a value without a safe default" FI_UET_JOB_ID=none
says 1 '^warning +settings +FI_UET_PLAYLOAD_MTU is not a setting of uet' "a misspelt name" $small \
  FI_UET_PLAYLOAD_MTU=4096
says $well '^ok +settings +1 FI_UET_ variable is set and valid' "good settings" $small

on A "$uet_ctl" doctor --json >"$out/json" 2>&1
python3 - "$out/json" <<'EOF' || failures=$((failures + 1))
import json, sys
said = json.load(open(sys.argv[1]))
assert said["version"] == 1 and said["verdict"] in ("ok", "warning"), said
assert {"libfabric", "settings", "provider", "addresses", "mtu", "ports", "firewall", "buffers",
        "kernel", "packet"} <= {c["check"] for c in said["checks"]}, said
assert all(set(c) == {"check", "grade", "text", "remedy"} for c in said["checks"]), said
EOF

# Something that is not uet, with a known name.
ip netns exec "$host_a" python3 -c 'import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("10.47.93.1", 4793))
print("bound", flush=True); time.sleep(60)' >"$out/bound" &
holder=$!
tries=0
until grep -qs bound "$out/bound" || [ $((tries += 1)) -gt 200 ]; do sleep 0.1; done
says $well '^ok +ports +UDP 4793 of 10.47.93.1 is held by process [0-9]+ \(python3' \
  "a taken port" $small
says 3 '^fault +ports +.*FI_UET_STRICT_PORT=1' "a taken port that must be ours" $small \
  FI_UET_STRICT_PORT=1
kill "$holder"
holder=

if command -v iptables >/dev/null && on A iptables -A INPUT -p udp --dport 4793 -j DROP 2>/dev/null
then
  says 3 '^fault +firewall +IPv4: .* keeps UDP 4793 out' "a firewall" $small
  on A iptables -F INPUT
fi
if command -v nft >/dev/null && on A nft -f - <<'EOF'
table inet t { chain c { type filter hook input priority 0; udp dport 4793 drop
}
}
EOF
then
  says 3 '^fault +firewall +IPv6: inet t c keeps UDP 4793 out' "a firewall of nft" $small
  on A nft delete table inet t
fi

ip -n "$host_a" link set veth-uet mtu 1400
says 1 '^warning +mtu +veth-uet: MTU 1400, so packets carry 1024' "a small MTU" $small
ip -n "$host_a" link set veth-uet down
says 1 '^warning +addresses +only loopback is up' "no network" $small

[ $failures -eq 0 ] || exit 1
echo "passed: doctor"
