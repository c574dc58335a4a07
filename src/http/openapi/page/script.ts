/**
 * The script of the page. Without a base URL, it puts the address of the page into the examples. It adds the search, the buttons that copy code, and the mark of the section in view to the index. Without it the
 * page is complete for reading.
 */
export const PAGE_SCRIPT = `
"use strict";
const { exampleHost } = document.body.dataset;
if (exampleHost && exampleHost !== location.origin) {
  const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll(exampleHost, location.origin);
}
const index = document.querySelector("nav");
const search = document.createElement("input");
search.type = "search";
search.placeholder = "Search";
search.setAttribute("aria-label", "Search the reference");
const status = document.createElement("p");
status.className = "hint";
status.setAttribute("role", "status");
const links = [...index.querySelectorAll("li a")];
const texts = new Map(links.map((link) => {
  const target = document.getElementById(link.hash.slice(1));
  const text = target.querySelector(".text") || target;
  return [link, (link.textContent + " " + text.textContent).toLowerCase()];
}));
search.addEventListener("input", () => {
  const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
  let found = 0;
  for (const link of links) {
    const isFound = words.every((word) => texts.get(link).includes(word));
    link.parentElement.hidden = !isFound;
    if (isFound) found++;
  }
  for (const list of index.querySelectorAll("ul")) list.previousElementSibling.hidden = list.hidden = !list.querySelector("li:not([hidden])");
  status.textContent = words.length === 0 ? "" : found === 0 ? "Nothing found." : found === 1 ? "1 section" : found + " sections";
});
search.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  const first = links.find((link) => !link.parentElement.hidden);
  if (first) first.click();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLInputElement) return;
  event.preventDefault();
  contents.open = true;
  search.focus();
});
const contents = index.querySelector("details");
contents.open = matchMedia("(min-width: 64rem)").matches;
contents.querySelector("summary").after(search, status);
index.addEventListener("click", (event) => {
  if (event.target instanceof HTMLAnchorElement && !matchMedia("(min-width: 64rem)").matches) contents.open = false;
});

for (const figure of document.querySelectorAll("figure.code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(figure.querySelector("pre").textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(figure.querySelector("pre"));
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  figure.querySelector("figcaption").append(button);
}

const byId = new Map(links.map((link) => [link.hash.slice(1), link]));
let current;
const seen = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    if (current) current.removeAttribute("aria-current");
    current = byId.get(target.id);
    current.setAttribute("aria-current", "true");
    const { top, bottom } = current.getBoundingClientRect();
    if (top < 60 || bottom > innerHeight) index.scrollBy({ top: top - innerHeight / 2 });
  }
}, { rootMargin: "-10% 0px -80% 0px" });
for (const id of byId.keys()) seen.observe(document.getElementById(id));
`
