"use strict";
// The steps as a tree: name scopes, then lines, then ops, then the ops of their gradients. Only the rows that can be seen
// are in the document, so 5,000 ops are as quick as 50.

const rowHeight = 30;
const rowsBox = byId("rows");
const rowsAll = rowsBox.firstElementChild;
let visible = [];
let focused = 0;

class TreeNode {
  constructor(kind, label, depth, step) {
    Object.assign(this, { kind, label, depth, step, children: [], open: false, parent: null });
    this.forward = this.backward = this.update = this.kept = this.count = 0;
    this.bad = "";
  }

  add(child) {
    child.parent = this;
    this.children.push(child);
    return child;
  }
}

function opNode(step, depth) {
  const node = new TreeNode("op", step.name, depth, step);
  node.count = 1;
  node[step.phase] += step.time;
  node.kept = step.kept || 0;
  node.bad = badText(step.values);
  for (const number of step.gradients) {
    const gradient = node.add(new TreeNode("gradient", steps[number].name, depth + 1, steps[number]));
    gradient.backward = steps[number].time;
    gradient.bad = badText(steps[number].values);
    node.backward += gradient.backward;
    node.count += 1;
  }
  return node;
}

/** Ops that follow each other in one scope are a group, and in it those of one line. */
function grown(found, title) {
  const root = new TreeNode("group", title, 0);
  let path = [];
  let line = null;
  const open = [root];
  for (const step of found) {
    const scopes = step.scope ? step.scope.split("/") : [];
    let same = 0;
    while (same < scopes.length && same < path.length && scopes[same] === path[same]) same++;
    if (same < path.length || same < scopes.length) {
      line = null;
      open.length = same + 1;
      for (const scope of scopes.slice(same)) open.push(open.at(-1).add(new TreeNode("group", scope, open.length)));
      path = scopes;
    }
    const place = placeText(step);
    if (!line || line.label !== place) {
      line = open.at(-1).add(new TreeNode("line", place, open.length));
      line.code = codeOf(step);
    }
    line.add(opNode(step, open.length + 1));
  }
  return root;
}

/** A line with one op is that op; sums are made from the leaves up. */
function settled(node) {
  node.children = node.children.map((child) => {
    if (child.kind === "line" && child.children.length === 1) {
      const only = child.children[0];
      only.parent = node;
      only.code = child.code;
      for (const one of [only, ...only.children]) one.depth -= 1;
      return only;
    }
    return child;
  });
  for (const child of node.children) {
    settled(child);
    if (node.kind === "op") continue;
    for (const key of ["forward", "backward", "update", "kept", "count"]) node[key] += child[key];
    node.bad = node.bad || child.bad;
  }
  return node;
}

const roots = (() => {
  const parts = [
    [steps.filter((s) => s.phase === "forward"), "forward and its gradients"],
    [steps.filter((s) => s.phase === "backward" && s.of === undefined), "backward, of no single op"],
    [steps.filter((s) => s.phase === "update"), "update"],
  ];
  return parts.filter(([found]) => found.length).map(([found, title]) => settled(grown(found, title)));
})();

const longest = Math.max(1, ...roots.flatMap((root) => everyNode(root)).filter((n) => n.kind === "op").map((n) => Math.max(n.forward, n.backward, n.update)));

function everyNode(root) {
  const found = [];
  const stack = [root];
  while (stack.length) {
    const node = stack.pop();
    found.push(node);
    for (let i = node.children.length - 1; i >= 0; i--) stack.push(node.children[i]);
  }
  return found;
}

const nodeOf = new Map();
for (const root of roots) {
  for (const node of everyNode(root)) if (node.step) nodeOf.set(node.step.number, node);
}

function list(wanted) {
  visible = [];
  const walk = (node) => {
    if (wanted && !wanted.has(node)) return;
    visible.push(node);
    if (node.open || wanted) node.children.forEach(walk);
  };
  roots.forEach(walk);
  focused = Math.min(focused, Math.max(0, visible.length - 1));
  rowsAll.style.height = `${visible.length * rowHeight}px`;
  rowsBox.style.maxHeight = `${visible.length * rowHeight + 2}px`;
  showRows();
}

function bars(node) {
  const scale = node.kind === "op" || node.kind === "gradient" ? longest : Math.max(...roots.map((r) => Math.max(r.forward, r.backward, r.update)), 1);
  const half = (kind, time) => {
    const width = Math.min(100, (100 * time) / scale);
    return make("span", { class: `half ${kind}` }, time ? make("i", { style: `width:${width}%` }) : "", make("em", {}, time ? timeText(time) : ""));
  };
  const first = node.update && !node.forward ? half("f u", node.update) : half("f", node.forward);
  return make("span", { class: "both" }, first, half("b", node.backward));
}

