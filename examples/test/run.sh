#!/usr/bin/env bash
# Runs one of the examples against itself over loopback: the listening side, then the other one.
# Both must end well, having said what they do.
set -uo pipefail
[ $# -eq 1 ] || { echo "Usage: run.sh PROGRAM" >&2; exit 2; }
program=$1
# An address of its own for each example, so that tests run side by side.
address=127.0.48.$((1 + $(printf '%s' "$(basename "$program")" | cksum | cut -d' ' -f1) % 200))
out=$(mktemp -d)
server=
finish() {
  [ -z "$server" ] || kill "$server" 2>/dev/null
  rm -rf "$out"
}
trap finish EXIT
fail() {
  echo "FAILED: $*"
  cat "$out"/*
  exit 1
}

"$program" >/dev/null 2>&1
[ $? -eq 2 ] || fail "wrong usage is not said"
"$program" -l "$address" >"$out/server" 2>&1 &
server=$!
tries=0
until grep -qs waiting "$out/server"; do
  [ $((tries += 1)) -le 200 ] || fail "the server does not start"
  sleep 0.05
done
timeout 60 "$program" "$address" >"$out/client" 2>&1 || fail "the client ended with status $?"
wait "$server" || fail "the server ended with status $?"
server=
grep -Eq ' octets: [0-9.]+ us each| octets are in place' "$out/client" || fail "no result"
cat "$out/client"
