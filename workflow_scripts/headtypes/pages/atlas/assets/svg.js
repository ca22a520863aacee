// A head's map as a picture of its own, as it is shown but for what is pointed at: lines, or a matrix.
function svgElement(tag, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  // XML has no control characters.
  if (text !== undefined) made.textContent = text.replace(/[\u0000-\u001f\ufffe\uffff]/g, "\ufffd");
  return made;
}

function svgOf(maps, head) {
  const { length, tokens } = maps, words = 110, row = 18, of = state.map === "lines" ? 200 : row * length;
  const [top, width] = state.map === "lines" ? [0, 2 * words + of] : [words, words + of];
  const height = top + row * length;
  const svg = svgElement("svg", {
    xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}`,
    "font-family": "sans-serif", "font-size": 11,
  });
  svg.append(svgElement("title", {}, `${document.title}: ${longNameOf(head)}, ${maps.ofNorms ? "norms" : "weights"}`));
  const write = (token, x, y, more) => svg.append(svgElement("text", { x, y, "dominant-baseline": "central", ...more }, token));
  tokens.forEach((token, index) => {
    const middle = (index + 0.5) * row;
    write(token, words - 4, top + middle, { "text-anchor": "end" });
    if (state.map === "lines") write(token, words + of + 4, middle, {});
    else write(token, 0, 0, { transform: `translate(${words + middle} ${top - 4}) rotate(-90)` });
    for (let key = 0; key < length; key++) {
      const value = maps.value(head, index, key), end = (key + 0.5) * row;
      if (state.map === "lines" && value >= 0.01) {
        const d = `M${words} ${middle} C${words + of / 2} ${middle} ${words + of / 2} ${end} ${words + of} ${end}`;
        svg.append(svgElement("path", { d, fill: "none", stroke: "#1f5fa8", "stroke-width": 0.5 + 1.5 * value, "stroke-opacity": 0.04 + 0.96 * value }));
      } else if (state.map === "matrix") {
        const at = { x: words + key * row, y: top + index * row, width: row, height: row };
        svg.append(svgElement("rect", { ...at, "fill-opacity": Math.sqrt(value).toFixed(3) }));
      }
    }
  });
  return new XMLSerializer().serializeToString(svg);
}

function saveMap(maps, head) {
  const href = `data:image/svg+xml,${encodeURIComponent(svgOf(maps, head))}`;
  element("a", { href, download: `head_${nameOf(head)}.svg` }).click();
}
