"use strict";
// The rest of the page: numbers at the top, advice, gradients, the traced function.

function tile(value, words, split) {
  const parts = split ? make("div", { class: "split" }, ...split.map(([share, colour]) => make("i", { style: `width:${100 * share}%;background:var(--${colour})` }))) : "";
  return make("div", { class: `tile ${split ? "split-tile" : ""}` }, make("b", {}, value), parts, make("span", {}, words));
}

function startTiles() {
  const sum = (phase, key) => steps.filter((s) => s.phase === phase).reduce((total, s) => total + (s[key] || 0), 0);
  const [forward, backward, update] = ["forward", "backward", "update"].map((phase) => sum(phase, "time"));
  const all = forward + backward + update;
  const kernels = steps.reduce((total, s) => total + (s.kernel || 0), 0);
  const kept = steps.reduce((total, s) => total + (s.kept || 0), 0);
  const found = [];
  if (all) {
    const which = forward ? `in all ops${data.functions.length ? ", one by one" : ""}` : "in the ops of the walk back";
    found.push(tile(timeText(data.wall || all), data.wall ? `a run, op by op; the ops add up to ${timeText(all)}` : which));
    if (forward) found.push(tile(`${percent(forward / all)} / ${percent(backward / all)}${update ? ` / ${percent(update / all)}` : ""}`, `forward / backward${update ? " / update" : ""}`, [[forward / all, "forward"], [backward / all, "backward"], [update / all, "update"]]));
    if (data.wall) found.push(tile(percent(1 - kernels / all), "of it is Python between the kernels"));
  }
  const timed = data.functions.filter((each) => each.wall);
  if (data.functions.length && timed.length === data.functions.length) {
    const peak = timed.length === 1 && timed[0].peak;
    const words = timed.length === 1 ? "a call of the tf.function" : `the calls of ${timed.length} traced functions`;
    found.push(tile(timeText(timed.reduce((total, each) => total + each.wall, 0)), `${words}${peak ? `, with ${sizeText(peak)} at its peak` : ""}`));
  }
  if (steps.length) found.push(tile(String(steps.length), "ops"));
  if (data.arrays.length) found.push(tile(sizeText(curve[peakAt]), `memory at the peak${data.functions.length ? ", op by op" : ""}${data.held ? `, beside ${sizeText(data.held)} of variables and arguments` : ""}`));
  if (kept) found.push(tile(sizeText(kept), "kept for the backward pass"));
  byId("tiles").replaceChildren(...found);
}

function startAdvice() {
  const box = byId("advice");
  box.hidden = !data.advice.length;
  for (const each of data.advice) {
    const where = [each.where, each.gain].filter(Boolean).join("  ·  ");
    box.querySelector("ul").append(make("li", { class: `card ${each.bad ? "bad" : ""}` }, make("p", {}, ...marked(each.text)),
      make("div", { class: "where" }, each.step !== undefined ? make("button", { type: "button", class: "link", onclick: () => choose(each.step) }, where || "show it") : where)));
  }
}

function drawnPath(missing) {
  const path = make("div", { class: "path" }, make("span", { class: "hop" }, make("b", {}, missing.name)));
  // Where no op is the cut, the value was lost on the way to the first one.
  let lost = !missing.path.some((hop) => hop.cut);
  if (lost && missing.path.length) path.append(make("span", { class: "way lost" }), make("span", { class: "hop cut" }, "✂ left the tape"));
  for (const hop of missing.path) {
    path.append(make("span", { class: `way ${lost ? "lost" : ""}` }));
    path.append(make("span", { class: `hop ${hop.cut ? "cut" : ""}` }, hop.cut ? "✂ " : "", hop.op, hop.place ? make("small", {}, ` ${hop.place}`) : ""));
    lost = lost || hop.cut;
  }
  path.append(make("span", { class: "way lost" }), make("span", { class: "hop" }, missing.path.length ? "target" : "✂ target"));
  return path;
}

