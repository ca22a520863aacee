// Values as YAML, in which PyYAML reads what was meant: whatever could be read as something else is in quotes.
const WORD = /^[A-Za-z_][A-Za-z0-9_./+-]*$/;
const NOT_TEXT = /^(y|n|yes|no|on|off|true|false|null)$/i;
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;
const scalar = (value) => {
  // PyYAML takes 1e-7 for text, and 1.0e-7 for a number.
  if (typeof value === "number") return String(value).replace(/^(-?\d+)e/, "$1.0e");
  if (typeof value !== "string" || (WORD.test(value) && !NOT_TEXT.test(value))) return String(value);
  return JSON.stringify(value).replace(UNPRINTABLE, (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, "0")}`);
};
const flow = (value) => {
  if (Array.isArray(value)) return `[${value.map(flow).join(", ")}]`;
  if (value instanceof Map) return `{${[...value].map(([key, it]) => `${scalar(key)}: ${flow(it)}`).join(", ")}}`;
  return scalar(value);
};
const yaml = (mapping, indent = "") => [...mapping].map(([key, value]) => (value instanceof Map && value.size
  ? `${indent}${scalar(key)}:\n${yaml(value, `${indent}  `)}`
  : `${indent}${scalar(key)}: ${flow(value)}\n`)).join("");
