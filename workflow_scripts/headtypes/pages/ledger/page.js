// The cells, of which the chosen ones stand in the table: as many as a reader looks through, then all that are asked for.
const data = JSON.parse(document.getElementById("data").textContent);
const text = (name, cell) => data.texts[name][data.codes[name][cell]];
const read = {
  claim: (cell) => `${text("paper", cell)}/${text("id", cell)}`,
  ...Object.fromEntries(["model", "family", "subject", "reading", "verdict"].map((name) => [name, (cell) => text(name, cell)])),
};
const signs = new Map([...document.querySelectorAll(".keys .verdict")].map((it) => [it.textContent.slice(2), it.textContent]));
const cells = Array.from(data.values.value.keys());
const filters = document.querySelector(".filters");
const each = document.getElementById("each");
const FIRST = 100;
let most = FIRST;
const element = (name, content, properties = {}) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(content);
  return made;
};
const shownNumber = (value) => (value === null ? "" : String(value));
const interval = (cell) => {
  const [low, high] = [data.values.low[cell], data.values.high[cell]];
  return low === null ? "" : `${low} to ${high}`;
};
const rowOf = (cell) => {
  const [verdict, corrected, family] = [text("verdict", cell), text("corrected", cell), text("family", cell)];
  const decided = element("a", text("reason", cell), { href: text("decided_in", cell) });
  const differs = corrected !== verdict && verdict !== "no verdict";
  const columns = [
    ["verdict", element("span", signs.get(verdict), { className: `verdict ${verdict.replace(" ", "-")}` }),
      differs ? (corrected ? `corrected: ${corrected}` : "without a correction") : "", verdict],
    ["claim", element("span", text("id", cell)), text("paper", cell), read.claim(cell)],
    ["model", element("span", text("model", cell)), family === text("model", cell) ? "" : `of ${family}`],
    ["partition or task", element("span", text("subject", cell)), ""],
    ["reading", element("span", text("reading", cell) || "the config's own"), ""],
    ["value", element("span", shownNumber(data.values.value[cell])), interval(cell)],
    ["what decides", decided, ""],
  ];
  const row = document.createElement("tr");
  for (const [label, content, below, sort] of columns) {
    const column = element("td", content, { className: label === "value" ? "number" : "" });
    if (below) column.append(element("small", below));
    Object.assign(column.dataset, { label, sort: sort ?? content.textContent });
    row.append(column);
  }
  return row;
};
const chosen = () => {
  const wanted = [...filters.elements].filter((it) => it.value).map((it) => [read[it.name], it.value]);
  return cells.filter((cell) => wanted.every(([of, value]) => of(cell) === value || (value === "\n" && of(cell) === "")));
};
const show = () => {
  const found = chosen();
  each.tBodies[0].replaceChildren(...found.slice(0, most).map(rowOf));
  [...each.tHead.rows[0].cells].forEach((it) => it.removeAttribute("aria-sort"));
  const number = document.getElementById("number");
  number.textContent = `${found.length.toLocaleString("en")} of ${cells.length.toLocaleString("en")} cells`;
  if (found.length > most) {
    const all = element("button", "show all", { type: "button" });
    all.addEventListener("click", () => { most = Infinity; show(); });
    number.append(`, the first ${most} below `, all);
  }
};
for (const list of filters.elements) {
  const values = [...new Set(cells.map(read[list.name]))];
  const named = (value) => (list.name === "claim" ? value.slice(value.indexOf("/") + 1) : value || "the config's own");
  list.append(new Option("all", ""), ...values.map((value) => new Option(named(value), value || "\n")));
  list.addEventListener("change", () => {
    most = FIRST;
    show();
    if (list.name === "claim") history.replaceState(null, "", `#${list.value || "cells"}`);
  });
}
// A link to a claim chooses it, and goes to its cells.
const follow = () => {
  const claim = decodeURIComponent(location.hash.slice(1));
  const list = filters.elements.claim;
  if (![...list.options].some((it) => it.value === claim && claim)) return;
  list.value = claim;
  most = FIRST;
  show();
  document.getElementById("cells").scrollIntoView({ behavior: "instant" });
};
addEventListener("hashchange", follow);
filters.addEventListener("submit", (event) => event.preventDefault());
filters.hidden = each.hidden = false;
// Claims with a text in their row.
const find = document.getElementById("find");
find.addEventListener("input", () => {
  for (const row of document.getElementById("all").tBodies[0].rows) {
    row.hidden = !row.textContent.toLowerCase().includes(find.value.trim().toLowerCase());
  }
});
find.parentElement.hidden = false;
show();
follow();
