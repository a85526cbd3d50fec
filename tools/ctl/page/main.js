// What is drawn of a recording: one congestion context at a time, and all in a table.
const count = d3.format(",");
const numbers = (values) => values.filter((value) => value !== null);
const mean = (values) => d3.mean(numbers(values));
const cell = (value, digits = 1) => value === undefined ? "-" : count(+value.toFixed(digits));

function name_of(path) {
  const several = new Set(recording.paths.map((other) => other.pid + other.address)).size > 1;
  return `${path.peer}, class ${path.tc}, ${path.kind === "single" ? `lane ${path.lane}` : path.kind}, ` +
    path.algorithm + (several ? `, from ${path.address} of ${path.pid} ${path.program}` : "");
}

// Weighted by the ACKs that came.
function share_of(series) {
  const known = series.ecn.map((share, i) =>
    share === null ? [0, 0] : [share, series.acks[i] * (series.t[i] - series.t[i - 1])]);
  const all = d3.sum(known, (pair) => pair[1]);
  return all > 0 ? d3.sum(known, (pair) => pair[0] * pair[1]) / all : undefined;
}

function facts_of(series) {
  return { window: mean(series.window), inflight: d3.max(series.inflight), rtt: mean(series.rtt),
    base: d3.min(numbers(series.base_rtt)), ecn: share_of(series), excluded: d3.max(series.excluded) };
}

function heading() {
  const began = new Date(recording.began_unix_ms);
  const ends = { time: "", interrupted: "; interrupted", gone: "; the process ended",
    full: "; the file was full", failed: "; writing failed" };
  document.title = `uet_ctl: ${recording.file}`;
  document.getElementById("title").textContent = `Congestion contexts in ${recording.file}`;
  document.getElementById("about").textContent =
    `${count(recording.samples)} samples of ${count(recording.paths.length)} contexts, one each ` +
    `${count(recording.interval_ms)} ms, since ${began.toISOString()}` +
    (recording.every > 1 ? `; each ${recording.every}th is drawn` : "") +
    (recording.left_out > 0 ? `; ${count(recording.left_out)} contexts were left out` : "") +
    (recording.end in ends ? ends[recording.end] : "; cut off");
}

function redraw(id, curves, names) {
  const section = document.getElementById(id);
  section.replaceChildren(section.querySelector("h2"));
  plot(id, curves, names);
}

function show(index) {
  const { series } = recording.paths[index];
  const over = (values) => values.map((value, i) => [series.t[i], value]);
  const curves = [{ name: "window", points: over(series.window) },
    { name: "in flight", points: over(series.inflight) },
    { name: "waiting", points: over(series.waiting), hidden: true }];
  if (["rccc", "both", "tfc"].includes(recording.paths[index].algorithm)) {
    curves.push({ name: "credit", points: over(series.credit) });
  }
  const from = series.t[0];
  redraw("window", curves, { x: "s", y: "octets", from });
  redraw("rtt", [{ name: "RTT", points: over(series.rtt) },
    { name: "base RTT", points: over(series.base_rtt) }], { x: "s", y: "us", from });
  redraw("ecn", [{ name: "ECN share", points: over(series.ecn) }],
    { x: "s", y: "share", top: 1, format: ".0%", from });
  redraw("evs", [{ name: "in use", points: over(series.evs.map((all, i) =>
    all === null ? null : all - series.excluded[i])) },
  { name: "resting", points: over(series.resting) },
  { name: "excluded", points: over(series.excluded) }], { x: "s", y: "values", from });
  redraw("acks", [{ name: "ACKs", points: over(series.acks) }], { x: "s", y: "1/s", from });
  const facts = facts_of(series);
  const totals = document.getElementById("totals");
  totals.replaceChildren();
  for (const [name, value] of [["mean window", `${cell(facts.window, 0)} octets`],
    ["most in flight", `${cell(facts.inflight, 0)} octets`], ["mean RTT", `${cell(facts.rtt)} us`],
    ["base RTT", `${cell(facts.base)} us`],
    ["ECN share", facts.ecn === undefined ? "-" : d3.format(".1%")(facts.ecn)],
    ["most excluded EVs", cell(facts.excluded, 0)]]) {
    const item = put(totals, "li");
    put(item, "span", name);
    put(item, "b", value);
  }
  document.getElementById("path").value = String(index);
  [...document.getElementById("paths").children].forEach((row, i) => {
    row.classList.toggle("chosen", i === index);
  });
}

function list_paths() {
  const choice = document.getElementById("path");
  const table = document.getElementById("paths");
  recording.paths.forEach((path, index) => {
    put(choice, "option", name_of(path), { value: String(index) });
    const facts = facts_of(path.series);
    const row = put(table, "tr");
    put(put(row, "td"), "button", name_of(path), { type: "button" })
      .addEventListener("click", () => { show(index); window.scrollTo(0, 0); });
    for (const text of [cell(facts.window, 0), cell(facts.inflight, 0), cell(facts.rtt),
      cell(facts.base), facts.ecn === undefined ? "-" : cell(facts.ecn * 100),
      cell(facts.excluded, 0)]) {
      put(row, "td", text);
    }
  });
  choice.addEventListener("change", () => show(Number(choice.value)));
}

function draw_all() {
  const largest = recording.paths.map((path) => ({ name: name_of(path),
    points: path.series.window.map((value, i) => [path.series.t[i], value]) }))
    .sort((a, b) => d3.descending(d3.max(a.points, (p) => p[1]), d3.max(b.points, (p) => p[1])))
    .slice(0, 10);
  plot("all", largest, { x: "s", y: "octets" });
}

recording.paths = recording.paths.filter((path) => path.series.t);
heading();
list_paths();
if (recording.paths.length > 0) {
  draw_all();
  show(0);
}
