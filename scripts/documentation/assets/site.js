// The list of names beside a page of the reference is the same for all names of a namespace: here it learns which is shown.
const here = location.pathname.split("/").pop() || "index.html";
for (const link of document.querySelectorAll(".names a")) {
  if (link.getAttribute("href") === here) {
    link.classList.add("md-nav__link--active");
    const list = link.closest(".md-sidebar__scrollwrap");
    if (list) list.scrollTop = link.offsetTop - list.clientHeight / 2;
  }
}
if (document.querySelector(".names")) {
  const tabs = [...document.querySelectorAll(".md-tabs__link")];
  const reference = tabs.find((tab) => tab.href.endsWith("/api/index.html"));
  if (reference) reference.parentElement.classList.add("md-tabs__item--active");
}
