#!/usr/bin/env bash
# How libfabric finds the provider, and what the provider asks of libfabric: paths, names, filters
# and symbol versions. Needs no network. Exit 77: fi_info or nm is not installed.
set -uo pipefail

usage() { echo "Usage: loading.sh PROVIDER-DIR VERSION"; }
[ $# -eq 2 ] || { usage >&2; exit 2; }
built=$(cd "$1" && pwd)
for tool in fi_info nm; do
  command -v "$tool" >/dev/null || { echo "SKIPPED: $tool is not installed"; exit 77; }
done

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failures=0

# finds WHAT ENVIRONMENT...: fi_info must list uet with these variables; misses: it must not.
listed() { env "$@" fi_info -p uet 2>/dev/null | grep '^provider: uet$' >/dev/null; }
finds() {
  local what=$1
  shift
  listed "$@" || { echo "FAILED: $what: not found with $*"; failures=$((failures + 1)); }
}
misses() {
  local what=$1
  shift
  ! listed "$@" || { echo "FAILED: $what: found with $*"; failures=$((failures + 1)); }
}

# [ABI-002] A list of directories; missing ones do no harm; @ only changes the precedence.
mkdir "$dir/empty"
finds "its directory" FI_PROVIDER_PATH="$built"
finds "the last of a list" FI_PROVIDER_PATH="$dir/none:$dir/empty:$built"
finds "the first of a list" FI_PROVIDER_PATH="$built:$dir/empty"
finds "a list without versions" FI_PROVIDER_PATH="@$built"
misses "another directory" FI_PROVIDER_PATH="$dir/empty"
misses "a file instead of a directory" FI_PROVIDER_PATH="$built/libuet-fi.so"

# [ABI-003] Of the file's name only the end counts. [ABI-004] The loader's own path does not help.
mkdir "$dir/other" "$dir/wrong"
cp "$built/libuet-fi.so" "$dir/other/anything-fi.so"
cp "$built/libuet-fi.so" "$dir/wrong/libuet.so"
finds "another name that ends in -fi.so" FI_PROVIDER_PATH="$dir/other"
misses "a name that does not" FI_PROVIDER_PATH="$dir/wrong"
misses "LD_LIBRARY_PATH" LD_LIBRARY_PATH="$built" FI_PROVIDER_PATH="$dir/empty"

# [ABI-017] Filters by name.
finds "its name" FI_PROVIDER_PATH="$built" FI_PROVIDER=uet
finds "names of which one is its own" FI_PROVIDER_PATH="$built" FI_PROVIDER="tcp,uet"
misses "another name" FI_PROVIDER_PATH="$built" FI_PROVIDER=tcp
misses "all but its name" FI_PROVIDER_PATH="$built" FI_PROVIDER="^uet"

# [ABI-008, ABI-009, ABI-012, LF-086] It is registered, under the version that it states.
version=$(FI_PROVIDER_PATH=$built fi_info -p uet 2>/dev/null | sed -n 's/^ *version: //p' | head -1)
[ "$version" = "$2" ] ||
  { echo "FAILED: the version is '$version'"; failures=$((failures + 1)); }

# [ABI-019, ABI-022] Of libfabric only what every version exports, and each symbol with its version:
# without one the loader takes the oldest layout there is.
allowed=' fi_dupinfo fi_fabric fi_freeinfo fi_getinfo fi_log fi_log_enabled fi_log_ready '
allowed+='fi_param_define fi_param_get fi_strerror fi_tostr fi_tostr_r fi_version '
symbols=$(nm -D --undefined-only "$built/libuet-fi.so" | sed -n 's/^ *U \(fi_.*\)/\1/p')
[[ $symbols == *fi_dupinfo@* ]] ||
  { echo "FAILED: fi_dupinfo is not among the symbols"; failures=$((failures + 1)); }
for symbol in $symbols; do
  name=${symbol%%@*}
  [[ $allowed == *" $name "* ]] ||
    { echo "FAILED: $name is not exported by all versions"; failures=$((failures + 1)); }
  [[ $symbol == *@FABRIC_1.* ]] ||
    { echo "FAILED: $symbol has no version"; failures=$((failures + 1)); }
done

[ $failures -eq 0 ] || exit 1
echo "passed: loading"
