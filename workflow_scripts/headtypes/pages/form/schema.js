// What the schema allows for a value, in sentences, and values as they are typed.
const data = JSON.parse(document.getElementById("data").textContent, (_, it) => (it?.[""] ? new Map(it[""]) : it));
// The variants of a schema, each without a reference and with what is said of all; null is not among them.
const flat = ({ $ref, anyOf, ...rest }) => {
  if ($ref) return flat({ ...data.schema.$defs[$ref.split("/").at(-1)], ...rest });
  if (anyOf) return anyOf.flatMap((it) => flat({ ...it, ...rest }));
  return rest.type === "null" ? [] : [rest];
};
const kindOf = (variant) => ({ object: "mapping", array: "list" })[variant.type] ?? "value";
const kindOfValue = (value) => (value instanceof Map ? "mapping" : Array.isArray(value) ? "list" : "value");
const entriesOf = (it) => Object.values(it.patternProperties ?? {})[0] ?? it.additionalProperties;
const namesOf = (it) => ({ type: "string", ...it.propertyNames, pattern: Object.keys(it.patternProperties ?? {}).join("|") });
const IS = {
  integer: Number.isSafeInteger,
  number: Number.isFinite,
  boolean: (value) => typeof value === "boolean",
  string: (value) => typeof value === "string",
};
const accepts = (it, value) => IS[it.type]?.(value)
  && (it.enum ?? [value]).includes(value) && (it.const ?? value) === value
  && !(value < it.minimum || value > it.maximum || value <= it.exclusiveMinimum || value >= it.exclusiveMaximum)
  && !(value.length < it.minLength || value.length > it.maxLength)
  && (!it.pattern || new RegExp(it.pattern, "u").test(value));
const LIMITS = { minimum: "at least", exclusiveMinimum: "more than", maximum: "at most", exclusiveMaximum: "less than" };
const said = (it) => {
  if (it.enum) return `one of ${it.enum.join(", ")}`;
  if ("const" in it) return String(it.const);
  if (it.type === "boolean") return "true or false";
  if (it.type === "string") {
    const length = it.maxLength ? ` of at most ${it.maxLength} characters` : it.minLength ? " that is not empty" : "";
    return `text${length}${it.pattern ? ` that matches ${it.pattern}` : ""}`;
  }
  const limits = Object.entries(LIMITS).filter(([key]) => key in it).map(([key, words]) => `${words} ${it[key]}`);
  return [`a ${it.type === "integer" ? "whole " : ""}number`, limits.join(" and ")].filter(Boolean).join(", ");
};
const saidOfAll = (variants) => [...new Set(variants.map(said))].join(", or ");
// What is wrong with a value of which the variants have the kind, or nothing.
const wrongWith = (variants, value) => {
  if (Array.isArray(value)) {
    const items = flat(variants[0].items);
    if (value.length < variants[0].minItems) return "Must have at least one item.";
    const bad = value.find((item) => !items.some((it) => accepts(it, item)));
    return bad === undefined ? "" : `${flow(bad)} must be ${saidOfAll(items)}.`;
  }
  if (value instanceof Map) return value.size < variants[0].minProperties ? "Must have at least one entry." : "";
  return variants.some((it) => accepts(it, value)) ? "" : `Must be ${saidOfAll(variants)}.`;
};
const NUMBER = /^-?(0|[1-9]\d*)(\.\d*)?(e[-+]?\d+)?$/i;
const typed = (written, variants) => {
  const text = written.trim();
  const may = (...types) => variants.some((it) => types.includes(it.type));
  if (text === "") return undefined;
  if (text === "null") return null;
  if (may("boolean") && /^(true|false)$/.test(text)) return text === "true";
  if (may("integer", "number") && NUMBER.test(text)) return Number(text);
  if (!/^".*"$/.test(text)) return text;
  try { return JSON.parse(text); } catch { return text; }
};
// Text that would be typed as something else is shown in quotes.
const shown = (value, variants) => {
  if (typeof value !== "string") return value === undefined ? "" : value instanceof Map ? flow(value) : String(value);
  return value === "" || (typed(value, variants) === value && !value.includes("\n")) ? value : JSON.stringify(value);
};
const lines = (text, variants) => {
  if (["[]", "null"].includes(text.trim())) return JSON.parse(text);
  const items = text.split("\n").map((it) => typed(it, variants)).filter((it) => it !== undefined);
  return items.length ? items : undefined;
};
