"use strict";
// Sort a table by the column whose name is pressed; press again for the other way. What is missing stays last.
for (const table of document.querySelectorAll(".table table")) {
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
