// A grid for each kind of link and direction: a row for each switch, a cell for each of its links.
const metrics = [
  { name: "utilisation", of: (link) => link.use, format: d3.format(".1%"), top: 1 },
  { name: "trimmed", of: (link) => link.trimmed, format: d3.format(",") },
  { name: "marked", of: (link) => link.marked, format: d3.format(",") },
  { name: "dropped", of: (link) => link.dropped, format: d3.format(",") },
  { name: "longest queue", of: (link) => link.queue, format: (bytes) => `${d3.format(",")(bytes)} B` },
];

function grid(kind, links) {
  const rows = d3.nest().key((link) => link.row).entries(links);
  const columns = d3.max(rows, (row) => row.values.length);
  const cell = Math.max(3, Math.min(18, Math.floor(900 / Math.max(columns, rows.length))));
  const left = cell >= 9 ? 62 : 2;
  const figure = put(document.getElementById("maps"), "figure");
  const caption = put(figure, "figcaption");
  const svg = d3.select(figure).append("svg").attr("width", left + columns * cell + 2)
    .attr("height", rows.length * cell + 2).attr("role", "img").attr("aria-label", kind);
  const cells = [];
  rows.forEach((row, y) => {
    if (left > 2) {
      svg.append("text").attr("x", left - 4).attr("y", (y + .8) * cell).attr("text-anchor", "end")
        .text(row.key);
    }
    row.values.forEach((link, x) => {
      const rect = svg.append("rect").attr("class", "cell").attr("x", left + x * cell)
        .attr("y", y * cell + 1).attr("width", cell).attr("height", cell).datum(link);
      rect.append("title").text(`${link.from} > ${link.to}`);
      cells.push(rect);
    });
  });
  return { kind, links, caption, cells };
}

function show_link(link, kind) {
  const box = document.getElementById("link");
  box.replaceChildren();
  put(box, "b", link ? `${link.from} > ${link.to}` : "Click a link to see its numbers");
  if (!link) return;
  const facts = [`${link.link}, ${short(link.gbps)} Gb/s, ${kind}`,
    `${d3.format(",")(link.bytes)} octets`];
  for (const metric of metrics) facts.push(`${metric.name} ${metric.format(metric.of(link))}`);
  put(box, "p", facts.join("; "));
}

function draw_maps() {
  const grids = d3.nest().key((link) => link.kind).entries(run.links)
    .map((entry) => grid(entry.key, entry.values));
  const buttons = document.getElementById("metric");
  const paint = (metric) => {
    for (const { kind, links, caption, cells } of grids) {
      const most = d3.max(links, metric.of);
      const scale = d3.scaleSequential(d3.interpolateYlOrRd).domain([0, metric.top || most || 1]);
      caption.textContent = `${kind}: ${metric.name}, at most ${metric.format(most)}, ` +
        `mean ${metric.format(metric.name === "utilisation" ? d3.mean(links, metric.of)
          : Math.round(d3.mean(links, metric.of)))}`;
      for (const rect of cells) rect.attr("fill", scale(metric.of(rect.datum())));
    }
    for (const button of buttons.children) {
      button.setAttribute("aria-pressed", String(button.textContent === metric.name));
    }
  };
  for (const metric of metrics) {
    put(buttons, "button", metric.name, { type: "button" })
      .addEventListener("click", () => paint(metric));
  }
  document.getElementById("maps").addEventListener("click", (event) => {
    if (!event.target.classList.contains("cell")) return;
    d3.selectAll(".cell.chosen").classed("chosen", false);
    const link = d3.select(event.target).classed("chosen", true).datum();
    show_link(link, link.kind);
  });
  paint(metrics[0]);
  show_link();
}
