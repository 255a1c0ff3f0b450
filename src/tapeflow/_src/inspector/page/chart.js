"use strict";
// The curve of memory. Its x axis is the order of the ops; arcs lead from an op to its gradient.

const chart = byId("chart");
const margin = { left: 62, right: 12, top: 46, bottom: 22 };
let cursorAt = peakAt;

function chartSize() {
  return { width: Math.max(chart.clientWidth, 200), height: chart.clientHeight };
}

function scales() {
  const { width, height } = chartSize();
  const last = Math.max(steps.length - 1, 1);
  const most = Math.max(...curve, 1) * 1.04;
  return {
    x: (i) => margin.left + ((width - margin.left - margin.right) * i) / last,
    y: (bytes) => height - margin.bottom - ((height - margin.top - margin.bottom) * bytes) / most,
    at: (pixel) => Math.min(last, Math.max(0, Math.round(((pixel - margin.left) * last) / (width - margin.left - margin.right)))),
    most,
    width,
    height,
  };
}

/** The curve with at most two points for each pixel: of many ops in one, the highest. */
function points({ x, y, width }) {
  const group = Math.max(1, Math.floor(curve.length / width));
  const found = [];
  for (let i = 0; i < curve.length; i += group) {
    let best = i;
    for (let j = i; j < Math.min(i + group, curve.length); j++) if (curve[j] > curve[best]) best = j;
    found.push(`${x(best).toFixed(1)},${y(curve[best]).toFixed(1)}`);
  }
  return found;
}

function arcPath({ x, y }, from, to) {
  const [x0, y0, x1, y1] = [x(from), y(curve[from]), x(to), y(curve[to])];
  return `M${x0},${y0} C${x0},${margin.top - 44} ${x1},${margin.top - 44} ${x1},${y1}`;
}

function bands(svg, { x, height }) {
  let begin = 0;
  for (let i = 1; i <= steps.length; i++) {
    if (i < steps.length && steps[i].phase === steps[begin].phase) continue;
    const left = begin ? (x(begin - 1) + x(begin)) / 2 : x(0);
    const right = i < steps.length ? (x(i - 1) + x(i)) / 2 : x(Math.max(steps.length - 1, 1));
    svg.append(drawn("rect", {
      class: `band ${steps[begin].phase}`, x: left, width: Math.max(0.5, right - left), y: margin.top - 8, height: height - margin.top - margin.bottom + 8,
    }));
    begin = i;
  }
}

function drawChart() {
  const scale = scales();
  const { x, y, most, width, height } = scale;
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-hidden": "true" });
  bands(svg, scale);
  for (const share of [0, 0.5, 1]) {
    const bytes = (most / 1.04) * share;
    svg.append(drawn("line", { class: "axis", x1: margin.left, x2: width - margin.right, y1: y(bytes), y2: y(bytes) }));
    svg.append(drawn("text", { class: "label", x: margin.left - 8, y: y(bytes) + 4, "text-anchor": "end" }, sizeText(Math.round(bytes))));
  }
  const base = y(0);
  svg.append(drawn("path", { class: "area", d: `M${x(0)},${base} L${points(scale).join(" L")} L${x(Math.max(steps.length - 1, 1))},${base} Z` }));
  const large = steps.filter((s) => s.kept && s.gradients.length).sort((a, b) => b.kept - a.kept).slice(0, 8);
  for (const step of large) svg.append(drawn("path", { class: "arc", d: arcPath(scale, step.number, step.gradients[0]) }));
  const end = x(peakAt) > width * 0.75 ? "end" : "start";
  svg.append(drawn("text", { class: "peak", x: x(peakAt) + (end === "end" ? -8 : 8), y: Math.max(12, y(curve[peakAt]) - 6), "text-anchor": end }, `peak ${sizeText(curve[peakAt])}`));
  if (chosen !== null) {
    const home = steps[chosen].of !== undefined ? steps[steps[chosen].of] : steps[chosen];
    for (const to of home.gradients) svg.append(drawn("path", { class: "arc chosen", d: arcPath(scale, home.number, to) }));
    for (const to of home.gradients) svg.append(drawn("circle", { class: "dot gradient", cx: x(to), cy: y(curve[to]), r: 4.5 }));
    svg.append(drawn("circle", { class: "dot", cx: x(home.number), cy: y(curve[home.number]), r: 5.5 }));
  }
  svg.append(drawn("line", { class: "cursor", x1: x(cursorAt), x2: x(cursorAt), y1: margin.top - 8, y2: base }));
  const words = `op ${cursorAt + 1} of ${steps.length}`;
  svg.append(drawn("text", { class: "label", x: width - margin.right, y: height - 6, "text-anchor": "end" }, words));
  svg.append(drawn("text", { class: "label wide", x: margin.left, y: height - 6 }, "in the order in which the ops ran"));
  chart.replaceChildren(svg);
}

function showAlive(all = false) {
  const step = steps[cursorAt];
  if (!step) return;
  const found = aliveAt(cursorAt);
  const total = found.reduce((sum, [, , bytes]) => sum + bytes, 0);
  const head = make("div", {},
    make("b", {}, sizeText(total)), ` in ${found.length} array${found.length === 1 ? "" : "s"} after `,
    make("button", { type: "button", class: "link", onclick: () => choose(cursorAt) }, `${step.name}${step.phase === "forward" ? "" : ` (${step.phase})`}`),
    make("span", { class: "muted" }, whereText(step) ? ` in ${whereText(step)}` : ""),
    step.workspace ? `, and ${sizeText(step.workspace)} that its kernel used meanwhile` : "");
  const names = make("div", { class: "names" });
  for (const [born, , bytes] of all ? found : found.slice(0, 10)) {
    const label = `${sizeText(bytes)}  ${steps[born].name}  ${whereText(steps[born])}`;
    names.append(make("button", { type: "button", class: "chip", title: (steps[born].shapes || []).join(", "), onclick: () => choose(born) }, label));
  }
  if (found.length > 10 && !all) names.append(make("button", { type: "button", class: "link", onclick: () => showAlive(true) }, `and ${found.length - 10} more`));
  byId("alive").replaceChildren(head, names);
  chart.setAttribute("aria-valuenow", cursorAt);
  chart.setAttribute("aria-valuetext", `${sizeText(total)} after ${step.name}, op ${cursorAt + 1}`);
}

function moveCursor(number) {
  cursorAt = Math.min(steps.length - 1, Math.max(0, number));
  drawChart();
  showAlive();
}

function startChart() {
  if (!steps.length || !data.arrays.length) {
    byId("memory").hidden = true;
    return;
  }
  chart.setAttribute("aria-valuemax", steps.length - 1);
  const under = (event) => scales().at(event.clientX - chart.getBoundingClientRect().left);
  chart.addEventListener("pointermove", (event) => moveCursor(under(event)));
  chart.addEventListener("click", (event) => choose(under(event)));
  chart.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20, Home: -steps.length, End: steps.length }[event.key];
    if (move) moveCursor(cursorAt + move);
    else if (event.key === "Enter") choose(cursorAt);
    else return;
    event.preventDefault();
  });
  new ResizeObserver(drawChart).observe(chart);
  onChoice.push((number, from) => moveCursor(from === "chart" ? cursorAt : number));
  moveCursor(peakAt);
}
