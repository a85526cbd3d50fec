// What the reader does: filter, zoom, pan, point, walk.
let pending = false;
function redraw() {
  if (pending) return;
  pending = true;
  requestAnimationFrame(() => { pending = false; draw(); });
}

function point(p) {
  if (p === state.near) return;
  state.near = p;
  showDetails();
  redraw();
}

function goTo(p, keep) {
  if (!p) return;
  if (!matches(p)) resetFilter();
  state.near = p;
  if (keep) state.kept = p;
  const margin = 60, size = scroller.clientHeight;
  if (p.y1 < scroller.scrollTop + margin || Math.max(p.y1, p.y2) > scroller.scrollTop + size - margin) {
    scroller.scrollTop = Math.max(0, p.y1 - size / 3);
  }
  showDetails();
  draw();
}

function step(by) {
  const shown = layout.shown;
  if (shown.length === 0) return;
  const now = state.near ? shown.indexOf(state.near) : -1;
  const to = now < 0 ? firstFrom(shown, scroller.scrollTop) : now + by;
  goTo(shown[Math.max(0, Math.min(shown.length - 1, to))]);
}

function stepProblem(by) {
  const shown = layout.shown;
  let i = state.near ? shown.indexOf(state.near) : by > 0 ? -1 : shown.length;
  for (i += by; i >= 0 && i < shown.length; i += by) {
    if (isProblem(shown[i])) return goTo(shown[i]);
  }
  $("shown").textContent = by > 0 ? "no problem below" : "no problem above";
}

// Keeps what is at the fixed height where it is.
function zoomTo(zoom, at = scroller.clientHeight / 2) {
  const wanted = Math.max(0.02, Math.min(400, zoom));
  const part = (scroller.scrollTop + at - TOP) / Math.max(1, layout.height - TOP);
  layout.zoom = wanted;
  place();
  $("height").style.height = `${Math.max(layout.height, scroller.clientHeight)}px`;
  scroller.scrollTop = part * (layout.height - TOP) + TOP - at;
  $("zoom-reset").textContent = `${Math.round(wanted * 100)} %`;
  redraw();
}

function number(input) {
  const text = input.value.trim();
  const value = /^(0x[0-9a-f]{1,8}|[0-9]{1,10})$/i.test(text) ? Number(text) : NaN;
  const wrong = text !== "" && !(value <= 0xffffffff);
  input.setAttribute("aria-invalid", wrong);
  return text === "" || wrong ? null : value;
}

function refilter() {
  filter.text = $("text").value.trim().toLowerCase();
  filter.psnFrom = number($("psn-from"));
  filter.psnTo = number($("psn-to"));
  filter.message = number($("message"));
  filter.hidden = new Set([...$("kinds").querySelectorAll("input:not(:checked)")].map((box) => box.value));
  place();
  if (state.near && !matches(state.near)) state.near = null;
  showDetails();
  draw();
}

function resetFilter() {
  for (const id of ["text", "psn-from", "psn-to", "message"]) $(id).value = "";
  for (const box of $("kinds").querySelectorAll("input")) box.checked = true;
  refilter();
}

function setAxis(axis) {
  layout.axis = axis;
  $("compact").setAttribute("aria-pressed", axis === "compact");
  $("proportional").setAttribute("aria-pressed", axis === "proportional");
  place();
  if (state.near) goTo(state.near); else redraw();
}

const KEYS = { ArrowDown: () => step(1), ArrowUp: () => step(-1), PageDown: () => step(20),
  PageUp: () => step(-20), Home: () => goTo(layout.shown[0]), End: () => goTo(layout.shown.at(-1)),
  n: () => stepProblem(1), p: () => stepProblem(-1), "+": () => zoomTo(layout.zoom * 1.5),
  "=": () => zoomTo(layout.zoom * 1.5), "-": () => zoomTo(layout.zoom / 1.5), "/": () => $("text").focus(),
  Enter: () => { state.kept = state.near; showDetails(); redraw(); },
  Escape: () => { state.kept = state.near = null; showDetails(); redraw(); } };