function startGradients() {
  const found = data.gradients;
  byId("gradients").hidden = !found.length;
  if (!found.length) return;
  const most = Math.max(...found.map((g) => (g.numbers ? g.numbers.norm : 0)), 1e-30);
  const least = Math.min(...found.map((g) => (g.numbers && g.numbers.norm ? g.numbers.norm : most)));
  const length = (norm) => (norm ? (most === least ? 100 : 12 + (88 * Math.log(norm / least)) / Math.log(most / least)) : 0);
  const body = make("tbody");
  for (const gradient of found) {
    if (gradient.missing) {
      body.append(make("tr", { class: "none" }, make("td", { colspan: 5, class: "why" },
        make("p", {}, make("b", {}, `${gradient.name} is None: `), ...marked(gradient.missing.text)), drawnPath(gradient.missing), make("p", { class: "muted" }, ...marked(gradient.missing.fix || "")))));
      continue;
    }
    const n = gradient.numbers;
    body.append(make("tr", {}, make("td", {}, breakable(gradient.name)), make("td", { class: "shape mono muted" }, gradient.shape),
      make("td", {}, n ? make("span", { class: "meter" }, make("i", { style: `width:${length(n.norm)}%` })) : "", n ? threeDigits(n.norm) : "not a floating tensor"),
      make("td", { class: "number" }, n ? percent(n.zeros) : ""), make("td", { class: "number" }, n ? badText(n) || "–" : "")));
  }
  const titles = [["variable"], ["shape", "shape"], ["norm (the bar is logarithmic)"], ["zeros", "number"], ["not finite", "number"]];
  const head = make("tr", {}, ...titles.map(([text, kind]) => make("th", { scope: "col", class: kind }, text)));
  byId("gradients").querySelector(".table").append(make("table", {}, make("thead", {}, head), body));
}

function startFunctions() {
  const found = data.functions;
  byId("function").hidden = !found.length;
  byId("function-title").textContent = found.length > 1 ? "The traced functions" : "The traced function";
  const body = byId("function").querySelector(".body");
  // Where there are several, one is open: the longest, or the longest of the user's own.
  const own = found.filter((each) => each.place);
  const longest = (own.length ? own : found).reduce((most, each) => (most && most.fates.length >= each.fates.length ? most : each), null);
  for (const traced of found) {
    if (found.length === 1) body.append(headOf(traced), ...partsOf(traced));
    else body.append(make("details", { class: "function", open: traced === longest }, make("summary", {}, ...headOf(traced).childNodes), ...partsOf(traced)));
  }
}

/** The name of a traced function, where it is, and how often it was traced. */
function headOf(traced) {
  const often = traced.traces === 1 ? "traced once" : `traced ${traced.traces} times`;
  const words = [traced.place, traced.traces ? `${often}${traced.tracing ? `, in ${timeText(traced.tracing)}` : ""}` : "", traced.wall ? `${timeText(traced.wall)} a call` : ""];
  return make("p", {}, make("b", {}, traced.name), make("span", { class: "muted" }, words.filter(Boolean).map((text) => `  ·  ${text}`).join("")));
}

function partsOf(traced) {
  const counts = {};
  for (const fate of traced.fates) counts[fate.what] = (counts[fate.what] || 0) + 1;
  // At first, what has changed; if nothing has, everything.
  const shown = new Set(Object.keys(counts).filter((what) => what !== "kept"));
  if (!shown.size) shown.add("kept");
  const listed = make("div", { class: "fates", tabindex: "0", role: "list", "aria-label": "What became of each op" });
  const summary = Object.entries(counts).map(([what, count]) => make("button", { type: "button", class: "filter", "aria-pressed": String(shown.has(what)), onclick: (event) => {
    shown.has(what) ? shown.delete(what) : shown.add(what);
    event.currentTarget.setAttribute("aria-pressed", String(shown.has(what)));
    listFates();
  } }, make("b", {}, String(count)), ` ${what}`));
  function listFates() {
    listed.replaceChildren(...traced.fates.filter((fate) => shown.has(fate.what)).map((fate) => make("div", { class: "fate", role: "listitem" },
      make("b", { class: fate.what }, fate.what), make("span", { class: "mono" }, fate.name), make("span", { class: "why" }, fate.why), make("span", { class: "where muted" }, fate.place))));
  }
  listFates();
  const folded = (title, text) => make("details", {}, make("summary", {}, title), make("pre", {}, text));
  return [
    make("p", {}, "Which programs were tried, and the times that decide:"), make("pre", {}, traced.report),
    make("p", {}, "What the passes made of each traced op:"), make("div", { class: "counts" }, ...summary), listed,
    folded("The graph as it was traced", traced.before), folded("The graph after the passes", traced.after), folded("The NumPy program", traced.program),
  ];
}
