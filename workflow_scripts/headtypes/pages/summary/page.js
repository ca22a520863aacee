"use strict";
// Sort a table by the column whose name is pressed; press again for the other way. What is missing stays last.
for (const table of document.querySelectorAll("table")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, index) => {
    head.querySelector("button").addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      const rows = [...table.tBodies[0].rows].map((row) => [row.cells[index].dataset.sort, row]);
      const sign = up ? 1 : -1;
      const missing = (text) => text === "" || text === "inf";
      rows.sort(([a], [b]) => {
        if (missing(a) || missing(b)) return missing(a) - missing(b);
        const difference = Number(a) - Number(b);
        return sign * (Number.isNaN(difference) ? a.localeCompare(b) : difference);
      });
      table.tBodies[0].append(...rows.map(([, row]) => row));
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
    });
  });
}
// On a narrow screen, a long table shows its first rows, whichever it is sorted by, until its button is pressed.
for (const button of document.querySelectorAll(".more")) {
  const all = button.textContent;
  const shorten = (short) => {
    button.closest("figure").classList.toggle("short", short);
    button.setAttribute("aria-expanded", String(!short));
    button.textContent = short ? all : "First rows";
  };
  button.addEventListener("click", () => shorten(button.getAttribute("aria-expanded") === "true"));
  button.hidden = false;
  shorten(true);
}
// Light or dark: as the system has it, until the button is pressed.
const theme = document.getElementById("theme");
const system = window.matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
const name = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
theme.addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  name();
});
system.addEventListener("change", name);
theme.hidden = false;
name();
// Of the answers, those about one partition, by the list or by a link to them; without a script, all are shown.
const list = document.getElementById("about");
const choose = (id) => {
  for (const it of document.querySelectorAll(".about")) it.hidden = it.id !== id;
  list.value = id;
};
list.addEventListener("change", () => {
  choose(list.value);
  history.replaceState(null, "", `#${encodeURIComponent(list.value)}`);
});
if (list.options.length > 1) {
  list.parentElement.hidden = false;
  document.querySelectorAll(".about > .name").forEach((it) => { it.hidden = true; });
}
choose(list.value);
// On a phone the answers alone, until they are pressed; on paper all.
const cards = document.querySelectorAll(".answers details");
const unfold = (open) => cards.forEach((it) => { it.open = open; });
unfold(!window.matchMedia("(max-width: 600px)").matches);
addEventListener("beforeprint", () => unfold(true));
// A link into a closed part opens it.
const reveal = () => {
  const part = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (part?.matches(".about")) choose(part.id);
  part?.closest("details")?.setAttribute("open", "");
};
addEventListener("hashchange", reveal);
reveal();
