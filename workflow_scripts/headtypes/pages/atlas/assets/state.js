// What is shown is in the address, so that a view can be sent.
const state = {
  by: null, from: 0, only: [], sample: 0, heads: [], token: null, show: "values", map: "lines", unit: "tokens",
};
const drawn = [];

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const heads = (given.get("head") || "").split(" ").map(headOf).filter((head) => head !== null);
  const sample = Number(given.get("sample")) - 1;
  Object.assign(state, {
    by: columnOf(given.get("by")) ? given.get("by") : columns.length ? columns[0].key : null,
    from: headOf(given.get("from")) ?? 0,
    only: given.getAll("only").map(filterOf).filter(Boolean),
    sample: data.samples[sample] ? sample : 0,
    heads: [...new Set(heads)].slice(0, 2),
    token: null,
    show: given.get("show") === "maps" && data.samples.length ? "maps" : "values",
    map: given.get("map") === "matrix" ? "matrix" : "lines",
    unit: given.get("read") === "words" ? "words" : "tokens",
  });
  const [, side, number] = /^(from|to)-([0-9]+)$/.exec(given.get("word") || "") || [];
  if (side && data.samples.length && number - 1 in unitsOf(data.samples[state.sample].tokens, state.unit)) {
    state.token = { side, index: number - 1 };
  }
}

function address() {
  const kept = new URLSearchParams();
  if (columns.length && state.by !== columns[0].key) kept.set("by", state.by);
  if (state.by && state.by.startsWith("divergence.")) kept.set("from", nameOf(state.from));
  for (const filter of state.only) kept.append("only", textOf(filter));
  if (state.sample) kept.set("sample", state.sample + 1);
  if (state.heads.length) kept.set("head", state.heads.map(nameOf).join(" "));
  if (state.token) kept.set("word", `${state.token.side}-${state.token.index + 1}`);
  if (state.map !== "lines") kept.set("map", state.map);
  if (state.unit !== "tokens") kept.set("read", state.unit);
  if (state.show !== "values") kept.set("show", state.show);
  return kept.toString();
}

// A step back undoes what opened or closed a head, and leaves alone what merely changed the view.
function change(changes, { step = false } = {}) {
  const before = { ...state };
  Object.assign(state, changes);
  if (state.sample !== before.sample || state.unit !== before.unit) state.token = null;
  const now = `#${address()}`;
  if (now !== (location.hash || "#")) history[step ? "pushState" : "replaceState"](null, "", now);
  draw(before);
}

function draw(before) {
  for (const each of drawn) each(before);
}

function textOf(filter) {
  const column = columnOf(filter.key);
  if (!column.categories) return `${filter.key}~${filter.low ?? ""}~${filter.high ?? ""}`;
  return `${filter.key}~${filter.kept.map((index) => encodeURIComponent(column.categories[index].name)).join("|")}`;
}

function filterOf(text) {
  const [key, ...rest] = text.split("~");
  const column = columnOf(key);
  if (!column) return null;
  if (column.categories) {
    const names = new Set((rest[0] || "").split("|").map(decoded));
    const indices = column.categories.map((_, index) => index);
    return { key, kept: indices.filter((index) => names.has(column.categories[index].name)) };
  }
  const [low, high] = rest.map((end) => (end === "" || !isFinite(end) ? null : Number(end)));
  return { key, low: low ?? null, high: high ?? null };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function passes(filter, head) {
  const value = columnOf(filter.key).values[head];
  if (filter.kept) return filter.kept.includes(value);
  if (filter.low === null && filter.high === null) return true;
  if (value === null) return false;
  return (filter.low === null || value >= filter.low) && (filter.high === null || value <= filter.high);
}

const isShown = (head) => state.only.every((filter) => passes(filter, head));
