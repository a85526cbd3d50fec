#!/usr/bin/env bash
# network.sh BUILD: bench/network.py runs both ways, and its figures make sense. Skipped where
# network namespaces are not allowed.
set -euo pipefail
. "$(dirname "$0")/../../tools/lib.sh"
build=$1

need_hosts
remove_hosts
for tool in nft ethtool tc; do
  command -v $tool >/dev/null || { echo "SKIPPED: $tool is missing"; exit 77; }
done

measure() {
  python3 "$root/bench/network.py" --build "$build" --rounds 1 --mtu 9000 --peers uet "$@"
}

say "one sender, 1 % of the packets lost"
table=$(measure loss --loss 1 --seconds 3)
echo "$table"
awk -F'|' '/ 1 % / {found = 1; if ($4 + 0 <= 0) exit 1} END {exit !found}' <<<"$table"

tap=uet-tap-$$
if ip netns add $tap && ip netns exec $tap ip tuntap add dev p0 mode tap 2>/dev/null; then
  say "the same with a round trip of 400 us"
  table=$(measure loss --loss 1 --seconds 3 --delay-us 200)
  echo "$table"
  awk -F'|' '/ 1 % / {found = 1; if ($4 + 0 <= 0) exit 1} END {exit !found}' <<<"$table"
else
  say "a round trip of 400 us: SKIPPED: no TAP devices"
fi
ip netns del $tap

say "three senders behind a port of 100 Mbit/s"
table=$(measure incast --senders 3 --port 100 --cc nscc --seconds 3)
echo "$table"
awk -F'|' '/ uet nscc / {found = 1; if ($4 < 0.3 || $4 > 1 || $5 < 0.5) exit 1}
  END {exit !found}' <<<"$table"
