#!/usr/bin/env bash
# Builds and tests uet on Debian 13 (libfabric 2.1, g++ 14), or there with a libfabric built from
# source, in a root of its own, made by debootstrap, from any Debian.
set -euo pipefail
. "$(dirname "$0")/../tools/lib.sh"

usage() {
  cat <<'HELP'
Usage: scripts/debian13.sh [--root DIR] [--libfabric SOURCE] [--fabtests SOURCE] [--preset NAME]
                         [--target NAME] [-j N] [-- COMMAND...]

Makes a Debian 13 root, or uses an existing one, and installs the packages for building.
Then builds this checkout, which is bound read-only at /src in that root, into /build/NAME there,
and runs COMMAND in that folder. Needs root. Nothing but Debian's packages is downloaded.

  --root DIR          where the root lies (default build/debian13)
  --libfabric SOURCE  libfabric's source, a folder or an archive: it is built, with providers tcp,
                      udp, shm and sockets, and installed in /opt/libfabric-VERSION in the root, and
                      uet is built against it into /build/NAME-VERSION (default: Debian's libfabric)
  --fabtests SOURCE   fabtests' source, a folder or an archive, of the libfabric that is used; it is
                      built, too (default: fabtests that lie in what --libfabric names)
  --preset NAME       of CMakePresets.json (default dev)
  --target NAME       build only that (default: everything; the provider's tests with --libfabric
                      or --fabtests)
  -j N                parallel jobs (default: all processors)
  -- COMMAND          what to run (default: ctest without the checks of style and citations; with
                      --libfabric or --fabtests the provider's tests and then tools/fabtests.sh);
                      "-- true" only builds. The programs of libfabric and fabtests are in PATH:
                      "-- /src/tools/fabtests.sh --build . --filter rma"
  -h, --help          this text

What is installed in /opt in the root is built once; remove its folder to build it anew.

Exit status: that of COMMAND; 1 when the build failed, 2 wrong usage.
HELP
}

# needs_source OPTION PATH
needs_source() {
  needs_value "$@"
  [ -e "$2" ] || misuse "$1: there is no $2"
}

target=$root/build/debian13 preset=dev goal='' jobs=$(nproc) command=() libfabric='' fabtests=''
while [ $# -gt 0 ]; do
  case $1 in
    --root|--libfabric|--fabtests|--preset|--target|-j)
      needs_value "$@"
      case $1 in
        --root) target=$(realpath -m "$2") ;;
        --libfabric) needs_source "$@"; libfabric=$(realpath "$2") ;;
        --fabtests) needs_source "$@"; fabtests=$(realpath "$2") ;;
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
from_source=0
[ -n "$libfabric$fabtests" ] && from_source=1
if [ $from_source -eq 1 ]; then
  [ -n "$goal" ] || goal=tests_prov
  labels=(-L '^prov$')
else
  [ -n "$goal" ] || goal=all
  labels=(-LE tidy)
fi

if [ ! -e "$target/etc/debian_version" ]; then
  need_packages debootstrap
  say "Making a Debian 13 root in $target"
  mkdir -p "$target"
  debootstrap --variant=minbase trixie "$target" >"$target.log" ||
    die "debootstrap failed; see $target.log"
  rm -f "$target.log"
fi
mkdir -p "$target/src" "$target/build"

# Where libfabric and fabtests built from source lie in the root; empty: Debian's.
prefix='' fabtests_prefix=''

# Everything in the root runs in mount and process namespaces of its own, so that nothing stays
# mounted and no process stays behind, however this script ends. inside SCRIPT ARGUMENTS...
# shellcheck disable=SC2016  # expanded inside
inside() {
  local path=${fabtests_prefix:+$fabtests_prefix/bin:}${prefix:+$prefix/bin:}$PATH
  unshare --mount --pid --fork --kill-child bash -euc '
    target=$1 source=$2 path=$3 libraries=$4
    shift 4
    mount --make-rprivate /
    # ip-netns(8) wants / to be a mount.
    mount --bind "$target" "$target"
    mount -t proc proc "$target/proc"
    mount --rbind /dev "$target/dev"
    mount --rbind /sys "$target/sys"
    mkdir -p "$target/run/netns"
    mount --bind "$source" "$target/src"
    mount -o remount,bind,ro "$target/src"
    exec chroot "$target" /usr/bin/env -i PATH="$path" LD_LIBRARY_PATH="$libraries" \
      PKG_CONFIG_PATH="${libraries:+$libraries/pkgconfig}" HOME=/root LANG=C.UTF-8 \
      TMPDIR=/tmp DEBIAN_FRONTEND=noninteractive \
      bash -euc "$@"' inside "$target" "$root" "$path" "${prefix:+$prefix/lib}" "$@"
}

