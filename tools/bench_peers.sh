#!/usr/bin/env bash
# bench/peers.sh under the name that it had before the benchmarks got a folder.
exec "$(dirname "$0")/../bench/peers.sh" "$@"
