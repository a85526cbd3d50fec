#!/usr/bin/env bash
# cmake --install puts the provider where libfabric looks by default.
# Usage: install.sh CMAKE BUILD_DIR PROVIDER. Exit 77: fi_info is not installed.
set -euo pipefail

cmake=$1 build=$2 provider=$3
command -v fi_info >/dev/null || { echo "SKIPPED: fi_info is not installed"; exit 77; }
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

DESTDIR=$stage "$cmake" --install "$build" --component provider >/dev/null
searched=$(pkg-config --variable=libdir libfabric)/libfabric
if ! cmp "$provider" "$stage$searched/$(basename "$provider")"; then
  echo "FAILED: not in $searched, but here:"
  find "$stage" -type f
  exit 1
fi
# The library itself reports the same folder.
says=$(fi_info -e | grep -A6 '^# FI_PROVIDER_PATH:')
if [[ $says != *"(default: $searched)"* ]]; then
  echo "FAILED: libfabric's own default is another folder:" "$says"
  exit 1
fi
