function makeControls() {
  byId("run").append(aboutModel());
  const by = byId("by"), from = byId("from"), sample = byId("sample"), add = byId("add-filter");
  add.append(element("option", { value: "" }, "add a filter …"));
  for (const select of [by, add]) addColumns(select);
  for (let head = 0; head < headCount; head++) from.append(element("option", { value: head }, nameOf(head)));
  data.samples.forEach(({ task, id, tokens, cut }, index) => {
    const text = tokens.slice(1).join(" ").replaceAll(" ##", "");
    const start = text.length > 60 ? `${text.slice(0, 60)} …` : text;
    const option = element("option", { value: index }, `${task}: ${start}`);
    option.title = `${id}${cut ? ", cut" : ""}`;
    sample.append(option);
  });
  for (const select of [by, add]) select.parentElement.hidden = !columns.length;
  byId("sample-control").hidden = byId("show").hidden = !data.samples.length;
  by.addEventListener("change", () => change({ by: by.value }));
  from.addEventListener("change", () => change({ from: Number(from.value) }));
  sample.addEventListener("change", () => change({ sample: Number(sample.value) }));
  add.addEventListener("change", () => {
    const column = columnOf(add.value);
    add.value = "";
    if (!column || state.only.some((filter) => filter.key === column.key)) return;
    const nothing = column.categories ? { kept: [] } : { low: null, high: null };
    change({ only: [...state.only, { key: column.key, ...nothing }] });
    byId("filters").lastElementChild.querySelector("input").focus();
  });
  for (const button of byId("show").querySelectorAll("button")) {
    button.addEventListener("click", () => change({ show: button.dataset.show }));
  }
  drawn.push(drawControls, drawFilters, drawLegend, drawCount);
}

function aboutModel() {
  const types = data.main ? ` · types of ${data.main}` : "";
  const from = data.model.from ? ` · ${data.model.from}` : "";
  return `${data.model.kind} · ${layers} layers of ${headsOfLayer} heads${types}${from}`;
}

function addColumns(select) {
  const groups = new Map();
  for (const column of columns) {
    if (!groups.has(column.group)) groups.set(column.group, element("optgroup", { label: column.group }));
    groups.get(column.group).append(element("option", { value: column.key }, column.label));
  }
  select.append(...groups.values());
}

function drawControls() {
  byId("by").value = state.by;
  byId("from").value = state.from;
  byId("sample").value = state.sample;
  byId("from-control").hidden = !columnOf(state.by) || columnOf(state.by).packed === undefined;
  for (const button of byId("show").querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(button.dataset.show === state.show));
  }
}

function drawFilters(before) {
  const keys = (filters) => filters.map((filter) => filter.key).join(" ");
  if (!before || keys(before.only) !== keys(state.only)) {
    byId("filters").replaceChildren(...state.only.map((filter) => filterBox(columnOf(filter.key))));
  }
  // Chips of the legend filter as well.
  state.only.forEach(({ kept }, index) => {
    const boxes = byId("filters").children[index].querySelectorAll("[type=checkbox]");
    boxes.forEach((box, category) => (box.checked = kept.includes(category)));
  });
}

const toggled = (kept, index) =>
  (kept.includes(index) ? kept.filter((each) => each !== index) : [...kept, index].sort((a, b) => a - b));

