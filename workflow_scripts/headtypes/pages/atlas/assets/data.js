"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const layers = data.model.layers, headsOfLayer = data.model.heads, headCount = layers * headsOfLayer;

function byId(id) {
  return document.getElementById(id);
}

// Whatever is data becomes text, never markup.
function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

// A head is its index, layer by layer; people read layer and head, counted from 1.
function nameOf(head) {
  return `${Math.floor(head / headsOfLayer) + 1}-${(head % headsOfLayer) + 1}`;
}

function longNameOf(head) {
  return `Layer ${Math.floor(head / headsOfLayer) + 1}, head ${(head % headsOfLayer) + 1}`;
}

function headOf(name) {
  const match = /^([0-9]+)-([0-9]+)$/.exec(name || "");
  const [layer, head] = match ? [match[1] - 1, match[2] - 1] : [-1, -1];
  return layer >= 0 && layer < layers && head >= 0 && head < headsOfLayer ? layer * headsOfLayer + head : null;
}

async function unpacked(index) {
  const text = atob(byId(`packed-${index}`).textContent);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

// The words of a sample: the subwords of one are told by the mark that WordPiece puts before all but the first.
function wordsOf(tokens) {
  const words = [];
  tokens.forEach((token, index) => {
    if (index && /^##[^#]/.test(token)) {
      const word = words.at(-1);
      word.text += token.slice(2);
      word.end = index + 1;
    } else words.push({ text: token, start: index, end: index + 1 });
  });
  return words;
}

// What attention goes from and to on a sample, as it is read: tokens, or whole words.
const unitsOf = (tokens, unit) => (unit === "words" ? wordsOf(tokens).map((word) => word.text) : tokens);

// Attention to a word is the sum over its subwords, and from a word their mean (Clark et al. 2019, section 4.1).
function readAs(maps, unit) {
  if (unit !== "words") return maps;
  const words = wordsOf(maps.tokens);
  return {
    length: words.length,
    tokens: unitsOf(maps.tokens, unit),
    ofNorms: maps.ofNorms,
    value(head, query, key) {
      const [from, to] = [words[query], words[key]];
      let sum = 0;
      for (let row = from.start; row < from.end; row++) {
        for (let column = to.start; column < to.end; column++) sum += maps.value(head, row, column);
      }
      return sum / (from.end - from.start);
    },
  };
}

// The attention of every head on a sample; unpacked when it is first looked at.
const unpackedMaps = new Map();
function mapsOf(sample) {
  if (!unpackedMaps.has(sample)) unpackedMaps.set(sample, unpackMaps(data.samples[sample]));
  return unpackedMaps.get(sample);
}

async function unpackMaps(sample) {
  const length = sample.tokens.length, rows = headCount * length;
  const buffer = await unpacked(sample.packed);
  const scale = new Uint16Array(buffer, 0, rows), levels = new Uint8Array(buffer, 2 * rows);
  const value = (head, query, key) => {
    const row = head * length + query;
    return (scale[row] / 65535) * (levels[row * length + key] / 255);
  };
  const maps = { length, tokens: sample.tokens, value };
  if (sample.lengths === undefined) return maps;
  // Norms: attention times the length of what a token hands over, as shares of the row's sum (Kobayashi et al. 2020).
  const lengths = new Uint16Array(await unpacked(sample.lengths));
  const norm = (head, query, key) => value(head, query, key) * lengths[head * length + key];
  const sums = Float32Array.from({ length: rows }, (_, row) => {
    const [head, query] = [Math.floor(row / length), row % length];
    return Array.from({ length }, (_, key) => norm(head, query, key)).reduce((total, share) => total + share, 0);
  });
  const share = (head, query, key) => norm(head, query, key) / (sums[head * length + query] || 1);
  return { ...maps, norms: { ...maps, value: share, ofNorms: true } };
}

// Weights or norms, as is chosen and was measured.
const shownOf = (maps) => (state.of === "norms" && maps.norms) || maps;

const columns = data.columns.map((column) => ({ unit: "", note: "", ...column }));
for (const { task, packed, largest } of data.divergences) {
  columns.push({
    key: `divergence.${task}`,
    label: "divergence from a head",
    group: `Divergence on ${task}`,
    unit: "nats",
    note: "Mean Jensen-Shannon divergence of two heads' rows: 0 if they are the same, ln 2 if they share no token.",
    values: Array(headCount).fill(null),
    packed,
    largest,
  });
}
const columnOf = (key) => columns.find((column) => column.key === key) || null;

// A column of divergences has values once the head they are from is chosen.
async function fillDivergences(column, from) {
  if (!column.matrix) column.matrix = new Uint16Array(await unpacked(column.packed));
  column.from = from;
  column.values = Array.from({ length: headCount }, (_, head) =>
    (column.matrix[from * headCount + head] / 65535) * column.largest);
}