function rowOf(node, index) {
  const step = node.step;
  const isChosen = index === focused;
  const many = node.kind === "group" || node.kind === "line";
  const twist = make("button", { class: "twist", type: "button", tabindex: "-1", "aria-hidden": "true", onclick: (e) => { e.stopPropagation(); toggle(node); } }, node.children.length ? (node.open ? "▾" : "▸") : "");
  const line = node.kind === "group" ? `${node.count} ops` : node.kind === "line" ? (node.code ? node.label : "") : node.code ? `${placeText(step)}  ${node.code}` : node.kind === "op" && node.parent.kind !== "line" ? placeText(step) : "";
  const what = make("span", { class: "what", style: `--depth:${Math.min(node.depth, 8)}` },
    twist,
    node.kind === "gradient" ? make("span", { class: "tag backward" }, "gradient") : step && step.phase === "update" ? make("span", { class: "tag update" }, "update") : "",
    make("span", { class: `name${node.kind === "group" ? "" : " mono"}` }, (node.kind === "line" && node.code) || node.label || "(no line)"),
    node.bad ? make("span", { class: "tag bad" }, node.bad) : "",
    make("span", { class: "line" }, line));
  const gradient = step && step.gradient;
  return make("div", {
    class: `row ${node.kind}${isChosen ? " chosen" : ""}`, role: "treeitem", id: isChosen ? "row-focused" : undefined,
    "aria-level": node.depth + 1, "aria-expanded": node.children.length ? String(node.open) : undefined, "aria-selected": String(isChosen),
    style: `top:${index * rowHeight}px`, onclick: () => focusRow(index, true), ondblclick: () => toggle(node),
  }, what,
  make("span", { class: "shape" }, step ? (step.shapes || []).join(" ") : ""), bars(node),
  make("span", { class: "kept" }, node.kept ? sizeText(node.kept) : ""),
  make("span", { class: "norm" }, gradient ? (badText(gradient) || threeDigits(gradient.norm)) : ""));
}

function showRows() {
  const first = Math.max(0, Math.floor(rowsBox.scrollTop / rowHeight) - 6);
  const last = Math.min(visible.length, Math.ceil((rowsBox.scrollTop + rowsBox.clientHeight) / rowHeight) + 6);
  rowsAll.replaceChildren(...visible.slice(first, last).map((node, i) => rowOf(node, first + i)));
  rowsBox.setAttribute("aria-activedescendant", "row-focused");
}

function focusRow(index, andChoose) {
  focused = Math.min(visible.length - 1, Math.max(0, index));
  const top = focused * rowHeight;
  if (top < rowsBox.scrollTop) rowsBox.scrollTop = top;
  if (top + rowHeight > rowsBox.scrollTop + rowsBox.clientHeight) rowsBox.scrollTop = top + rowHeight - rowsBox.clientHeight;
  showRows();
  const node = visible[focused];
  if (andChoose && node) {
    if (node.step) choose(node.step.number, "rows");
    else showGroup(node);
  }
}

function toggle(node, open = !node.open) {
  if (!node.children.length) return;
  node.open = open;
  list();
}

function reveal(number) {
  const node = nodeOf.get(number);
  if (!node) return;
  for (let up = node.parent; up; up = up.parent) up.open = true;
  if (byId("search").value) {
    byId("search").value = "";
    byId("found").textContent = "";
  }
  list();
  const index = visible.indexOf(node);
  rowsBox.scrollTop = Math.max(0, index * rowHeight - rowsBox.clientHeight / 2);
  focusRow(index, false);
}

function search(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) {
    byId("found").textContent = "";
    list();
    return;
  }
  const wanted = new Set();
  let count = 0;
  for (const [number, node] of nodeOf) {
    const step = steps[number];
    const all = `${step.name} ${step.scope || ""} ${placeText(step)} ${codeOf(step)} ${(step.shapes || []).join(" ")} ${step.phase} ${badText(step.values)}`.toLowerCase();
    if (words.every((word) => all.includes(word))) {
      count += 1;
      for (let up = node; up; up = up.parent) wanted.add(up);
    }
  }
  byId("found").textContent = `${count} found`;
  rowsBox.scrollTop = 0;
  list(wanted);
}

// What is known of one op.

function stepLink(number) {
  const step = steps[number];
  return make("button", { type: "button", class: "link", onclick: () => choose(number) }, `${step.name}`);
}

function facts(pairs) {
  const found = make("dl");
  for (const [name, value] of pairs) if (value) found.append(make("dt", {}, name), make("dd", {}, value));
  return found;
}

function linked(title, numbers) {
  if (!numbers.length) return [];
  const items = numbers.slice(0, 12).map((n) => (typeof n === "number" ? make("li", {}, stepLink(n), make("span", { class: "muted where" }, whereText(steps[n]))) : make("li", {}, n)));
  if (numbers.length > 12) items.push(make("li", { class: "muted" }, `and ${numbers.length - 12} more`));
  return [make("h4", {}, title), make("ul", {}, ...items)];
}

function numbersText(numbers) {
  if (!numbers) return "";
  return [`norm ${threeDigits(numbers.norm)}`, numbers.zeros ? `${percent(numbers.zeros)} zeros` : "", badText(numbers)].filter(Boolean).join(", ");
}

