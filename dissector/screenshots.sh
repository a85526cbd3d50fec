#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes the pictures of docs/howto/wireshark.md again: Wireshark's windows on a display that is not
# there, with the plugin and the profile of this tree and the capture of the conversation test.
set -euo pipefail

usage() {
  cat <<'HELP'
Usage: dissector/screenshots.sh [BUILD [FOLDER]]

Writes wireshark-*.png to FOLDER (default docs/images), from the plugin and uet_pcap of BUILD
(default build/dev). Needs Wireshark of the release that the plugin was built for, Xvfb, xdotool and
ImageMagick (Debian: wireshark xvfb xdotool imagemagick).
HELP
}
case ${1:-} in
  -h|--help) usage; exit 0 ;;
  -*) echo "screenshots.sh: what is $1? (see --help)" >&2; exit 2 ;;
esac
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(realpath "${1:-$root/build/dev}") out=$(realpath "${2:-$root/docs/images}")
for program in wireshark Xvfb xdotool import mogrify; do
  command -v "$program" >/dev/null || { echo "$program is missing; see --help" >&2; exit 1; }
done

work=$(mktemp -d)
started=()
cleanup() {
  [ ${#started[@]} -eq 0 ] || kill "${started[@]}" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

# Wireshark takes plugins of a folder of one's own only when it does not run as root.
as_user=()
if [ "$(id -u)" -eq 0 ]; then
  as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
fi
profile=$work/config/profiles/UET
mkdir -p "$profile" "$work/home" "$work/run"
cp -r "$build/dissector/plugins" "$work/plugins"
cp "$root/dissector/profile/preferences.txt" "$profile/preferences"
cp "$root/dissector/profile/colorfilters.txt" "$profile/colorfilters"
cat > "$work/config/recent_common" <<'RECENT'
gui.geometry_main_x: 0
gui.geometry_main_y: 0
gui.geometry_main_width: 1200
gui.geometry_main_height: 920
gui.geometry_main_maximized: FALSE
RECENT
columns='%m, 45, %t, 90, %s, 80, %d, 80, %Cus:uet.pds.pdc:0:R, 45, %Cus:uet.pds.psn:0:R, 55,'
columns+=' %Cus:uet.ses.message:0:R, 70, %L, 60, %i, 640'
cat > "$profile/recent" <<RECENT
gui.byte_view_show: FALSE
gui.packet_diagram_show: FALSE
gui.geometry_main_upper_pane: 300
column.width: $columns
RECENT
conversation=$root/dissector/test/data/conversation.txt
"$build/tools/uet_pcap" make "$conversation" "$work/conversation.pcapng"
# The same, sealed with a key of this run.
printf 'sdi=1 an=0 mode=cluster key=%s\n' "$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')" \
  > "$work/keys"
"$build/tools/uet_pcap" make "$conversation" "$work/sealed.pcapng" --keys "$work/keys" --sdi 1
chmod 700 "$work/run"
chmod -R a+rX "$work"
if [ "$(id -u)" -eq 0 ]; then chown -R 65534:65534 "$work"; fi

exec 9< <(exec Xvfb -displayfd 1 -screen 0 1200x920x24 2>/dev/null)
started+=($!)
read -r -t 20 display <&9 || { echo "Xvfb does not start" >&2; exit 1; }
export DISPLAY=:$display

# window NAME: its number, once it is there.
window() {
  local found
  for _ in $(seq 120); do
    found=$(xdotool search --onlyvisible --name "$1" 2>/dev/null | head -n 1) || true
    [ -z "$found" ] || { echo "$found"; return 0; }
    sleep 0.5
  done
  echo "no window $1" >&2
  return 1
}

# shot FILE CAPTURE WINDOW-NAME SIZE ARGUMENTS...: a picture of a window of Wireshark. With SIZE ""
# the window keeps its own.
shot() {
  local file=$out/wireshark-$1.png capture=$work/$2.pcapng name=$3 size=$4 id pid
  shift 4
  env HOME="$work/home" XDG_RUNTIME_DIR="$work/run" WIRESHARK_CONFIG_DIR="$work/config" \
    WIRESHARK_PLUGIN_DIR="$work/plugins" LC_ALL=C.UTF-8 "${as_user[@]}" \
    wireshark -C UET -r "$capture" -g 6 "$@" >"$work/log" 2>&1 &
  pid=$!
  started+=("$pid")
  id=$(window "$name")
  sleep 5  # until everything is drawn
  if [ -n "$size" ]; then
    # shellcheck disable=SC2086  # two words
    xdotool windowmove "$id" 0 0 windowsize "$id" $size
  else
    # The tree of the PDS: the line above the last.
    xdotool mousemove 300 600 click 1 key End Up shift+Right
  fi
  sleep 2
  import -window "$id" "$file"
  mogrify -strip +dither -colors 128 -define png:compression-level=9 "$file"
  kill "$pid"
  wait "$pid" 2>/dev/null || true
}

shot packets conversation '^conversation.pcapng$' ''
shot expert conversation 'Expert Information' '900 420' -z expert
shot pdc conversation 'UET PDCs' '1200 260' -z uet,pdc
shot sealed sealed '^sealed.pcapng$' '' -o "uet.tss.key_file:$work/keys"
ls -l "$out"/wireshark-*.png
