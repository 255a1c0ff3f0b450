"use strict";
// Putting it together: the theme, keys that hold everywhere, and the parts in order.

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = theme === "dark" ? "light" : "dark";
}

const system = matchMedia("(prefers-color-scheme: dark)");
setTheme(system.matches ? "dark" : "light");
system.addEventListener("change", (event) => setTheme(event.matches ? "dark" : "light"));
const switchTheme = () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
byId("theme").addEventListener("click", switchTheme);

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target instanceof HTMLInputElement;
  if (event.key === "Escape" && typing) {
    event.target.value = "";
    search("");
    rowsBox.focus();
  } else if (typing) {
    if (event.key === "ArrowDown" || event.key === "Enter") {
      rowsBox.focus();
      event.preventDefault();
    }
  } else if (event.key === "/") {
    byId("search").focus();
    event.preventDefault();
  } else if (event.key === "g") goToGradient();
  else if (event.key === "d") switchTheme();
});

byId("title").textContent = data.title;
for (const key of document.querySelectorAll(".legend .key.forward, .legend .key.backward, .legend .key.update")) {
  key.hidden = !steps.some((step) => key.classList.contains(step.phase));
}
startTiles();
startAdvice();
startChart();
startSteps();
startGradients();
startFunctions();
for (const [id, words] of [["advice", "Advice"], ["memory", "Memory"], ["steps", "Steps"], ["gradients", "Gradients"], ["function", "Function"]]) {
  if (!byId(id).hidden) byId("nav").append(make("a", { href: `#${id}` }, words));
}
