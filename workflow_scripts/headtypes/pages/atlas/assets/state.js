// What is shown is in the address, so that a view can be sent.
const state = {
  by: null, from: 0, only: [], sample: 0, heads: [], token: null, show: "values", map: "lines", unit: "tokens",
  of: "weights", off: null,
};
const drawn = [];
// What tiles show unless the address says otherwise.
const SHOWN = data.live ? "maps" : "values";

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1)), lacking = [];
  // What is there by a name; a name of nothing is said.
  const named = (what, name, find) => {
    const found = name ? find(name) : null;
    if (name && found === null) lacking.push(`${what} ${name}`);
    return found;
  };
  const headNamed = (name) => named("head", name, headOf);
  const headsNamed = (names) => names.split(" ").map(headNamed).filter((head) => head !== null);
  const heads = headsNamed(given.get("head") || "");
  const by = named("column", given.get("by"), columnOf);
  Object.assign(state, {
    by: by ? by.key : columns.length ? columns[0].key : null,
    from: headNamed(given.get("from")) ?? 0,
    only: given.getAll("only").map((text) => named("filter", text, filterOf)).filter(Boolean),
    sample: named("sample", given.get("sample"), (name) => (data.samples[name - 1] ? name - 1 : null)) ?? 0,
    heads: [...new Set(heads)].slice(0, 2),
    token: null,
    show: (given.get("show") || SHOWN) === "maps" && data.samples.length ? "maps" : "values",
    map: given.get("map") === "matrix" ? "matrix" : "lines",
    unit: given.get("read") === "words" ? "words" : "tokens",
    of: given.get("of") === "norms" ? "norms" : "weights",
    off: null,
  });
  // Where a model answers, clicks switch heads off from the beginning.
  if (data.live) {
    state.off = [...new Set(headsNamed(given.get("off") || ""))].sort((a, b) => a - b);
  }
  state.token = named("word", given.get("word"), tokenOf);
  byId("lacking").textContent = lacking.length ? `The address names what is not here: ${lacking.join(", ")}. The model `
    + `has ${layers} layers of ${headsOfLayer} heads.` : "";
}

function address() {
  const kept = new URLSearchParams();
  if (columns.length && state.by !== columns[0].key) kept.set("by", state.by);
  if (state.by && state.by.startsWith("divergence.")) kept.set("from", nameOf(state.from));
  for (const filter of state.only) kept.append("only", textOf(filter));
  if (state.sample) kept.set("sample", state.sample + 1);
  if (state.heads.length) kept.set("head", state.heads.map(nameOf).join(" "));
  if (state.off) kept.set("off", state.off.map(nameOf).join(" "));
  if (state.token) kept.set("word", nameOfToken(state.token));
  if (state.map !== "lines") kept.set("map", state.map);
  if (state.unit !== "tokens") kept.set("read", state.unit);
  if (state.of !== "weights") kept.set("of", state.of);
  if (state.show !== SHOWN) kept.set("show", state.show);
  return kept.toString();
}

// A word that is kept, or a cell: `from-3`, `to-3`, `from-3-5`, counted from 1.
function nameOfToken({ side, index, key }) {
  return [side, index + 1, ...(key === undefined ? [] : [key + 1])].join("-");
}

function tokenOf(name) {
  const [, side, number, of] = /^(from|to)-([0-9]+)(?:-([0-9]+))?$/.exec(name || "") || [];
  if (!side || !data.samples.length || (of && side === "to")) return null;
  const units = unitsOf(data.samples[state.sample].tokens, state.unit);
  if (!(number - 1 in units && (!of || of - 1 in units))) return null;
  return { side, index: number - 1, ...(of ? { key: of - 1 } : {}) };
}

// A step back undoes what opened or closed a head, and leaves alone what merely changed the view.
function change(changes, { step = false } = {}) {
  const before = { ...state };
  Object.assign(state, changes);
  byId("lacking").textContent = "";
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
    const kept = indices.filter((index) => names.has(column.categories[index].name));
    return kept.length || !rest[0] ? { key, kept } : null;
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
  // A filter of which nothing is chosen keeps every head.
  if (filter.kept) return !filter.kept.length || filter.kept.includes(value);
  if (filter.low === null && filter.high === null) return true;
  if (value === null) return false;
  return (filter.low === null || value >= filter.low) && (filter.high === null || value <= filter.high);
}

const isShown = (head) => state.only.every((filter) => passes(filter, head));
