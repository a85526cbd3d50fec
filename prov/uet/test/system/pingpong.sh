#!/usr/bin/env bash
# fi_pingpong and fi_info over uet as a user runs them: one case per call, on loopback or between
# two network namespaces that the case makes and removes. Exit 77: not allowed on this machine.
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../../../tools/lib.sh"

usage() {
  cat <<'HELP'
Usage: pingpong.sh CASE PROVIDER-DIR

Cases: info loopback loopback6 tagged hosts hosts6 hosts_small_mtu packet packet_local xdp loss1
       loss10 four_pairs unprivileged datagram datagram_hosts mtu_mismatch mtu_route mtu_local
       system_buffers capture secured lossy_rud lossy_rod valgrind

lossy_*: for the tests of the dissector; UET_PRELOAD is counters_at_close, and $UET_CAPTURE.pcapng
and $UET_CAPTURE.json are what it leaves: a capture of the client and the client's counters.
HELP
}
[ $# -eq 2 ] || { usage >&2; exit 2; }
case_name=$1
export FI_PROVIDER_PATH=$2
command -v fi_pingpong >/dev/null || { echo "SKIPPED: fi_pingpong is not installed"; exit 77; }

out=$(mktemp -d)
servers=()
finish() {
  local pid
  for pid in ${servers[@]+"${servers[@]}"}; do kill "$pid" 2>/dev/null; done
  remove_hosts
  rm -rf "$out"
}
trap finish EXIT

fail() {
  echo "FAILED: $*"
  tail -n 15 "$out"/*.txt
  exit 1
}

need() { command -v "$1" >/dev/null || { echo "SKIPPED: $1 is not installed"; exit 77; }; }
need_linux() {
  [ "$(printf '%s\n%s\n' "$1" "$(uname -r)" | sort -V | head -n 1)" = "$1" ] ||
    { echo "SKIPPED: Linux $1 is needed"; exit 77; }
}

# [ABI-030] As fi_pingpong asks and in the order in which it opens.
# pair NAME SERVER-PREFIX CLIENT-PREFIX ADDRESS ARGUMENTS...: one checked ping-pong; the last line
# of the client must be a result row. $control_port: the TCP port that fi_pingpong coordinates on.
# One of its own for each case, so that cases can run side by side. $wrapped: what fi_pingpong
# itself, and not its time limit, runs under.
wrapped=()
# $endpoint: the type of endpoint.
endpoint=rdm
control_port=$((47600 + $(printf '%s' "$case_name" | cksum | cut -d' ' -f1) % 800))
pair() {
  local name=$1 prefix_a=$2 prefix_b=$3 address=$4
  shift 4
  # shellcheck disable=SC2086
  $prefix_a timeout 100 ${wrapped[@]+"${wrapped[@]}"} \
    fi_pingpong -p uet -e "$endpoint" -c "$@" -B "$control_port" \
    >"$out/$name-server.txt" 2>&1 &
  local server=$!
  servers+=("$server")
  local tries=0
  # shellcheck disable=SC2086
  until $prefix_a ss -Hltn "sport = :$control_port" | grep -q .; do
    [ $((tries += 1)) -le 300 ] || fail "$name: the server does not listen"
    sleep 0.1
  done
  # shellcheck disable=SC2086
  $prefix_b timeout 100 ${wrapped[@]+"${wrapped[@]}"} \
    fi_pingpong -p uet -e "$endpoint" -c "$@" -P "$control_port" "$address" \
    >"$out/$name-client.txt" 2>&1 ||
    fail "$name: the client ended with status $?"
  wait "$server" || fail "$name: the server ended with status $?"
  # Later releases log their own end, at the level that logs everything.
  grep -v '^libfabric:' "$out/$name-client.txt" | tail -n 1 | grep -Eq '^ *[0-9.]+[kmg]? ' ||
    fail "$name: no result row"
  tail -n 1 "$out/$name-client.txt"
}

on_a() { printf 'ip netns exec %s' "$host_a"; }
on_b() { printf 'ip netns exec %s' "$host_b"; }

case $case_name in
  info)  # [ABI-029, ABI-018]
    fi_info -p uet >"$out/info.txt" 2>&1 || fail "fi_info"
    grep -q '^provider: uet' "$out/info.txt" || fail "no provider line"
    grep -q 'type: FI_EP_RDM' "$out/info.txt" || fail "no RDM endpoint"
    fi_info -p uet -v >"$out/verbose.txt" 2>&1 || fail "fi_info -v"
    grep -q 'FI_TAGGED' "$out/verbose.txt" || fail "no FI_TAGGED"
    fi_info -e -g uet >"$out/params.txt" 2>&1
    grep -q 'FI_UET_PEER_TIMEOUT' "$out/params.txt" || fail "a parameter is not listed" ;;
  loopback) pair v4 "" "" 127.0.0.1 -S all -I 20 ;;
  loopback6) FI_UET_IFACE=::1 pair v6 "" "" ::1 -6 -I 200 ;;
  tagged) pair tagged "" "" 127.0.0.1 -m tagged -S all -I 20 ;;
  hosts) need_hosts; FI_UET_IO=udp pair hosts "$(on_a)" "$(on_b)" "$addr_a" -S all -I 20 ;;
  hosts6) need_hosts; FI_UET_IO=udp pair hosts6 "$(on_a)" "$(on_b)" "$addr6_a" -6 -I 200 ;;
  hosts_small_mtu)
    hosts_mtu=1500
    need_hosts
    FI_UET_IO=udp pair small "$(on_a)" "$(on_b)" "$addr_a" -S all -I 10 ;;
  auto)  # packet sockets where they bypass no rule, else UDP sockets
    need_linux 6.2
    need_hosts
    export FI_LOG_LEVEL=info
    pair free "$(on_a)" "$(on_b)" "$addr_a" -S all -I 20
    for end in server client; do
      grep -q 'veth-uet: packet sockets' "$out/free-$end.txt" || fail "no packet sockets: $end"
    done
    # shellcheck disable=SC2046
    $(on_a) ip xfrm policy add src 10.255.0.0/16 dst 10.255.0.0/16 dir out 2>/dev/null || {
      echo "left out: this kernel has no IPsec"
      exit 0
    }
    pair policy "$(on_a)" "$(on_b)" "$addr_a" -S all -I 20
    grep -q 'UDP sockets: there are IPsec policies' "$out/policy-server.txt" ||
      fail "packet sockets pass by IPsec"
    grep -q 'veth-uet: packet sockets' "$out/policy-client.txt" ||
      fail "the other host has no policy" ;;
  packet)  # below the IP stack on both sides, or on one of them
    need_linux 6.2
    need_hosts
    export FI_LOG_LEVEL=warn
    FI_UET_IO=packet pair both "$(on_a)" "$(on_b)" "$addr_a" -S all -I 20
    FI_UET_IO=packet pair both6 "$(on_a)" "$(on_b)" "$addr6_a" -6 -I 200
    udp="env FI_UET_IO=udp" packet="env FI_UET_IO=packet"
    pair server "$(on_a) $packet" "$(on_b) $udp" "$addr_a" -S all -I 20
    pair client "$(on_a) $udp" "$(on_b) $packet" "$addr_a" -m tagged -S all -I 20 ;;
  packet_local)  # two processes of one address see the same frames, and each takes its own
    need_linux 6.2
    need_hosts
    FI_LOG_LEVEL=warn FI_UET_IO=packet pair one "$(on_a)" "$(on_a)" "$addr_a" -S all -I 20
    FI_LOG_LEVEL=warn FI_UET_IO=packet pair lo "$(on_a)" "$(on_a)" 127.0.0.1 -S all -I 20 ;;
  xdp)  # [LF-144] by AF_XDP on both sides, or on one of them
    need_hosts
    ctl=$FI_PROVIDER_PATH/../../tools/uet_ctl
    [ -x "$ctl" ] || { echo "SKIPPED: no uet_ctl"; exit 77; }
    FI_UET_IO=xdp $(on_a) "$ctl" doctor >"$out/doctor.txt" 2>&1
    if grep 'FI_UET_IO=xdp opens no domain' "$out/doctor.txt"; then
      echo "SKIPPED: no AF_XDP"
      exit 77
    fi
    export FI_LOG_LEVEL=info
    xdp="env FI_UET_IO=xdp"
    pair both "$(on_a) $xdp" "$(on_b) $xdp" "$addr_a" -S all -I 10
    for end in server client; do
      grep -q 'veth-uet: AF_XDP in the driver, copied, receive queues: 1' "$out/both-$end.txt" ||
        fail "no AF_XDP: $end"
    done
    for host in "$host_a" "$host_b"; do
      ip -n "$host" link show dev veth-uet >"$out/link.txt"
      grep xdp "$out/link.txt" && fail "a program was left behind"
    done
    pair both6 "$(on_a) $xdp" "$(on_b) $xdp" "$addr6_a" -6 -I 200
    ip="env FI_UET_IO=ip"  # without UDP: raw sockets, packet sockets and AF_XDP are peers
    pair native "$(on_a) $ip-xdp" "$(on_b) $ip-xdp" "$addr_a" -S all -I 10
    pair native_packet "$(on_a) $ip-xdp" "$(on_b) $ip-packet" "$addr_a" -S 100000 -I 20
    pair native_raw6 "$(on_a) $ip-packet" "$(on_b) $ip" "$addr6_a" -6 -S 100000 -I 20
    export FI_LOG_LEVEL=warn
    pair lossy "$(on_a) $xdp FI_UET_FAULT=loss=0.01,dup=0.01,reorder=0.01" "$(on_b) $xdp" \
      "$addr_a" -m tagged -S 1048576 -I 20
    for other in udp packet; do
      pair "server-$other" "$(on_a) $xdp" "$(on_b) env FI_UET_IO=$other" "$addr_a" -S all -I 10
      pair "client-$other" "$(on_a) env FI_UET_IO=$other" "$(on_b) $xdp" "$addr_a" -S all -I 10
    done
    # Two processes of one host: the second has another backend, and another port.
    pair local "$(on_a) $xdp FI_UET_SHM=off" "$(on_a) env FI_UET_IO=udp FI_UET_SHM=off" "$addr_a" \
      -S 65536 -I 20
    keys=$FI_PROVIDER_PATH/../../tools/uet_keys
    [ -x "$keys" ] || { echo "left out: no uet_keys"; exit 0; }
    "$keys" counters -q "$out/counters" || fail "no counters"
    "$keys" generate -q "$out/keys.toml" --sdi 7 || fail "no keys"
    export FI_UET_TSS=file FI_UET_TSS_KEYS=$out/keys.toml FI_UET_TSS_COUNTERS=$out/counters
    pair secured "$(on_a) $xdp" "$(on_b) $xdp" "$addr_a" -S 100000 -I 20 ;;
  loss1) FI_UET_FAULT=loss=0.01 pair loss1 "" "" 127.0.0.1 -S 1048576 -I 20 ;;
  loss10) FI_UET_FAULT=loss=0.1 pair loss10 "" "" 127.0.0.1 -S 65536 -I 50 ;;
  four_pairs)
    pids=()
    for i in 1 2 3 4; do
      (
        trap - EXIT
        control_port=$((48500 + i))
        pair "pair$i" "" "" 127.0.0.1 -S 65536 -I 200
      ) &
      pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid" || fail "one of four pairs"; done ;;
  unprivileged)  # no capability, no configuration; both share loopback
    need setpriv
    nobody='setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set -all'
    [ "$(id -u)" -eq 0 ] || nobody=
    mkdir "$out/lib"
    cp "$FI_PROVIDER_PATH/libuet-fi.so" "$out/lib"
    chmod 755 "$out" "$out/lib"
    FI_PROVIDER_PATH=$out/lib pair nobody "$nobody" "$nobody" 127.0.0.1 -I 200 ;;
  datagram)  # fi_pingpong's default endpoint; nothing is lost on loopback, so it does not stall
    endpoint=dgram
    pair datagram "" "" 127.0.0.1 -S 8192 -I 200
    pair small "" "" 127.0.0.1 -S 64 -I 2000 ;;
  datagram_hosts)
    need_hosts
    endpoint=dgram
    pair datagram "$(on_a)" "$(on_b)" "$addr_a" -S 1024 -I 200
    pair datagram6 "$(on_a)" "$(on_b)" "$addr6_a" -6 -S 1024 -I 200 ;;
  mtu_mismatch)  # each end of the cable has its own MTU; the exchanged addresses settle it [LF-131]
    need_hosts
    export FI_LOG_LEVEL=info
    ip -n "$host_a" link set veth-uet mtu 1500
    pair server "$(on_a)" "$(on_b)" "$addr_a" -S 65536 -I 10
    grep -q 'packets carry 1024 octets, those to others 8192 ' "$out/server-client.txt" ||
      fail "the difference is not said"
    ip -n "$host_a" link set veth-uet mtu 9000
    ip -n "$host_b" link set veth-uet mtu 1500
    pair client "$(on_a)" "$(on_b)" "$addr_a" -S 65536 -I 10
    pair setting "$(on_a)" "$(on_b) env FI_UET_PAYLOAD_MTU=8192" "$addr_a" -S 1024 -I 10 ;;
  mtu_route)  # both interfaces take more than the route between them [LF-140]
    need_hosts
    export FI_LOG_LEVEL=info
    ip -n "$host_a" route change "$addr_b/24" dev veth-uet src "$addr_a" mtu 1500 2>/dev/null ||
      ip -n "$host_a" route replace "$addr_b/32" dev veth-uet src "$addr_a" mtu 1500
    ip -n "$host_b" route replace "$addr_a/32" dev veth-uet src "$addr_b" mtu 1500
    pair route "$(on_a)" "$(on_b)" "$addr_a" -S 65536 -I 10
    for end in client server; do
      grep -q 'packets carry 1024 octets, those to others 8192 (route: 1500)' \
        "$out/route-$end.txt" || fail "the route was not asked: $end"
    done ;;
  mtu_local)  # packets of one host take lo, whatever address they name [LF-140]
    hosts_mtu=1500
    need_hosts
    export FI_LOG_LEVEL=info
    for io in udp auto; do
      export FI_UET_IO=$io
      pair "$io" "$(on_a)" "$(on_a)" "$addr_a" -S 1048576 -I 10
      grep -q 'packets carry 8192 octets, those to others 1024 ' "$out/$io-client.txt" ||
        fail "$io: small packets within one host"
    done
    unset FI_UET_IO
    # A process keeps to the size that was configured.
    pair told "$(on_a)" "$(on_a) env FI_UET_PAYLOAD_MTU=2048" "$addr_a" -S 65536 -I 10
    grep -q 'packets carry 2048 octets, those to others 1024 ' "$out/told-server.txt" ||
      fail "the setting of the peer is not kept" ;;
  system_buffers)  # the kernel's default buffer must carry long messages, too
    need tshark
    FI_UET_SOCKBUF=0 FI_UET_PCAP=$out/%p.pcapng pair buffers "" "" 127.0.0.1 -S 1048576 -I 20
    for capture in "$out"/*.pcapng; do
      tshark -r "$capture" -T fields -e udp.payload 2>/dev/null | cut -c1-4
    done | python3 -c '
import sys
words = [int(line, 16) for line in sys.stdin if line.strip()]
requests = [w for w in words if w >> 11 in (2, 3, 13, 14)]
again = sum(w >> 4 & 1 for w in requests)
print(len(requests), "requests,", again, "sent again")
sys.exit(not (len(requests) > 5000 and again * 20 < len(requests)))
' || fail "more than 5 % of the packets were sent again" ;;
  capture)
    need tshark
    need_hosts
    FI_UET_PCAP=$out/%p.pcapng pair capture "$(on_a)" "$(on_b)" "$addr_a" -S 4096 -I 10
    captures=("$out"/*.pcapng)
    [ ${#captures[@]} -eq 2 ] || fail "${#captures[@]} captures of two processes"
    for capture in "${captures[@]}"; do
      grep -aq 'fi_pingpong, process [0-9]' "$capture" || fail "no comment on who captured"
      for from in "$addr_a" "$addr_b"; do
        filter="ip.src == $from && udp.dstport == 4793"
        count=$(tshark -r "$capture" -Y "$filter" 2>/dev/null | wc -l)
        [ "$count" -ge 10 ] || fail "$count packets to UDP port 4793 from $from"
      done
    done ;;
  secured)  # docs/howto/keys.md, over each backend and IP version
    keys=$FI_PROVIDER_PATH/../../tools/uet_keys
    [ -x "$keys" ] || { echo "SKIPPED: no uet_keys"; exit 77; }
    need_linux 6.2
    need_hosts
    "$keys" counters -q "$out/counters" || fail "no counters"
    "$keys" generate -q "$out/keys.toml" --sdi 7 || fail "no keys"
    export FI_UET_TSS=file FI_UET_TSS_KEYS=$out/keys.toml FI_UET_TSS_COUNTERS=$out/counters
    FI_UET_IO=udp pair udp "$(on_a)" "$(on_b)" "$addr_a" -S all -I 3
    FI_UET_IO=udp pair udp6 "$(on_a)" "$(on_b)" "$addr6_a" -6 -S 10000 -I 20
    FI_UET_IO=packet pair packet "$(on_a)" "$(on_b)" "$addr_a" -S 100000 -I 20
    FI_UET_IO=packet pair packet6 "$(on_a)" "$(on_b)" "$addr6_a" -6 -S 10000 -I 20
    FI_UET_IO=ip pair ip "$(on_a)" "$(on_b)" "$addr_a" -S 100000 -I 20
    FI_UET_IO=ip pair ip6 "$(on_a)" "$(on_b)" "$addr6_a" -6 -S 10000 -I 20
    FI_UET_IO=ip-packet pair ippacket "$(on_a)" "$(on_b)" "$addr_a" -S 100000 -I 20
    FI_UET_IO=ip-packet pair ippacket6 "$(on_a)" "$(on_b)" "$addr6_a" -6 -S 10000 -I 20
    FI_UET_IO=uring pair uring "$(on_a)" "$(on_b)" "$addr_a" -S 100000 -I 20
    pair shm "" "" 127.0.0.1 -S 100000 -I 20
    endpoint=dgram
    pair datagrams "$(on_a)" "$(on_b)" "$addr_a" -S 64 -I 50 ;;
  lossy_*)  # packets lost, doubled, and with ROD refused
    [ -n "${UET_PRELOAD:-}" ] && [ -n "${UET_CAPTURE:-}" ] || { usage >&2; exit 2; }
    export FI_UET_MODE=${case_name#lossy_} FI_UET_ROD_REORDER=0 FI_UET_FAULT=loss=0.03,dup=0.01
    export FI_UET_IFACE=lo FI_UET_PAYLOAD_MTU=4096
    preload="env LD_PRELOAD=$UET_PRELOAD"
    pair lossy "$preload" \
      "$preload FI_UET_PCAP=$UET_CAPTURE.pcapng UET_COUNTERS=$UET_CAPTURE.json" 127.0.0.1 \
      -S 60000 -I 50
    [ -s "$UET_CAPTURE.json" ] || fail "no counters" ;;
  valgrind)  # no wild or uninitialised octet and no leak, from fi_getinfo to the last fi_close,
             # nor a wrong allocator for what libfabric frees [LF-103, ABI-023]
    need valgrind
    # Memory that is still reachable at the end belongs to the loader and to libfabric itself.
    wrapped=(valgrind --quiet --error-exitcode=9 --leak-check=full)
    # fi_pingpong gives its control connection five seconds (status 4), which is little under
    # valgrind on a busy machine: that alone is tried again.
    for try in 1 2 3 4 5; do
      (
        trap 'kill "${servers[@]}" 2>/dev/null; wait' EXIT
        pair messages "" "" 127.0.0.1 -m tagged -S 65536 -I 5
      ) >"$out/result.txt" && break
      grep -q 'Interrupted system call' "$out"/messages-*.txt && [ "$try" -lt 5 ] ||
        fail "fi_pingpong under valgrind"
    done
    grep -h '==' "$out"/messages-*.txt && fail "valgrind reports"
    cat "$out/result.txt" ;;
  *) usage >&2; exit 2 ;;
esac
echo "passed: $case_name"
