// Viridis (van der Walt and Smith 2015): equal steps of value look like equal steps, to colour-blind eyes too.
const VIRIDIS = [
  "#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725",
];

function rgbOf(colour) {
  return [1, 3, 5].map((start) => parseInt(colour.slice(start, start + 2), 16));
}

const between = (a, b, share) => a.map((part, i) => part + (b[i] - part) * share);
const cssOf = (rgb) => `rgb(${rgb.map(Math.round).join(" ")})`;
const stops = VIRIDIS.map(rgbOf);

function alongScale(share) {
  const position = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const stop = Math.min(Math.floor(position), stops.length - 2);
  return between(stops[stop], stops[stop + 1], position - stop);
}

// Relative luminance, as WCAG 2 defines it; of black and white, the one that stands out more.
function luminance(rgb) {
  const [red, green, blue] = rgb.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const inkOn = (rgb) => (luminance(rgb) > 0.179 ? "#000" : "#fff");

function rangeOf(column) {
  const known = column.values.filter((value) => value !== null);
  return known.length ? [Math.min(...known), Math.max(...known)] : [0, 0];
}

// Where the colours begin and end: where the column says so, else at the lowest and the highest head.
const scaleOf = (column) => column.scale || rangeOf(column);

// null where the head has no value.
function colourOf(column, head, [least, most]) {
  const value = column.values[head];
  if (value === null || value === undefined) return null;
  if (column.categories) return rgbOf(column.categories[value].colour);
  return alongScale(most > least ? (value - least) / (most - least) : 0.5);
}

// Colours of the theme, read once: to ask for a style makes the browser lay out the page.
const theme = {};
function readTheme() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["paper", "ink", "accent"]) theme[name] = rgbOf(style.getPropertyValue(`--${name}`).trim());
}
readTheme();

function format(value, unit = "") {
  if (value === null || value === undefined) return "none";
  const size = Math.abs(value);
  let text;
  if (unit === "%") text = value.toFixed(size && size < 99.95 ? 1 : 0);
  else if (size !== 0 && size < 0.001) text = value.toExponential(1);
  else text = String(Number(value.toPrecision(3)));
  return unit === "%" ? `${text} %` : unit ? `${text} ${unit}` : text;
}

// The unit of numbers on tiles, which is a power of ten where they are small.
function unitOnTiles(column) {
  const largest = Math.max(...rangeOf(column).map(Math.abs));
  return largest && largest < 0.1 && column.unit !== "%" ? 10 ** Math.floor(Math.log10(largest)) : 1;
}

// What to write on the tile of a head: as few characters as it has room for.
function shortOf(column) {
  const unit = unitOnTiles(column), largest = Math.max(...rangeOf(column).map(Math.abs)) / unit;
  const digits = largest >= 10 ? 0 : largest >= 1 ? 1 : 2;
  return (head) => {
    const value = column.values[head];
    if (value === null || value === undefined) return "–";
    if (column.categories) return column.categories[value].short;
    const text = (value / unit).toFixed(digits);
    return Number(text) === 0 ? "0" : text.replace(/^(-?)0/, "$1");
  };
}

function inWords(column, head) {
  const value = column.values[head];
  if (value === null || value === undefined) return "none";
  if (!column.categories) return format(value, column.unit);
  const category = column.categories[value];
  return category.doubtful ? `${category.name} (doubtful)` : category.name;
}

// Short signs for categories, so that none is told by its colour alone: as few letters as tell them apart.
const KNOWN_SIGNS = { dense: "De", diagonal: "Di", dense_vertical: "DV", vertical: "V" };
for (const column of columns.filter((each) => each.categories)) {
  const used = new Set();
  for (const category of column.categories) {
    const parts = category.name.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
    const candidates = [KNOWN_SIGNS[category.name], category.name.length <= 4 ? category.name : null,
      /^type-[0-9]+$/.test(category.name) ? category.name.slice(5) : null,
      category.name.slice(0, 3), parts.join("").slice(0, 4)];
    category.short = candidates.find((sign) => sign && !used.has(sign)) || String(used.size + 1);
    used.add(category.short);
  }
}
