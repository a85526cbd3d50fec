"use strict";
const size = { width: 600, height: 250, left: 58, right: 12, top: 8, bottom: 34 };
const colours = d3.schemeTableau10;

// Names and values of a run are text, and stay text.
function put(parent, tag, text, attributes = {}) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return parent.appendChild(made);
}

const short = (value) => value === null || value === undefined ? "-"
  : Math.abs(value) >= 1000 ? d3.format(".3s")(value)
  : String(Math.round(value * 1000) / 1000);

function axes(svg, x, y, names) {
  const bottom = size.height - size.bottom;
  svg.append("g").attr("class", "grid").attr("transform", `translate(${size.left},0)`)
    .call(d3.axisLeft(y).ticks(5).tickSize(-(size.width - size.left - size.right)).tickFormat(""));
  svg.append("g").attr("transform", `translate(0,${bottom})`).call(d3.axisBottom(x).ticks(7, "~s"));
  svg.append("g").attr("transform", `translate(${size.left},0)`)
    .call(d3.axisLeft(y).ticks(5, names.format || "~s"));
  svg.append("text").attr("x", size.width - size.right).attr("y", size.height - 4)
    .attr("text-anchor", "end").text(names.x);
  svg.append("text").attr("transform", "rotate(-90)").attr("x", -size.top).attr("y", 12)
    .attr("text-anchor", "end").text(names.y);
}

// A button for each curve, which hides it and shows it.
function legend(section, curves, toggled) {
  const box = put(section, "div", undefined, { class: "legend" });
  for (const curve of curves) {
    const button = put(box, "button", undefined, { type: "button", "aria-pressed": String(!curve.hidden) });
    put(button, "span", undefined, { class: "key" }).style.borderColor = curve.colour;
    button.append(curve.name);
    button.addEventListener("click", () => {
      curve.hidden = !curve.hidden;
      button.setAttribute("aria-pressed", String(!curve.hidden));
      toggled();
    });
  }
}

// curves: [{name, points: [[x, y], ...], step, hidden}], where a y of null is a gap; what the pointer
// is at is written below.
function plot(id, curves, names, bands = []) {
  const section = document.getElementById(id);
  curves.forEach((curve, i) => { curve.colour = colours[i % colours.length]; });
  const svg = d3.select(section).append("svg").attr("role", "img")
    .attr("viewBox", `0 0 ${size.width} ${size.height}`)
    .attr("aria-label", section.querySelector("h2").textContent);
  const read = () => section.querySelector(".read");
  let x;
  const draw = () => {
    svg.selectAll("*").remove();
    const shown = curves.filter((curve) => !curve.hidden);
    const all = shown.flatMap((curve) => curve.points).concat(bands.flatMap((band) => band.edge));
    x = d3.scaleLinear().domain([names.from || 0, d3.max(all, (p) => p[0]) || 1])
      .range([size.left, size.width - size.right]);
    const y = d3.scaleLinear().domain([0, names.top || d3.max(all, (p) => p[1]) || 1])
      .range([size.height - size.bottom, size.top]);
    axes(svg, x, y, names);
    for (const band of bands) {
      svg.append("path").attr("class", "band").attr("fill", colours[0])
        .attr("d", d3.area().x((p) => x(p[0])).y0((p) => y(p[1])).y1((p) => y(p[2]))(band.area));
    }
    for (const curve of shown) {
      const line = d3.line().defined((p) => p[1] !== null).x((p) => x(p[0])).y((p) => y(p[1]));
      if (curve.step) line.curve(d3.curveStepAfter);
      svg.append("path").attr("class", "curve").attr("stroke", curve.colour)
        .attr("data-name", curve.name).attr("d", line(curve.points) || "");
    }
  };
  draw();
  legend(section, curves, draw);
  put(section, "p", undefined, { class: "read dim" });
  svg.node().addEventListener("pointermove", (event) => {
    const box = svg.node().getBoundingClientRect();
    const at = x.invert((event.clientX - box.left) / box.width * size.width);
    const find = d3.bisector((p) => p[0]).right;
    const words = curves.filter((curve) => !curve.hidden).map((curve) => {
      const point = curve.points[Math.max(0, find(curve.points, at) - 1)];
      return `${curve.name} ${short(point && point[1])}`;
    });
    read().textContent = `${short(at)} ${names.x}: ${words.join(", ")}`;
  });
}