document.addEventListener("keydown", (event) => {
  if (event.target.tagName === "INPUT") {
    if (event.key === "Escape") scroller.focus();
    return;
  }
  const isButton = event.target.tagName === "BUTTON" && event.key === "Enter";
  if (event.ctrlKey || event.metaKey || event.altKey || isButton || !KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
});

function packetUnder(event) {
  const g = event.target.closest(".packet");
  return g ? packets[Number(g.id.slice(1))] : null;
}

let pan = null;
scroller.addEventListener("pointerdown", (event) => {
  if (event.button === 0 && event.pointerType === "mouse") pan = { y: event.clientY, x: event.clientX, moved: false };
});
document.addEventListener("pointermove", (event) => {
  if (pan === null) return;
  if (Math.abs(event.clientY - pan.y) + Math.abs(event.clientX - pan.x) > 3 || pan.moved) {
    pan.moved = true;
    scroller.classList.add("panning");
    scroller.scrollTop -= event.clientY - pan.y;
    scroller.scrollLeft -= event.clientX - pan.x;
    pan.y = event.clientY;
    pan.x = event.clientX;
  }
});
document.addEventListener("pointerup", () => {
  scroller.classList.remove("panning");
  if (pan && pan.moved) setTimeout(() => { pan = null; }); else pan = null;
});
view.addEventListener("pointermove", (event) => { if (!pan || !pan.moved) { const p = packetUnder(event); if (p) point(p); } });
view.addEventListener("click", (event) => {
  if (pan && pan.moved) return;
  const p = packetUnder(event);
  state.kept = p === state.kept ? null : p;
  if (p) state.near = p;
  showDetails();
  redraw();
});
scroller.addEventListener("scroll", redraw);
scroller.addEventListener("wheel", (event) => {
  if (!event.ctrlKey) return;
  event.preventDefault();
  zoomTo(layout.zoom * (event.deltaY < 0 ? 1.25 : 0.8), event.clientY - scroller.getBoundingClientRect().top);
}, { passive: false });
function jump(event) {
  if (event.buttons !== 1) return;
  const part = event.offsetY / overview.clientHeight;
  scroller.scrollTop = part * layout.height - scroller.clientHeight / 2;
}
overview.addEventListener("pointerdown", jump);
overview.addEventListener("pointermove", jump);
new ResizeObserver(redraw).observe(scroller);

$("tools").addEventListener("input", refilter);
$("tools").addEventListener("submit", (event) => event.preventDefault());
$("reset").addEventListener("click", resetFilter);
$("compact").addEventListener("click", () => setAxis("compact"));
$("proportional").addEventListener("click", () => setAxis("proportional"));
$("zoom-in").addEventListener("click", () => zoomTo(layout.zoom * 1.5));
$("zoom-out").addEventListener("click", () => zoomTo(layout.zoom / 1.5));
$("zoom-reset").addEventListener("click", () => zoomTo(1));
$("problem-next").addEventListener("click", () => stepProblem(1));
$("problem-before").addEventListener("click", () => stepProblem(-1));
$("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = getComputedStyle(root).getPropertyValue("--bg").trim() !== "#fff";
  root.dataset.theme = dark ? "light" : "dark";
  redraw();
});

function begin() {
  document.title = ladder.title;
  $("title").textContent = ladder.title;
  const points = ladder.points.map((at) => [at.name, at.comment].filter(Boolean).join(": ")).filter(Boolean);
  $("about").textContent = [`From ${ladder.capture}${points.length ? ` (${points.join("; ")})` : ""}.`,
    ladder.about_ends].join(" ");
  $("cut").hidden = ladder.cut === "";
  $("cut").textContent = `${ladder.cut} The counts are of all.`;
  const c = ladder.counts;
  const counts = [["packets", c.packets], ["sent again", c.retransmissions], ["NACK", c.nack],
    ["duplicate", c.duplicates], ["lost", c.lost === null ? "?" : c.lost]];
  for (const [words, value] of counts) {
    const item = document.createElement("li");
    item.append(Object.assign(document.createElement("b"), { textContent: value }), ` ${words}`);
    $("counts").append(item);
  }
  for (const [css, words] of CLASSES) {
    const label = document.createElement("label"), box = document.createElement("input");
    Object.assign(box, { type: "checkbox", value: css, checked: true });
    const key = Object.assign(document.createElement("span"), { className: `key ${css}` });
    label.append(box, key, words);
    $("kinds").append(label);
  }
  const corner = Object.assign(document.createElement("div"), { className: "corner" });
  corner.append(Object.assign(document.createElement("span"), { textContent: "frame, time" }));
  $("ends").append(corner);
  ladder.ends.forEach((end, i) => {
    const box = Object.assign(document.createElement("div"), { className: "end" });
    box.append(Object.assign(document.createElement("b"), { textContent: end.address }),
      Object.assign(document.createElement("span"),
        { textContent: `${i === 0 ? "initiator" : "target"}${end.pdcid ? `, PDCID ${end.pdcid}` : ""}` }));
    $("ends").append(box);
  });
  setAxis(layout.axis);
  showDetails();
  draw();
}
begin();
