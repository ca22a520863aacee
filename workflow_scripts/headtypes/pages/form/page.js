// A field for each key. Values are in maps, in the order of the file; each field reads and writes its own.
const form = document.getElementById("form");
const element = (tag, properties = {}, ...content) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...content);
  return made;
};
const button = (text, label, press) => {
  const made = element("button", { type: "button", ariaLabel: label }, text);
  made.addEventListener("click", press);
  return made;
};
const prose = (text) => element("small", {}, ...text.split("`").map((it, at) => (at % 2 ? element("code", {}, it) : it)));
// The value of a key in a mapping, which is there as long as it has keys.
const below = (at, key, order) => ({
  get: () => at.get()?.get?.(key),
  set: (value) => {
    const mapping = new Map(at.get());
    if (value === undefined) mapping.delete(key);
    else if (mapping.has(key) || !order) mapping.set(key, value);
    else {
      const places = [...order, ...mapping.keys()];
      const sorted = [...mapping, [key, value]].sort(([a], [b]) => places.indexOf(a) - places.indexOf(b));
      return at.set(new Map(sorted));
    }
    return at.set(mapping.size || at.stays ? mapping : undefined);
  },
});
const root = { stays: true, get: () => data.config, set: (value) => { data.config = value; } };
const changed = () => {
  document.querySelectorAll(".key").forEach((it) => it.refresh());
  const wrong = [...form.querySelectorAll(".wrong:not(:empty)")].map((it) => it.closest(".key").dataset.path);
  document.getElementById("count").textContent = wrong.length ? `Not allowed: ${wrong.join(", ")}` : "";
  document.getElementById("yaml").textContent = `${data.first && `${data.first}\n`}${yaml(data.config)}`;
};
const controls = {
  value: (id, variants, at, preset) => {
    const choices = variants.flatMap((it) => it.enum ?? ("const" in it ? [it.const] : it.type === "boolean" ? [true, false] : []));
    const texts = choices.map((it) => shown(it, variants));
    const given = () => shown(at.get(), variants);
    let input = element("input", { type: "text", placeholder: preset, spellcheck: false });
    const parts = [input];
    if (variants.every((it) => it.enum || "const" in it || it.type === "boolean")) {
      const more = ["", given()].filter((it, index, all) => !texts.includes(it) && all.indexOf(it) === index);
      input = parts[0] = element("select", {}, ...[...more, ...texts].map((it) => new Option(it || preset || "not given", it)));
    } else if (texts.length) {
      input.setAttribute("list", `${id}-list`);
      parts.push(element("datalist", { id: `${id}-list` }, ...texts.map((it) => new Option(it, it))));
    } else if (variants.every((it) => it.type !== "string")) input.inputMode = "decimal";
    input.value = given();
    input.addEventListener("input", () => { at.set(typed(input.value, variants)); changed(); });
    return parts;
  },
  list: (id, [variant], at, preset) => {
    const items = flat(variant.items);
    const input = element("textarea", { placeholder: preset, spellcheck: false });
    const fit = () => { input.rows = Math.min(8, Math.max(1, input.value.split("\n").length)); };
    const given = at.get();
    if (given !== undefined) input.value = given?.length ? given.map((it) => shown(it, items)).join("\n") : JSON.stringify(given);
    input.addEventListener("input", () => { at.set(lines(input.value, items)); fit(); changed(); });
    fit();
    return [input];
  },
};
const ticks = (id, [variant], at, preset) => {
  const set = (value) => { at.set(value); changed(); };
  const all = flat(variant.items)[0].enum;
  const boxes = all.map((it) => {
    const box = element("input", { type: "checkbox", checked: (at.get() ?? []).includes(it) });
    box.addEventListener("change", () => set([...(at.get() ?? []).filter((other) => other !== it), ...(box.checked ? [it] : [])]));
    return element("label", {}, box, ` ${it}`);
  });
  const clear = () => { boxes.forEach((it) => { it.firstChild.checked = false; }); set(undefined); };
  return [element("span", { className: "ticks" }, ...boxes, button("Clear", `Clear ${id}`, clear), element("small", {}, preset))];
};
const field = (path, schema, at, { entry, preset } = {}) => {
  const name = path.at(-1), id = path.join("."), value = at.get(), variants = flat(schema);
  const kinds = [...new Set(variants.map(kindOf))];
  const kind = value === undefined || value === null ? kinds[0] : kindOfValue(value);
  const fitting = variants.filter((it) => kindOf(it) === kind);
  // Of entries, each would say the same.
  const about = entry && kind === "mapping" ? "" : schema.description ?? variants[0]?.description ?? "";
  const single = kind === "list" && fitting.length ? flat(fitting[0].items) : fitting;
  const range = single.some((it) => Object.keys(LIMITS).some((key) => key in it)) ? saidOfAll(single) : "";
  const isTicked = kind === "list" && single.length > 0 && single.every((it) => it.enum);
  const hint = kind === "list" && !isTicked ? `One a line${range && `, each ${range}`}.` : range && `${range[0].toUpperCase()}${range.slice(1)}.`;
  const wrong = element("p", { className: "wrong", id: `${id}-wrong` });
  const isFolded = fitting.length > 0 && kind === "mapping";
  const made = element(isFolded ? "details" : "div", { className: "key" });
  const redraw = () => {
    const other = field(path, schema, at, { entry, preset });
    const open = new Set([made, ...made.querySelectorAll(".key")].filter((it) => it.open).map((it) => it.dataset.path));
    made.replaceWith(other);
    for (const it of [other, ...other.querySelectorAll("details")]) if (open.has(it.dataset.path)) it.open = true;
    changed();
    other.querySelector("summary, select, input")?.focus({ preventScroll: true });
  };
  Object.assign(made.dataset, { path: id, words: `${id} ${about}`.toLowerCase() });
  const remove = () => { (entry?.remove ?? at.set)(undefined); if (entry) entry.redraw(); else redraw(); };
  const title = entry ? element("input", { type: "text", value: name, className: "name", spellcheck: false, ariaLabel: `Name of ${id}` }) : "";
  title && title.addEventListener("change", () => { wrong.textContent = entry.rename(title.value.trim()); });
  const tools = entry ? [button("Remove", `Remove ${id}`, remove)] : [];
  const label = element("label", { htmlFor: id }, element("code", {}, name));
  if (kinds.length > 1) {
    const choose = element("select", { ariaLabel: `Kind of ${id}` }, ...kinds.map((it) => new Option(it, it, it === kind, it === kind)));
    choose.addEventListener("change", () => { at.set({ mapping: new Map(), list: [] }[choose.value] ?? (entry ? "" : undefined)); redraw(); });
    tools.unshift(choose);
  }
  const ask = () => {
    const now = at.get();
    if (now === undefined || (now === null && (schema.anyOf?.some((it) => it.type === "null") || path.length === 2))) return "";
    return fitting.length ? wrongWith(fitting, now) : (variants.length ? `A ${kindOfValue(now)} is not allowed here.` : "There is no such key.");
  };
  let input = null;
  if (isFolded) {
    const away = element("input", { type: "checkbox", checked: value === null });
    away.addEventListener("change", () => { at.set(away.checked ? null : entry ? new Map() : undefined); redraw(); });
    made.append(element("summary", {}, element("code", {}, name), " ", prose(about)), wrong);
    made.append(element("p", { className: "tools" }, ...(title ? [element("label", {}, "name ", title)] : []), ...tools,
      ...(path.length < 3 || value === null ? [element("label", {}, away, " take away what files below say (null)")] : [])));
    if (value !== null) made.append(...inside(path, fitting[0], at, schema.default, redraw));
  } else if (!fitting.length) {
    made.append(element("code", {}, name), element("code", {}, flow(value)), ...(entry ? tools : [button("Remove", `Remove ${id}`, remove)]), wrong);
  } else {
    const parts = (isTicked ? ticks : controls[kind])(id, fitting, at, preset ?? "");
    [input] = parts;
    Object.assign(input, { id, ariaLabel: id });
    if (isTicked) input.setAttribute("role", "group");
    input.setAttribute("aria-describedby", `${id}-about ${wrong.id}`);
    made.append(title || (isTicked ? element("code", {}, name) : label), element("div", {}, ...parts, ...tools, wrong,
      Object.assign(prose([about, hint].filter(Boolean).join(" ")), { id: `${id}-about` })));
  }
  made.refresh = () => {
    wrong.textContent = ask();
    made.classList.toggle("given", at.get() !== undefined);
    if (input) input.ariaInvalid = String(Boolean(wrong.textContent));
  };
  return made;
};
// The fields of a mapping: its keys by the schema, then others that are given; or its entries, and one to add.
const inside = (path, it, at, preset, redraw) => {
  const given = at.get() ?? new Map();
  if (it.properties) {
    const order = Object.keys(it.properties);
    return [...new Set([...order, ...given.keys()])].map((key) => {
      const schema = it.properties[key] ?? { anyOf: [] };
      const value = (at.get() === undefined ? preset?.[key] : undefined) ?? schema.default ?? flat(schema)[0]?.default;
      const text = value === undefined || value === null ? "" : Array.isArray(value) ? value.join(", ") || "none" : String(value);
      return field([...path, key], schema, below(at, key, order), { preset: text && `default: ${text}` });
    });
  }
  const names = namesOf(it);
  const go = (name) => {
    const made = form.querySelector(`[data-path="${CSS.escape([...path, name].join("."))}"]`);
    made.open = true;
    made.querySelector("summary, div > :is(input, select, textarea)").focus();
  };
  const refused = (name) => (at.get()?.has?.(name) ? `There is already ${name}.` : accepts(names, name) && name ? "" : `A name must be ${said(names)}.`);
  const entries = [...given.keys()].map((key) => {
    const value = { ...below(at, key), stays: true };
    const set = (other) => below(at, key).set(other === undefined ? "" : other);
    const rename = (name) => {
      if (name === key || refused(name)) return name === key ? "" : refused(name);
      at.set(new Map([...at.get()].map(([other, its]) => [other === key ? name : other, its])));
      redraw();
      go(name);
      return "";
    };
    return field([...path, key], entriesOf(it), { ...value, set }, { entry: { rename, redraw, remove: () => below(at, key).set(undefined) } });
  });
  const name = element("input", { type: "text", className: "name", ariaLabel: `Name of a new entry of ${path.join(".")}`, placeholder: "name", spellcheck: false });
  const why = element("span", { className: "wrong", role: "alert" });
  const add = () => {
    why.textContent = refused(name.value.trim());
    if (why.textContent) return;
    const key = name.value.trim();
    below(at, key).set(kindOf(flat(entriesOf(it))[0]) === "mapping" ? new Map() : "");
    redraw();
    go(key);
  };
  name.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); add(); } });
  return [...entries, element("p", { className: "tools" }, name, button("Add", `Add an entry to ${path.join(".")}`, add), why)];
};
form.append(...inside([], data.schema, root));
form.addEventListener("submit", (event) => event.preventDefault());
// Fields with a text in their key or description, and all below them; what holds one is open.
const find = document.getElementById("find");
const filter = (key, text, isShown) => {
  const own = isShown || key.dataset.words.includes(text);
  const found = [...key.querySelectorAll(":scope > .key")].map((it) => filter(it, text, own)).some(Boolean);
  key.hidden = !own && !found;
  if (text && key.matches("details")) key.open = found && !own;
  return own || found;
};
find.addEventListener("input", () => {
  for (const key of form.querySelectorAll(":scope > .key")) filter(key, find.value.trim().toLowerCase(), false);
});
const preview = document.getElementById("yaml"), done = document.getElementById("done");
document.getElementById("copy").addEventListener("click", () => {
  navigator.clipboard.writeText(preview.textContent).then(() => { done.textContent = "Copied."; }, () => {
    getSelection().selectAllChildren(preview);
    done.textContent = "Selected; copy it with the keyboard.";
  });
});
document.getElementById("download").addEventListener("click", () => {
  const link = element("a", { href: URL.createObjectURL(new Blob([preview.textContent], { type: "text/yaml" })), download: data.name });
  link.click();
  URL.revokeObjectURL(link.href);
});
changed();