# unpack SOURCE NAME: a copy of it in the root, at /usr/src/NAME.
unpack() {
  local from=$1 to=$target/usr/src/$2
  rm -rf "$to"
  mkdir -p "$to"
  if [ -d "$from" ]; then
    tar -C "$from" --exclude=.git -c . | tar -C "$to" --no-same-owner -x
  else
    tar -C "$to" --no-same-owner -xf "$from" || die "$from is neither a folder nor an archive"
  fi
}

# folder_of PACKAGE NAME: the folder below /usr/src/NAME, or fails.
folder_of() {
  local at
  at=$(find "$target/usr/src/$2" -maxdepth 3 -name configure.ac -exec \
    grep -l "^AC_INIT(\[$1\]" {} + | head -n 1)
  [ -n "$at" ] && dirname "${at#"$target"}"
}
version_of() { sed -n 's/^AC_INIT(\[[^]]*\], *\[\([^]]*\)\].*/\1/p' "$target$1/configure.ac"; }

# install_source FOLDER PREFIX OPTIONS...: builds it, unless all of it is in PREFIX.
install_source() {
  local folder=$1 at=$2
  shift 2
  if [ -e "$target$at/.complete" ]; then
    echo "$at is there"
    return
  fi
  # shellcheck disable=SC2016
  inside 'cd "$1"; at=$2 jobs=$3
    shift 3
    { [ -x configure ] || ./autogen.sh
      ./configure --prefix="$at" "$@"
      make -j "$jobs"
      make install; } >build.log 2>&1 || { tail -n 30 build.log; exit 1; }' install \
    "$folder" "$at" "$jobs" "$@" || die "building $at failed; see $target$folder/build.log"
  touch "$target$at/.complete"
}

packages=("${build_packages[@]}" "${run_packages[@]}" "${test_packages[@]}")
[ $from_source -eq 1 ] && packages+=(autoconf automake libtool make)
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

build=/build/$preset
if [ $from_source -eq 1 ]; then
  if [ -n "$libfabric" ]; then
    unpack "$libfabric" libfabric
    folder=$(folder_of libfabric libfabric) || die "there is no libfabric in $libfabric"
    version=$(version_of "$folder")
    build=$build-$version
    say "libfabric $version"
    install_source "$folder" "/opt/libfabric-$version" --disable-static \
      --enable-only --enable-{tcp,udp,shm,sockets,rxm,rxd}
    prefix=/opt/libfabric-$version
  fi
  if [ -n "$fabtests" ]; then
    unpack "$fabtests" fabtests
    folder=$(folder_of fabtests fabtests) || die "there is no fabtests in $fabtests"
  else
    folder=$(folder_of fabtests libfabric) ||
      die "there is no fabtests in $libfabric: name its source with --fabtests"
  fi
  version=$(version_of "$folder")
  say "fabtests $version"
  at=/opt/fabtests-$version${prefix:+-of-${prefix##*/}}
  install_source "$folder" "$at" \
    ${prefix:+"--with-libfabric=$prefix" "LDFLAGS=-Wl,-rpath,$prefix/lib"}
  fabtests_prefix=$at
fi

versions=$(inside 'g++ --version | head -n 1; fi_info --version | tail -n 2' versions | paste -sd,)
say "Building with $versions"
# shellcheck disable=SC2016
inside 'cmake --preset "$1" -S /src -B "$2" >/dev/null
  cmake --build "$2" -j "$3" --target "$4"' build "$preset" "$build" "$jobs" "$goal"

# run COMMAND...
# shellcheck disable=SC2016
run() {
  say "$*"
  inside 'cd "$1"; shift; exec "$@"' run "$build" "$@"
}
if [ ${#command[@]} -gt 0 ]; then
  run "${command[@]}"
  exit
fi
status=0
run ctest -j "$jobs" "${labels[@]}" --no-tests=error --output-on-failure || status=$?
if [ $from_source -eq 1 ]; then
  run /src/tools/fabtests.sh --build . --timeout 300 || status=$?
fi
exit $status