function showDetails(number) {
  const step = steps[number];
  const backward = step.gradients.reduce((sum, n) => sum + steps[n].time, 0);
  const array = data.arrays.find(([born]) => born === number);
  const life = array ? (array[1] === null ? "until the end" : `until op ${array[1]}`) : "";
  byId("details").replaceChildren(
    make("h3", {}, make("span", { class: "mono" }, step.name), make("span", { class: "muted" }, `  ${step.phase}, op ${number + 1}`)),
    make("div", { class: "muted" }, [step.scope, placeText(step)].filter(Boolean).join("  ·  ")),
    codeOf(step) ? make("div", { class: "code" }, codeOf(step)) : "",
    facts([
      ["makes", (step.shapes || []).join(", ")], ["on", step.device],
      ["kernel", step.kernel ? timeText(step.kernel) : ""], ["Python before it", step.before ? timeText(step.before) : ""],
      ["its gradient takes", backward ? timeText(backward) : ""],
      ["new bytes", step.made ? `${sizeText(step.made)}, there ${life}` : ""], ["used by the kernel", step.workspace ? sizeText(step.workspace) : ""],
      ["kept for the backward pass", step.kept ? sizeText(step.kept) : ""], ["values", numbersText(step.values)], ["gradient", numbersText(step.gradient)],
    ]),
    ...(step.keeps && step.keeps.length ? [make("h4", {}, `Keeps ${step.keeps.join(", ")} for this formula`), make("div", { class: "code" }, step.formula)] : step.formula ? [make("h4", {}, "The formula of its gradient"), make("div", { class: "code" }, step.formula)] : []),
    ...(step.of !== undefined ? linked("Is part of the gradient of", [step.of]) : []),
    ...linked("Its gradient", step.gradients), ...linked("Takes", (step.inputs || []).filter((x) => x !== null)), ...linked("Used by", step.users));
}

function showGroup(node) {
  const inside = everyNode(node).filter((n) => n.kind === "op");
  const heavy = inside.filter((n) => n.forward + n.backward + n.update).sort((a, b) => b.forward + b.backward + b.update - a.forward - a.backward - a.update).slice(0, 8);
  byId("details").replaceChildren(
    make("h3", {}, node.label), node.code ? make("div", { class: "code" }, node.code) : "",
    facts([["ops", String(node.count)], ["forward", node.forward ? timeText(node.forward) : ""], ["backward", node.backward ? timeText(node.backward) : ""], ["update", node.update ? timeText(node.update) : ""], ["kept for the backward pass", node.kept ? sizeText(node.kept) : ""]]),
    heavy.length ? make("h4", {}, "What takes the most time") : "",
    make("ul", {}, ...heavy.map((n) => make("li", {}, stepLink(n.step.number), make("span", { class: "muted place" }, breakable(whereText(n.step))), make("span", { class: "muted" }, timeText(n.forward + n.backward + n.update))))));
}

function goToGradient() {
  if (chosen === null) return;
  const step = steps[chosen];
  if (step.of !== undefined) choose(step.of);
  else if (step.gradients.length) choose(step.gradients[0]);
}

function startSteps() {
  if (!steps.length) {
    byId("steps").hidden = true;
    return;
  }
  // From the whole to what fits on a screen: the heaviest group of what is shown is opened, as long as there is room.
  const time = (node) => node.forward + node.backward + node.update;
  let room = 20 - roots.length;
  const waiting = [...roots];
  while (waiting.length) {
    waiting.sort((a, b) => b.depth === 0 || a.depth === 0 ? a.depth - b.depth : time(b) - time(a));
    const node = waiting.shift();
    if (node.depth && node.children.length > room) continue;
    node.open = true;
    room -= node.children.length;
    waiting.push(...node.children.filter((child) => child.kind === "group"));
  }
  rowsBox.addEventListener("scroll", showRows, { passive: true });
  new ResizeObserver(showRows).observe(rowsBox);
  rowsBox.addEventListener("keydown", (event) => {
    const node = visible[focused];
    const page = Math.floor(rowsBox.clientHeight / rowHeight) - 1;
    const moves = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -visible.length, End: visible.length };
    if (event.key in moves) focusRow(focused + moves[event.key], true);
    else if (event.key === "ArrowRight") node.children.length && !node.open ? toggle(node, true) : focusRow(focused + 1, true);
    else if (event.key === "ArrowLeft") node.open && node.children.length ? toggle(node, false) : node.parent && focusRow(visible.indexOf(node.parent), true);
    else if (event.key === "Enter" || event.key === " ") focusRow(focused, true);
    else return;
    event.preventDefault();
  });
  byId("search").addEventListener("input", (event) => search(event.target.value));
  const all = (open) => { for (const root of roots) for (const node of everyNode(root)) node.open = open && node.kind !== "op"; list(); };
  byId("open-all").addEventListener("click", () => all(true));
  byId("close-all").addEventListener("click", () => all(false));
  onChoice.push((number, from) => {
    if (from !== "rows") reveal(number);
    showDetails(number);
  });
  list();
  showGroup(roots[0]);
}
