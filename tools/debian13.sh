#!/usr/bin/env bash
# Builds and tests uet on Debian 13 (libfabric 2.1, g++ 14) in a root of its own, made by
# debootstrap, from any Debian.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

usage() {
  cat <<'HELP'
Usage: tools/debian13.sh [--root DIR] [--preset NAME] [--target NAME] [-j N] [-- COMMAND...]

Makes a Debian 13 root, or goes on with the one that is there, and installs what building needs.
Then builds this checkout, which is bound read-only at /src in that root, into /build/NAME there,
and runs COMMAND in that folder. Needs root.

  --root DIR     where the root lies (default build/debian13)
  --preset NAME  of CMakePresets.json (default dev)
  --target NAME  build only that (default: everything)
  -j N           parallel jobs (default: all processors)
  -- COMMAND     what to run (default: ctest without the checks of style and citations);
                 "-- true" only builds
  -h, --help     this text

Exit status: that of COMMAND; 1 when the build failed, 2 on bad usage.
HELP
}

target=$root/build/debian13 preset=dev goal=all jobs=$(nproc) command=()
while [ $# -gt 0 ]; do
  case $1 in
    --root|--preset|--target|-j)
      needs_value "$@"
      case $1 in
        --root) target=$(realpath -m "$2") ;;
        --preset) preset=$2 ;;
        --target) goal=$2 ;;
        -j) needs_number "$@"; jobs=$2 ;;
      esac
      shift ;;
    --) shift; command=("$@"); break ;;
    -h|--help) usage; exit 0 ;;
    *) unknown "$1" ;;
  esac
  shift
done
[ "$(id -u)" -eq 0 ] || die "making a root needs root"
[ ${#command[@]} -gt 0 ] ||
  command=(ctest -j "$jobs" -LE tidy --no-tests=error --output-on-failure)

if [ ! -e "$target/etc/debian_version" ]; then
  need_packages debootstrap
  say "Making a Debian 13 root in $target"
  mkdir -p "$target"
  debootstrap --variant=minbase trixie "$target" >"$target.log" ||
    die "debootstrap failed; see $target.log"
  rm -f "$target.log"
fi
mkdir -p "$target/src" "$target/build"

# Everything in the root runs in mount and process namespaces of its own, so that nothing stays
# mounted and no process stays behind, however this script ends. inside SCRIPT ARGUMENTS...
# shellcheck disable=SC2016  # expanded inside
inside() {
  unshare --mount --pid --fork --kill-child bash -euc '
    target=$1 source=$2
    shift 2
    mount --make-rprivate /
    mount -t proc proc "$target/proc"
    mount --rbind /dev "$target/dev"
    mount --rbind /sys "$target/sys"
    mkdir -p "$target/run/netns"
    mount --bind "$source" "$target/src"
    mount -o remount,bind,ro "$target/src"
    exec chroot "$target" /usr/bin/env -i PATH="$PATH" HOME=/root LANG=C.UTF-8 \
      TMPDIR=/tmp DEBIAN_FRONTEND=noninteractive \
      bash -euc "$@"' inside "$target" "$root" "$@"
}

packages=("${build_packages[@]}" "${run_packages[@]}" "${test_packages[@]}")
say "Packages"
# shellcheck disable=SC2016  # expanded in the root
inside 'missing=()
  for p; do
    dpkg-query -W -f "\${Status}" "$p" 2>/dev/null | grep -q "ok installed" || missing+=("$p")
  done
  [ ${#missing[@]} -eq 0 ] && exit 0
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null' packages \
  "${packages[@]}"

versions=$(inside 'g++ --version | head -n 1; fi_info --version | tail -n 2' versions | paste -sd,)
say "Building with $versions"
# shellcheck disable=SC2016
inside 'cmake --preset "$1" -S /src -B "/build/$1" >/dev/null
  cmake --build "/build/$1" -j "$2" --target "$3"' build "$preset" "$jobs" "$goal"

say "${command[*]}"
# shellcheck disable=SC2016
inside 'cd "/build/$1"; shift; exec "$@"' run "$preset" "${command[@]}"
