"use strict";
// What the page is about: the data, and questions about it.

const data = JSON.parse(document.getElementById("data").textContent);
const steps = data.steps;
steps.forEach((step, number) => {
  step.number = number;
  step.phase = step.phase || "forward";
  step.time = (step.kernel || 0) + (step.before || 0);
  step.gradients = [];
  step.users = [];
});
for (const step of steps) {
  if (step.of !== undefined) steps[step.of].gradients.push(step.number);
  for (const input of step.inputs || []) if (typeof input === "number") steps[input].users.push(step.number);
}

const byId = (id) => document.getElementById(id);

/** An element with attributes and children; text becomes text, never markup. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== null && child !== ""));
  return element;
}

/** Text whose parts between backticks are code. */
const marked = (text) => text.split("`").map((part, i) => (i % 2 ? make("code", {}, part) : part));

/** A path that may go on in the next line after each of its parts. */
const breakable = (path) => path.replaceAll("/", "/\u200b");

function drawn(tag, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

function threeDigits(value) {
  if (value === 0) return "0";
  if (value >= 1000 || value < 1e-3) return value.toExponential(2).replace("e+", "e");
  return String(Number(value.toPrecision(3)));
}

function timeText(nanoseconds) {
  for (const [unit, factor] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) {
    if (nanoseconds >= factor) return `${Number((nanoseconds / factor).toPrecision(3))} ${unit}`;
  }
  return `${Math.round(nanoseconds)} ns`;
}

function sizeText(bytes) {
  for (const [unit, factor] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]]) {
    if (bytes >= factor) {
      const value = bytes / factor;
      return `${value >= 100 ? Math.round(value) : Number(value.toPrecision(3))} ${unit}`;
    }
  }
  return `${bytes} B`;
}

const percent = (share) => (share > 0 && share < 0.01 ? "<1%" : `${Math.round(100 * share)}%`);

function placeText(step) {
  if (step.file === undefined) return "";
  return `${data.files[step.file].name}:${step.line}`;
}

/** The innermost scopes, which name a layer; else the line. */
const whereText = (step) => (step.scope ? step.scope.split("/").slice(-2).join("/") : placeText(step));

const codeOf = (step) => (step.file === undefined ? "" : data.files[step.file].code[step.line] || "");

function badText(numbers) {
  if (!numbers) return "";
  const parts = [];
  if (numbers.nans) parts.push(`${numbers.nans} NaN`);
  if (numbers.infs) parts.push(`${numbers.infs} inf`);
  return parts.join(", ");
}

// Memory: for each step the bytes that are there when its kernel has ended, and which arrays these are.

const curve = (() => {
  const change = new Float64Array(steps.length + 1);
  for (const [born, died, bytes] of data.arrays) {
    change[born] += bytes;
    if (died !== null && died <= steps.length) change[died] -= bytes;
  }
  let total = 0;
  return steps.map((step, i) => (total += change[i]) + (step.workspace || 0));
})();

const peakAt = curve.reduce((best, value, i) => (value > curve[best] ? i : best), 0);

function aliveAt(number) {
  return data.arrays
    .filter(([born, died]) => born <= number && (died === null || died > number))
    .sort((a, b) => b[2] - a[2]);
}

// Choosing a step: whoever cares is told.

let chosen = null;
const onChoice = [];
function choose(number, from) {
  chosen = number;
  for (const listener of onChoice) listener(number, from);
}
