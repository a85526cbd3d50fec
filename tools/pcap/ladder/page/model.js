"use strict";
// What the packets are, which of them are shown, and where: no drawing.
const ladder = JSON.parse(document.getElementById("ladder").textContent);
const packets = ladder.packets;
packets.forEach((p, i) => { p.at = i; });

// Name and value of each field of a packet.
function fieldsOf(p) {
  const out = [];
  for (let i = 0; i < p.fields.length; i += 2) out.push([ladder.names[p.fields[i]], p.fields[i + 1]]);
  return out;
}

// The one class by which a packet is coloured; the order is that of importance.
function classOf(p) {
  if (p.fate === "lost") return "lost";
  if (p.kind === "nack") return "nack";
  if (p.duplicate) return "copy";
  if (p.retransmission && p.kind !== "ack") return "again";
  return p.kind;
}
const CLASSES = [["data", "data"], ["ack", "ACK"], ["nack", "NACK"], ["control", "control"],
  ["again", "sent again"], ["copy", "duplicate"], ["lost", "lost"]];
packets.forEach((p) => { p.css = classOf(p); });
const isProblem = (p) => p.rejected || p.trimmed || ["lost", "nack", "copy", "again"].includes(p.css);

function duration(ns) {
  const size = Math.abs(ns);
  if (size < 1e3) return `${ns} ns`;
  if (size < 1e6) return `${(ns / 1e3).toFixed(3)} µs`;
  if (size < 1e9) return `${(ns / 1e6).toFixed(3)} ms`;
  return `${(ns / 1e9).toFixed(3)} s`;
}

// Colour alone never says it.
function labelOf(p) {
  let text = p.label;
  if (p.fate === "lost") text += ", lost";
  if (p.duplicate) text += ", duplicate";
  if (p.retransmission) text += ", sent again";
  if (p.out_of_order) text += ", out of order";
  return text;
}

const filter = { text: "", psnFrom: null, psnTo: null, message: null, hidden: new Set() };

// PSNs wrap: a range is from one value forward to the other.
function inPsnRange(psn) {
  if (filter.psnFrom === null && filter.psnTo === null) return true;
  if (psn === undefined) return false;
  const from = filter.psnFrom === null ? 0 : filter.psnFrom;
  const to = filter.psnTo === null ? 0xffffffff : filter.psnTo;
  return ((psn - from) >>> 0) <= ((to - from) >>> 0);
}

function haystack(p) {
  if (p.words === undefined) {
    const fields = fieldsOf(p).map(([name, value]) => `${name}=${value}`).join(" ");
    p.words = `${p.frame} ${labelOf(p)} ${fields}`.toLowerCase();
  }
  return p.words;
}

function matches(p) {
  if (filter.hidden.has(p.css) || !inPsnRange(p.psn)) return false;
  if (filter.message !== null) {
    const m = p.message === undefined ? null : ladder.messages[p.message];
    if (m === null || m.id !== filter.message) return false;
  }
  return filter.text === "" || filter.text.split(/\s+/).every((word) => haystack(p).includes(word));
}

// Rows of the packets shown: y in pixels from the top of the whole drawing.
const ROW = 24, TOP = 20, HEIGHT_MAX = 8e6;  // browsers stop at some 1e7 pixels
const layout = { axis: ladder.axis, zoom: 1, shown: [], height: 0, reach: 0, start: 0, scale: 0 };

function place() {
  layout.shown = packets.filter(matches);
  layout.reach = 0;
  if (layout.axis === "compact") placeCompact(); else placeToScale();
  for (const p of layout.shown) layout.reach = Math.max(layout.reach, p.y2 - p.y1);
  placeMessages();
}

function placeCompact() {
  const events = [];
  for (const p of layout.shown) {
    events.push([p.time_ns, p, false]);
    if (p.arrived_ns !== undefined) events.push([p.arrived_ns, p, true]);
  }
  events.sort((a, b) => a[0] - b[0]);
  const row = Math.min(ROW * layout.zoom, HEIGHT_MAX / Math.max(events.length, 1));
  let y = TOP;
  for (const [, p, arrival] of events) {
    y += row;
    if (arrival) p.y2 = y; else p.y1 = p.y2 = y;
  }
  layout.height = y + ROW;
}

function placeToScale() {
  const first = layout.shown[0];
  layout.start = first ? first.time_ns : 0;
  let end = layout.start + 1;
  for (const p of layout.shown) end = Math.max(end, p.time_ns, p.arrived_ns || 0);
  const wanted = layout.shown.length * ROW * layout.zoom;
  layout.scale = Math.min(wanted, HEIGHT_MAX) / (end - layout.start);
  const y = (ns) => TOP + ROW + (ns - layout.start) * layout.scale;
  for (const p of layout.shown) {
    p.y1 = y(p.time_ns);
    p.y2 = p.arrived_ns === undefined ? p.y1 : y(p.arrived_ns);
  }
  layout.height = y(end) + ROW;
}

// Brackets of the messages of which more than one packet is shown, in lanes beside each other.
const LANES = 7;
let brackets = [], withoutBracket = 0;

function placeMessages() {
  const of = new Map();
  for (const p of layout.shown) {
    if (p.message === undefined) continue;
    const b = of.get(p.message);
    const y = p.way === ladder.messages[p.message].way ? p.y1 : p.y2;
    if (b === undefined) of.set(p.message, { message: p.message, y1: y, y2: y, count: 1 });
    else { b.y2 = Math.max(b.y2, y); b.y1 = Math.min(b.y1, y); b.count += 1; }
  }
  const lanes = [new Array(LANES).fill(-1), new Array(LANES).fill(-1)];
  withoutBracket = 0;
  brackets = [];
  for (const b of [...of.values()].sort((a, c) => a.y1 - c.y1)) {
    if (b.count < 2) continue;
    const side = lanes[ladder.messages[b.message].way];
    b.lane = side.findIndex((end) => end < b.y1 - 2);
    if (b.lane < 0) { withoutBracket += 1; continue; }
    side[b.lane] = b.y2;
    brackets.push(b);
  }
  brackets.longest = brackets.reduce((most, b) => Math.max(most, b.y2 - b.y1), 0);
}

// The first place in a list sorted by y1 that is not above y.
function firstFrom(list, y) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle].y1 < y) low = middle + 1; else high = middle;
  }
  return low;
}
