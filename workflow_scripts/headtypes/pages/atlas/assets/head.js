let choosing = false;
let redrawPanels = [];

const isChoosing = () => choosing && state.heads.length === 1;

function openHead(head, beside) {
  setChoosing(false);
  if (state.heads.includes(head)) return closeHead(head);
  const heads = beside && state.heads.length ? [state.heads[0], head] : [head];
  change({ heads }, { step: true });
  makeActive(head);
  const title = byId("panels").lastElementChild.querySelector("h2");
  title.focus({ preventScroll: true });
}

function closeHead(head) {
  setChoosing(false);
  change({ heads: head === undefined ? [] : state.heads.filter((each) => each !== head) }, { step: true });
  if (!state.heads.length) makeActive(active, { focus: true });
}

function setChoosing(value) {
  choosing = value;
  document.body.classList.toggle("choosing", value);
  byId("beside").setAttribute("aria-pressed", String(value));
  if (value) byId("count").textContent = `Choose the head to compare with head ${nameOf(state.heads[0])}.`;
  else drawCount();
  coverOrNot();
}

// On a narrow screen an opened head covers everything else, which then cannot be reached.
const narrow = matchMedia("(max-width: 760px)");
function coverOrNot() {
  const covered = narrow.matches && state.heads.length > 0 && !choosing;
  byId("all").inert = covered;
  document.querySelector("header").inert = covered;
}

function makePanels() {
  byId("close").addEventListener("click", () => closeHead());
  byId("beside").addEventListener("click", () => {
    setChoosing(!choosing);
    if (choosing) makeActive(active, { focus: true });
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    if (choosing) setChoosing(false);
    else if (state.heads.length) closeHead();
  });
  narrow.addEventListener("change", coverOrNot);
  new ResizeObserver(() => redrawPanels.forEach((each) => each())).observe(byId("panels"));
  pointing.push(() => redrawPanels.forEach((each) => each()));
  drawn.push(drawPanels);
}

function drawPanels(before) {
  const same = before && before.sample === state.sample && before.map === state.map
    && before.unit === state.unit && String(before.heads) === String(state.heads);
  byId("opened").hidden = !state.heads.length;
  document.body.classList.toggle("open", state.heads.length > 0);
  document.body.classList.toggle("pair", state.heads.length > 1);
  byId("beside").hidden = state.heads.length > 1;
  coverOrNot();
  if (same) return redrawPanels.forEach((each) => each());
  redrawPanels = [];
  pointed = null;
  byId("panels").className = state.heads.length > 1 ? "two" : "one";
  byId("panels").replaceChildren(...state.heads.map(panelOf));
}

function panelOf(head) {
  const type = columns.find((column) => column.key.startsWith("type."));
  const title = element("h2", { tabindex: "-1" }, longNameOf(head));
  const bar = element("div", { class: "title" }, title);
  if (type) {
    const category = type.categories[type.values[head]];
    const chip = element("span", { class: "chip" }, inWords(type, head));
    chip.style.backgroundColor = category.colour;
    chip.style.color = inkOn(rgbOf(category.colour));
    bar.append(chip);
    const parent = columns.find((column) => column.key.startsWith(`parent.${data.main} `));
    if (parent) bar.append(element("span", { class: "quiet" }, `in its parent: ${inWords(parent, head)}`));
  }
  for (const column of columns.filter((each) => each.packed !== undefined).slice(0, 1)) {
    const button = element("button", { type: "button" }, "Colour by divergence from it");
    button.addEventListener("click", () => change({ by: column.key, from: head }));
    bar.append(button);
  }
  if (state.heads.length > 1) {
    const close = element("button", { type: "button", "aria-label": `Close head ${nameOf(head)}` }, "Close");
    close.addEventListener("click", () => closeHead(head));
    bar.append(close);
  }
  const sections = [numbersOf(head), namesOf(head), costsOf(head), valuesOf(head)].filter(Boolean);
  const facts = element("div", { class: "facts" }, ...sections);
  const panel = element("article", { class: `panel ${state.map}`, "aria-label": longNameOf(head) }, bar);
  if (data.samples.length) panel.append(mapOf(head));
  panel.append(facts);
  return panel;
}

// A choice between values of a part of the state.
function choiceOf(head, legend, part, values) {
  const choice = element("fieldset", { class: "choice" }, element("legend", {}, legend));
  for (const value of values) {
    const pressed = String(state[part] === value);
    const button = element("button", { type: "button", "aria-pressed": pressed, "data-choice": value }, value);
    button.addEventListener("click", () => {
      change({ [part]: value });
      // The panel is another one now.
      byId("panels").children[state.heads.indexOf(head)].querySelector(`[data-choice="${value}"]`).focus();
    });
    choice.append(button);
  }
  return choice;
}

function mapOf(head) {
  const said = element("p", { class: "said", role: "status" });
  const { tokens } = data.samples[state.sample];
  const choices = element("div", { class: "controls" }, choiceOf(head, "Attention as", "map", ["lines", "matrix"]));
  if (wordsOf(tokens).length < tokens.length) choices.append(choiceOf(head, "of", "unit", ["tokens", "words"]));
  const box = element("div", { class: "map" }, choices, said);
  mapsOf(state.sample).then((ofTokens) => {
    const maps = readAs(ofTokens, state.unit);
    const made = state.map === "lines" ? linesOf(maps, head) : matrixOf(maps, head);
    box.append(made.box);
    const redraw = () => {
      if (!box.isConnected) return;
      if (!(made.isPointed && made.isPointed())) said.textContent = saidOf(maps, head, shownWord());
      made.draw();
    };
    redrawPanels.push(redraw);
    redraw();
    box.dataset.drawn = nameOf(head);
  }).catch((error) => {
    said.textContent = `The maps cannot be unpacked (${error.name}); use a browser of 2023 or later.`;
  });
  return box;
}

