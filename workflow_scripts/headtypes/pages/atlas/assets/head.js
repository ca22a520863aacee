let choosing = false;
let redrawPanels = [];

const isChoosing = () => choosing && state.heads.length === 1;

function openHead(head, beside) {
  setChoosing(false);
  if (state.heads.includes(head)) return closeHead(head);
  const heads = beside && state.heads.length ? [state.heads[0], head] : [head];
  change({ heads }, { step: true });
  makeActive(head);
  focusTitle(head);
}

const focusTitle = (head) =>
  byId("panels").children[state.heads.indexOf(head)].querySelector("h2").focus({ preventScroll: true });

// The title of an opened head has the focus: keys that move between tiles move it to another head.
function turnByKey(head, event) {
  const next = headBeside(head, event);
  if (next === null || state.heads.includes(next)) return;
  change({ heads: state.heads.map((each) => (each === head ? next : each)) });
  makeActive(next);
  focusTitle(next);
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
const narrow = matchMedia("screen and (max-width: 860px)");
function coverOrNot() {
  const covered = narrow.matches && state.heads.length > 0 && !choosing;
  byId("all").inert = covered;
  document.querySelector("header").inert = covered;
  // What a live model answers is seen either way.
  const says = byId("says"), beside = byId(covered ? "panels" : "live");
  if (says && covered && beside.previousElementSibling !== says) beside.before(says);
  if (says && !covered && beside.nextElementSibling !== says) beside.after(says);
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
    && before.unit === state.unit && before.of === state.of && String(before.heads) === String(state.heads);
  byId("opened").hidden = !state.heads.length;
  document.body.classList.toggle("open", state.heads.length > 0);
  document.body.classList.toggle("pair", state.heads.length > 1);
  byId("beside").hidden = state.heads.length > 1;
  coverOrNot();
  if (same) return redrawPanels.forEach((each) => each());
  redrawPanels = [];
  pointed = null;
  byId("panels").className = state.heads.length > 1 ? "two" : "one";
  const panels = state.heads.map(panelOf), facts = factsOf(state.heads);
  if (panels.length === 1) panels[0].append(facts);
  else if (panels.length) panels.push(element("article", { class: "both", "aria-label": "Both heads" }, facts));
  byId("panels").replaceChildren(...panels);
  if (!before || String(before.heads) !== String(state.heads)) tab = state.heads.length - 1;
  makeTabs(panels);
}

// Where two maps have no room beside one another, one of them is shown; first that of the head opened last.
let tab = 0;
function makeTabs(panels) {
  const buttons = state.heads.length < 2 ? [] : state.heads.map((head) =>
    element("button", { type: "button", "aria-label": `Show the map of head ${nameOf(head)}` }, nameOf(head)));
  const show = (shown) => {
    tab = shown;
    buttons.forEach((button, index) => {
      button.setAttribute("aria-pressed", String(index === shown));
      panels[index].classList.toggle("behind", index !== shown);
    });
    redrawPanels.forEach((each) => each());
  };
  buttons.forEach((button, index) => button.addEventListener("click", () => show(index)));
  byId("tabs").replaceChildren(...buttons);
  show(tab);
}

function panelOf(head) {
  const type = columns.find((column) => column.key.startsWith("type."));
  const title = element("h2", { tabindex: "-1" }, longNameOf(head));
  title.addEventListener("keydown", (event) => turnByKey(head, event));
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
  const panel = element("article", { class: `panel ${state.map}`, "aria-label": longNameOf(head) }, bar);
  if (data.samples.length) panel.append(mapOf(head));
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
  const { tokens, lengths } = data.samples[state.sample];
  const choices = element("div", { class: "controls" }, choiceOf(head, "Attention as", "map", ["lines", "matrix"]));
  if (wordsOf(tokens).length < tokens.length) choices.append(choiceOf(head, "of", "unit", ["tokens", "words"]));
  if (lengths !== undefined) choices.append(choiceOf(head, "by", "of", ["weights", "norms"]));
  const save = element("button", { type: "button", class: "save", disabled: true }, "Save as SVG");
  choices.append(save);
  const box = element("div", { class: "map" }, choices, said);
  mapsOf(state.sample).then((ofTokens) => {
    const maps = readAs(shownOf(ofTokens), state.unit);
    const made = state.map === "lines" ? linesOf(maps, head) : matrixOf(maps, head);
    box.append(made.box);
    const redraw = () => {
      if (!box.isConnected) return;
      said.textContent = saidOf(maps, head, shownWord());
      made.draw();
    };
    redrawPanels.push(redraw);
    redraw();
    save.disabled = false;
    save.addEventListener("click", () => saveMap(maps, head));
    box.dataset.drawn = nameOf(head);
  }).catch((error) => {
    said.textContent = `The maps cannot be unpacked (${error.name}); use a browser of 2023 or later.`;
  });
  return box;
}
