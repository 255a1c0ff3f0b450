// A file is shown in the colours that were chosen on the other pages.
try {
  const at = new URL("../", document.currentScript.src).pathname;
  const chosen = JSON.parse(localStorage.getItem(`${at}.__palette`));
  if (chosen) document.documentElement.dataset.scheme = chosen.color.scheme;
} catch {
  // The colours of the system, then.
}
