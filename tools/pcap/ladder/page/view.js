// Draws what is in sight, and nothing else, however many packets there are.
const $ = (id) => document.getElementById(id);
const scroller = $("scroll"), view = $("view"), overview = $("overview"), details = $("details");
const DRAWN_MAX = 1500, LABEL_EVERY = 12;
const state = { near: null, kept: null };  // under the pointer or keyboard; kept until let go

function make(tag, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

const lines = () => {
  const width = view.clientWidth || 900;
  const left = 290;
  return { width, left, right: width - 145 };
};
const xOf = (where, way) => (way === 0 ? where.left : where.right);

// Where a packet can be pointed at, and its light when it is.
function band(p, where, top, css) {
  const row = Math.min(ROW, ROW * layout.zoom);
  return make("rect", { class: css, x: 1, y: Math.min(p.y1, p.y2) - top - row / 2 - 3, width: where.width - 2,
    height: Math.abs(p.y2 - p.y1) + row });
}

function arrow(p, where, top) {
  const lost = p.fate === "lost";
  const from = xOf(where, p.way), to = xOf(where, 1 - p.way), sign = p.way === 0 ? 1 : -1;
  const y1 = p.y1 - top, y2 = p.y2 - top;
  const reach = lost ? from + (to - from) * 0.8 : to;
  const g = make("g", { class: `packet ${p.css}`, id: `p${p.at}`, role: "option",
    "aria-label": `Frame ${p.frame}, ${duration(p.time_ns)}: ${labelOf(p)}`,
    "aria-selected": p === state.near });
  g.append(band(p, where, top, "row"));
  g.append(make("line", { class: "a", x1: from, y1, x2: reach - sign * 7, y2 }));
  if (lost) {
    g.append(make("path", { class: "a", d: `M${reach - 6} ${y2 - 6}l12 12m0-12l-12 12` }));
  } else {
    g.append(make("path", { class: "h", d: `M${to} ${y2}l${-sign * 9}-4.5v9z` }));
  }
  return g;
}

// Above all arrows, so that none runs through it.
function label(p, where, top) {
  const sign = p.way === 0 ? 1 : -1, y = p.y1 - top;
  return [make("text", { class: `l ${p.css}`, x: xOf(where, p.way) + sign * 12, y: y - 5,
    "text-anchor": p.way === 0 ? "start" : "end" }, labelOf(p)),
  make("text", { class: "tick", x: 20, y: y + 4 }, String(p.frame)),
  make("text", { class: "tick", x: 144, y: y + 4, "text-anchor": "end" }, duration(p.time_ns))];
}

// A curve on the side of the one that answers, from what came to what went.
function link(asked, answer, where, top, css) {
  const x = xOf(where, answer.way), out = answer.way === 0 ? -24 : 24;
  const y1 = asked.y2 - top, y2 = answer.y1 - top;
  return make("path", { class: `link ${css}`, d: `M${x} ${y1}c${out} 0 ${out} ${y2 - y1} 0 ${y2 - y1}` });
}

function bracket(b, where, top) {
  const m = ladder.messages[b.message], out = m.way === 0 ? -1 : 1;
  const x = xOf(where, m.way) + out * (30 + b.lane * 14);
  const y1 = b.y1 - top, y2 = b.y2 - top;
  const g = make("g", {});
  g.append(make("title", {}, `Message ${m.id}, ${m.opcode}, ${m.length} octets`));
  g.append(make("path", { class: "msg", d: `M${x - out * 4} ${y1}h${out * 4}V${y2}h${-out * 4}` }));
  const low = Math.max(y1, 0), high = Math.min(y2, scroller.clientHeight);
  if (high - low > 46) {
    g.append(make("text", { class: "msg-name", "text-anchor": "middle",
      transform: `translate(${x - 3} ${(low + high) / 2}) rotate(-90)` }, m.id ? `msg ${m.id}` : m.opcode));
  }
  return g;
}

// The packets in sight. Where they are denser than the pixels, one for each pixel and colour.
function inSight(top, bottom) {
  const seen = [], used = new Set();
  let inside = 0;
  for (let i = firstFrom(layout.shown, top - layout.reach); i < layout.shown.length; i += 1) {
    const p = layout.shown[i];
    if (p.y1 > bottom) break;
    if (Math.max(p.y1, p.y2) < top) continue;
    inside += 1;
    const pixel = `${Math.round(p.y1)} ${p.way} ${p.css}`;
    if (p !== state.near && p !== state.kept && used.has(pixel)) continue;
    used.add(pixel);
    if (seen.length < DRAWN_MAX) seen.push(p);
  }
  return { seen, inside };
}

function draw() {
  const top = scroller.scrollTop, size = scroller.clientHeight, where = lines();
  $("height").style.height = `${Math.max(layout.height, size)}px`;
  view.setAttribute("height", size);
  const { seen, inside } = inSight(top - ROW, top + size + ROW);
  const parts = [];
  for (const [p, css] of [[state.kept, "kept"], [state.near, "near"]]) {
    if (p && matches(p)) parts.push(band(p, where, top, css));
  }
  for (const x of [where.left, where.right]) {
    parts.push(make("line", { class: "life", x1: x, x2: x, y1: 0, y2: Math.min(size, layout.height - top) }));
  }
  for (let i = firstFrom(brackets, top - brackets.longest); i < brackets.length; i += 1) {
    if (brackets[i].y1 > top + size) break;
    if (brackets[i].y2 >= top && parts.length < DRAWN_MAX) parts.push(bracket(brackets[i], where, top));
  }
  const isShown = (p) => p !== undefined && matches(p);
  for (const p of seen) {
    const asked = packets[p.answers];
    if (p.css === "nack" && isShown(asked)) parts.push(link(asked, p, where, top, ""));
  }
  const k = state.kept || state.near;
  if (k && k.kind !== "nack" && isShown(packets[k.answers])) {
    parts.push(link(packets[k.answers], k, where, top, "of-kept"));
  }
  const labels = [];
  let last = -LABEL_EVERY, unlabelled = inside - seen.length;
  for (const p of seen) {
    const labelled = p.y1 - last >= LABEL_EVERY || p === state.near;
    if (labelled) last = p.y1; else unlabelled += 1;
    parts.push(arrow(p, where, top));
    if (labelled) labels.push(...label(p, where, top));
  }
  view.replaceChildren(...parts, ...labels);
  scroller.setAttribute("aria-activedescendant", state.near ? `p${state.near.at}` : "");
  placeEnds(where);
  drawOverview();
  say(inside, seen.length, unlabelled);
}

function say(inside, drawn, unlabelled) {
  let text = `${layout.shown.length} of ${packets.length} packets`;
  if (inside > drawn) text += ` · ${inside} in sight, ${drawn} drawn: zoom in`;
  else if (unlabelled > 0) text += ` · ${unlabelled} without room for a label`;
  if (withoutBracket > 0) text += ` · ${withoutBracket} messages without room for a bracket`;
  $("shown").textContent = text;
}

function placeEnds(where) {
  const [initiator, target] = $("ends").querySelectorAll(".end");
  initiator.style.left = `${where.left}px`;
  target.style.left = `${where.right}px`;
}

function drawOverview() {
  const width = overview.clientWidth, height = overview.clientHeight;
  overview.width = width;
  overview.height = height;
  const context = overview.getContext("2d"), style = getComputedStyle(document.documentElement);
  const colour = Object.fromEntries(CLASSES.map(([css]) => [css, style.getPropertyValue(`--${css}`)]));
  const scale = height / Math.max(layout.height, 1);
  const thick = layout.shown.filter(isProblem).length > height / 6 ? 1 : 2;
  // Problems last and across the whole width, so that one among thousands is seen.
  for (const problems of [false, true]) {
    for (const p of layout.shown) {
      if (isProblem(p) !== problems) continue;
      context.fillStyle = colour[p.css];
      context.globalAlpha = problems ? 1 : 0.45;
      context.fillRect(problems ? 4 : p.way === 0 ? 8 : width / 2, p.y1 * scale, problems ? width - 8 : width / 2 - 8,
        problems ? thick : 1);
    }
  }
  if (scroller.clientHeight >= layout.height) return;
  context.globalAlpha = 0.18;
  context.fillStyle = style.getPropertyValue("--focus");
  context.fillRect(0, scroller.scrollTop * scale, width, Math.max(3, scroller.clientHeight * scale));
}

function list(title, rows) {
  const parts = [Object.assign(document.createElement("h3"), { textContent: title })];
  const dl = document.createElement("dl");
  for (const [name, value] of rows) {
    dl.append(Object.assign(document.createElement("dt"), { textContent: name }),
      Object.assign(document.createElement("dd"), { textContent: value }));
  }
  return [...parts, dl];
}

const LINKS = [["answers", "Answers"], ["acked_by", "Acknowledged by"], ["nacked_by", "Refused by"],
  ["previous", "Sent before"], ["caused_by", "Sent again because of"]];

function linksOf(p) {
  const out = [];
  for (const [key, words] of LINKS) {
    if (p[`${key}_frame`] === undefined) continue;
    const to = packets[p[key]];
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `${words} frame ${p[`${key}_frame`]}${to ? `: ${to.label}` : " (not in this drawing)"}`;
    button.disabled = to === undefined;
    button.addEventListener("click", () => goTo(to, true));
    out.push(button);
  }
  return out;
}

function showDetails() {
  const p = state.kept || state.near;
  if (!p) {
    details.replaceChildren(Object.assign(document.createElement("p"),
      { className: "dim", textContent: "Point at a packet, or walk with the arrow keys, to see all of its fields." }));
    return;
  }
  const heading = Object.assign(document.createElement("h2"), { textContent: labelOf(p) });
  heading.className = p.css;
  heading.style.color = "var(--c)";
  const facts = [["frame", p.frame], ["time", duration(p.time_ns)],
    ["from", p.way === 0 ? "initiator" : "target"]];
  if (p.arrived_ns !== undefined) {
    facts.push(["arrived", `frame ${p.arrived_frame}, ${duration(p.arrived_ns)}`],
      ["on the way", duration(p.arrived_ns - p.time_ns)]);
  }
  facts.push(["lost", p.fate === undefined ? "not known" : p.fate === "lost" ? "yes" : `no: ${p.fate}`]);
  if (p.cause) facts.push(["sent again for", p.cause]);
  const answered = packets[p.answers];
  if (answered) facts.push(["response time", duration(p.time_ns - answered.time_ns)]);
  const parts = [heading, ...list("Packet", facts), ...linksOf(p)];
  const m = ladder.messages[p.message];
  if (m) {
    parts.push(...list("Message", [["id", m.id], ["opcode", m.opcode], ["length", `${m.length} octets`],
      ["seen", `${m.octets_seen} octets`]]));
  }
  parts.push(...list("Fields", fieldsOf(p)));
  details.replaceChildren(...parts);
}
