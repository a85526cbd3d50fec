// What is drawn of a run.
function heading() {
  const what = run.matrix || run.workload || run.plan;
  document.title = `uet_sim: ${what} on ${run.topology}`;
  document.getElementById("title").textContent = `${what} on ${run.topology}`;
  document.getElementById("about").textContent =
    `congestion control ${run.congestion}, paths ${run.balancing}, seed ${run.seed}; base RTT ` +
    `${short(run.base_rtt_us)} us, BDP ${d3.format(",")(run.bdp_bytes)} octets, packets of ` +
    `${run.packet_bytes} octets; ` + (run.finished ? "all flows have ended" : "NOT FINISHED");
  const totals = document.getElementById("totals");
  for (const [name, value] of Object.entries(run.totals)) {
    const item = put(totals, "li");
    put(item, "span", name.replaceAll("_", " "));
    put(item, "b", Number.isInteger(value) ? d3.format(",")(value) : short(value));
  }
}

function draw_completion() {
  const done = run.flows.filter((flow) => flow.finish_us !== null && flow.from !== flow.to);
  const curves = d3.nest().key((flow) => flow.kind).entries(done).map((entry) => {
    const times = entry.values.map((flow) => flow.finish_us - flow.start_us).sort(d3.ascending);
    const points = times.map((time, i) => [time, (i + 1) / times.length]);
    return { name: entry.key || "flows", points: [[times[0], 0], ...points], step: true };
  });
  plot("fct", curves, { x: "us", y: "share", top: 1, format: ".0%",
    from: d3.min(curves, (curve) => curve.points[0][0]) * .95 });
}

function draw_samples(samples) {
  const over = (values) => values.map((value, i) => [samples.at_us[i], value]);
  const kinds = Object.entries(samples.links);
  plot("depth", kinds.map(([name, kind]) => ({ name, points: over(kind.queue_max) })),
    { x: "us", y: "octets" });
  plot("paths", kinds.map(([name, kind]) =>
    ({ name, points: over(kind.in_use.map((count) => count / kind.ports)) })),
  { x: "us", y: "share", top: 1, format: ".0%" });
  plot("load", kinds.map(([name, kind]) => ({ name, points: over(kind.utilisation) })),
    { x: "us", y: "share", top: 1, format: ".0%" });
  plot("queues", samples.queues.slice(0, 10).map((queue) =>
    ({ name: `${queue.from} > ${queue.to}`, points: over(queue.bytes) })), { x: "us", y: "octets" });
  const windows = samples.windows;
  const area = samples.at_us.map((at, i) => [at, windows.p10[i], windows.p90[i]]);
  plot("window", [{ name: "median window", points: over(windows.p50) },
    { name: "mean in flight", points: over(windows.inflight_mean) },
    { name: "10 % have less", points: over(windows.p10) },
    { name: "10 % have more", points: over(windows.p90) }],
  { x: "us", y: "octets" }, [{ area, edge: over(windows.p90) }]);
}

heading();
draw_completion();
if (run.samples) draw_samples(run.samples);
draw_maps();