function section(title, ...content) {
  return element("section", {}, element("h3", {}, title), ...content);
}

function numbersOf(head) {
  if (!data.features) return null;
  const { labels, values, task } = data.features, bins = labels.indexOf("self");
  const body = element("tbody");
  labels.forEach((label, index) => {
    const value = values[head][index];
    const name = index === 0 ? "1 (nearest)" : index === bins - 1 ? `${bins} (farthest)`
      : { self: "itself", cls: "[CLS]", sep: "[SEP]", comma: ",", period: "." }[label] || label;
    const bar = element("span", { class: "amount" });
    bar.style.width = `${(100 * value).toFixed(2)}%`;
    body.append(element("tr", {}, element("th", { scope: "row" }, name),
      element("td", { class: "bar-cell" }, bar), element("td", {}, percent(value))));
  });
  return section(`Its ${labels.length} numbers on ${task}`,
    element("p", { class: "quiet" },
      `Shares of attention by ${bins} bins of distance, to itself and to four special tokens.`),
    element("table", { class: "numbers" }, body));
}

function namesOf(head) {
  const names = data.names.filter((name) => name.head === head);
  if (!names.length) return null;
  return section("What it is best at", element("ul", {}, ...names.map(({ name, value, above }) => {
    const farther = above === null ? "" : `, ${format(above)} points above the best fixed offset`;
    return element("li", {}, `${name}: ${format(value, "%")}${farther}`);
  })));
}

function rankOf(column, head) {
  const value = column.values[head];
  if (value === null || column.categories) return "";
  const known = column.values.filter((each) => each !== null);
  return `${known.filter((each) => each > value).length + 1} of ${known.length}`;
}

function valuesOf(head) {
  const tables = [];
  const groups = new Map();
  for (const column of columns) {
    if (column.packed !== undefined || column.values[head] === null) continue;
    groups.set(column.group, [...(groups.get(column.group) || []), column]);
  }
  for (const [group, of] of groups) {
    const body = element("tbody");
    for (const column of of) {
      const label = `Colour the tiles by ${column.label}`;
      const button = element("button", { type: "button", class: "link", "aria-label": label }, column.label);
      button.addEventListener("click", () => change({ by: column.key }));
      const interval = column.low && column.low[head] !== null
        ? element("span", { class: "quiet" }, ` ${format(column.low[head])} to ${format(column.high[head])}`) : "";
      body.append(element("tr", {}, element("th", { scope: "row" }, button),
        element("td", {}, inWords(column, head), interval), element("td", { class: "quiet" }, rankOf(column, head))));
    }
    tables.push(element("table", {}, element("caption", {}, group), body));
  }
  return tables.length ? section("What analyses say", element("p", { class: "quiet" },
    "With 95 % intervals where there are any, and its rank among the heads, from the largest."), ...tables) : null;
}

const LOSS = "loss";

function costsOf(head) {
  const rows = [];
  for (const { partition, condition, operations, drops } of data.costs) {
    const type = columnOf(`type.${partition}`);
    const own = type && type.categories[type.values[head]].name, name = nameOf(head);
    // What is said of a single head takes precedence over what is said of its type.
    const named = [name, own].find((target) => target in operations);
    if (!named) continue;
    const number = Object.keys(operations).length;
    const ofType = type ? type.values.filter((value) => value === type.values[head]).length : 0;
    const whose = named === name ? "this head" : `all ${ofType} ${own} heads`;
    const what = `${operations[named]}: ${whose}${number > 1 ? " and others" : ""}`;
    rows.push({ order: (named === name ? 0 : 2) + (number > 1 ? 1 : 0), condition, what, drops });
  }
  if (!rows.length) return null;
  rows.sort((a, b) => a.order - b.order);
  const metrics = [...new Set(rows.flatMap(({ drops }) => drops.map(({ metric }) => metric)))];
  const titles = ["condition", ...metrics].map((text) => element("th", { scope: "col" }, text));
  const heading = element("thead", {}, element("tr", {}, ...titles));
  const body = element("tbody");
  for (const { condition, what, drops } of rows) {
    const cells = metrics.map((metric) => {
      const found = drops.find((drop) => drop.metric === metric);
      if (!found) return element("td");
      const digits = metric === LOSS ? 3 : 1;
      const range = found.low === null ? "" : `${found.low.toFixed(digits)} to ${found.high.toFixed(digits)}`;
      return element("td", {}, found.drop.toFixed(digits), element("div", { class: "quiet" }, range));
    });
    const first = element("th", { scope: "row" }, condition, element("div", { class: "quiet" }, what));
    body.append(element("tr", {}, first, ...cells));
  }
  const lost = metrics.includes(LOSS) ? "By how much the loss rises (nats per token)" : "Points lost";
  const note = `${lost} under each condition that changes this head, with 95 % intervals.`;
  const table = element("table", { class: "costs" }, heading, body);
  return section("What changing it costs", element("p", { class: "quiet" }, note), table);
}
