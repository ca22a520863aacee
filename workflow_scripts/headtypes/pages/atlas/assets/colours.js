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

// null where the head has no value.
function colourOf(column, head, range) {
  const value = column.values[head];
  if (value === null || value === undefined) return null;
  if (column.categories) return rgbOf(column.categories[value].colour);
  return alongScale(range[1] > range[0] ? (value - range[0]) / (range[1] - range[0]) : 0.5);
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
  if (size !== 0 && size < 0.001) text = value.toExponential(1);
  else if (unit === "%") text = value.toFixed(size < 10 ? 1 : size < 99.95 ? 1 : 0);
  else text = String(Number(value.toPrecision(3)));
  return unit === "%" ? `${text} %` : unit ? `${text} ${unit}` : text;
}

// As few characters as a tile has room for.
function shortly(column, head, range) {
  const value = column.values[head];
  if (value === null || value === undefined) return "–";
  if (column.categories) return column.categories[value].short;
  if (column.unit === "%") return String(Math.round(value));
  const largest = Math.max(Math.abs(range[0]), Math.abs(range[1]));
  if (largest >= 10) return value.toFixed(0);
  if (largest >= 1) return value.toFixed(1);
  if (largest >= 0.1) return value.toFixed(2).replace(/^0/, "");
  return largest ? (value / largest).toFixed(1).replace(/^0/, "") : "0";
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