function filterBox(column) {
  const box = element("fieldset", { class: "filter" }, element("legend", {}, `${column.group}: ${column.label}`));
  const current = () => state.only.find((filter) => filter.key === column.key);
  const put = (changes) =>
    change({ only: state.only.map((it) => (it.key === column.key ? { ...it, ...changes } : it)) });
  if (column.categories) {
    column.categories.forEach((category, index) => {
      const input = element("input", { type: "checkbox", checked: current().kept.includes(index) });
      input.addEventListener("change", () => put({ kept: toggled(current().kept, index) }));
      box.append(element("label", {}, input, ` ${category.name}`));
    });
  } else {
    const [least, most] = rangeOf(column);
    for (const [end, placeholder] of [["low", least], ["high", most]]) {
      const words = end === "low" ? "at least" : "at most";
      const shown = { value: current()[end], placeholder: format(placeholder) };
      const input = element("input", { type: "number", step: "any", ...shown });
      input.addEventListener("input", () => put({ [end]: input.value === "" ? null : Number(input.value) }));
      box.append(element("label", {}, `${words} `, input, end === "high" && column.unit ? ` ${column.unit}` : ""));
    }
  }
  const remove = element("button", { type: "button", "aria-label": `Remove the filter by ${column.label}` }, "Remove");
  remove.addEventListener("click", () => {
    change({ only: state.only.filter((filter) => filter.key !== column.key) });
    byId("add-filter").focus();
  });
  box.append(remove);
  return box;
}

function drawLegend() {
  const column = columnOf(state.by), parts = [];
  if (column) parts.push(column.categories ? categoriesOf(column) : scaleBar(column));
  if (state.show === "maps") {
    const bar = element("span", { class: "scale ink", "aria-hidden": "true" });
    parts.push(element("div", { class: "key" }, "attention: 0 %", bar, "100 %",
      element("span", { class: "quiet" }, "darkness: its square root")));
  }
  if (column) parts.push(element("p", { class: "quiet" }, column.note));
  byId("legend").replaceChildren(...parts);
}

// Each category is a button that keeps its heads.
function categoriesOf(column) {
  const key = element("div", { class: "key" });
  const filter = state.only.find((each) => each.key === column.key);
  column.categories.forEach((category, index) => {
    const number = column.values.filter((value) => value === index).length;
    const swatch = element("span", { class: "swatch", "aria-hidden": "true" }, category.short);
    swatch.style.backgroundColor = category.colour;
    swatch.style.color = inkOn(rgbOf(category.colour));
    const name = category.doubtful ? `${category.name} (doubtful)` : category.name;
    const pressed = Boolean(filter && filter.kept.includes(index));
    const count = element("span", { class: "quiet" }, String(number));
    const about = { class: "category", title: "Show these heads alone", "aria-pressed": String(pressed) };
    const button = element("button", { type: "button", ...about }, swatch, ` ${name} `, count);
    button.addEventListener("click", () => {
      const kept = toggled(filter ? filter.kept : [], index), others = state.only.filter((each) => each !== filter);
      change({ only: kept.length ? [...others, { key: column.key, kept }] : others });
      byId("legend").querySelectorAll("button")[index].focus();
    });
    key.append(button);
  });
  const missing = column.values.filter((value) => value === null).length;
  if (missing) key.append(element("span", { class: "quiet" }, `– none ${missing}`));
  return key;
}

function scaleBar(column) {
  const [lowest, highest] = rangeOf(column), [least, most] = scaleOf(column);
  if (least === most) return element("div", { class: "key" }, `every head: ${format(least, column.unit)}`);
  const bar = element("span", { class: "scale", "aria-hidden": "true" });
  bar.style.backgroundImage = `linear-gradient(to right, ${VIRIDIS.join(", ")})`;
  const ends = [least, most].map((end) => format(end, column.unit));
  const of = `${format(lowest, column.unit)} to ${format(highest, column.unit)}`;
  const power = unitOnTiles(column);
  const said = [column.scale ? `heads: ${of}` : "from the lowest to the highest head",
    power !== 1 && state.show === "values" ? `numbers on tiles in ${power}` : ""].filter(Boolean).join("; ");
  return element("div", { class: "key" }, ends[0], bar, ends[1], element("span", { class: "quiet" }, said));
}

function drawCount() {
  const shown = tiles.filter((_, head) => isShown(head)).length;
  byId("count").textContent = state.only.length
    ? `${shown} of ${headCount} heads pass the filters.`
    : `${headCount} heads`;
}
