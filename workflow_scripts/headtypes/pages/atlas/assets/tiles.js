const tiles = [];
let active = 0;

function makeTiles() {
  const grid = byId("tiles");
  grid.style.setProperty("--heads", headsOfLayer);
  grid.style.setProperty("--rows", layers);
  grid.setAttribute("aria-rowcount", layers + 1);
  grid.setAttribute("aria-colcount", headsOfLayer + 1);
  const corner = element("span", { role: "columnheader", class: "corner" }, "layer");
  const top = element("div", { role: "row", class: "row" }, corner);
  for (let head = 0; head < headsOfLayer; head++) {
    top.append(element("span", { role: "columnheader", "aria-label": `head ${head + 1}` }, String(head + 1)));
  }
  grid.append(top);
  for (let layer = 0; layer < layers; layer++) {
    const row = element("div", { role: "row", class: "row" },
      element("span", { role: "rowheader", "aria-label": `layer ${layer + 1}` }, String(layer + 1)));
    for (let head = 0; head < headsOfLayer; head++) {
      const tile = element("button", { type: "button", class: "tile", tabindex: "-1", "data-head": tiles.length });
      tiles.push(tile);
      row.append(element("div", { role: "gridcell" }, tile));
    }
    grid.append(row);
  }
  grid.addEventListener("click", (event) => {
    const tile = event.target.closest(".tile");
    if (tile && state.off && !isChoosing()) change({ off: toggled(state.off, Number(tile.dataset.head)) });
    else if (tile) openHead(Number(tile.dataset.head), event.shiftKey || isChoosing());
  });
  grid.addEventListener("keydown", moveByKey);
  makeActive(0);
  drawn.push(drawTiles);
}

function makeActive(head, { focus = false } = {}) {
  tiles[active].tabIndex = -1;
  active = head;
  tiles[head].tabIndex = 0;
  if (focus) tiles[head].focus();
}

function moveByKey(event) {
  const tile = event.target.closest(".tile");
  const next = tile && headBeside(Number(tile.dataset.head), event);
  if (next !== null) makeActive(next, { focus: true });
}

// The head that a key leads to; null for other keys.
function headBeside(head, event) {
  const column = head % headsOfLayer;
  const steps = {
    ArrowRight: column < headsOfLayer - 1 ? 1 : 0,
    ArrowLeft: column > 0 ? -1 : 0,
    ArrowDown: head + headsOfLayer < headCount ? headsOfLayer : 0,
    ArrowUp: head >= headsOfLayer ? -headsOfLayer : 0,
    Home: event.ctrlKey ? -head : -column,
    End: event.ctrlKey ? headCount - 1 - head : headsOfLayer - 1 - column,
  };
  if (!(event.key in steps)) return null;
  event.preventDefault();
  return head + steps[event.key];
}

// What of the state the tiles show, besides which of them are opened.
const shownByTiles = ["by", "from", "only", "show", "sample", "off"];

async function drawTiles(before) {
  for (const head of before ? [...before.heads, ...state.heads] : tiles.keys()) {
    tiles[head].setAttribute("aria-pressed", String(state.heads.includes(head)));
  }
  if (before && shownByTiles.every((name) => before[name] === state[name])) return;
  const column = columnOf(state.by), key = `${state.by} ${state.from}`;
  if (column && column.packed !== undefined && column.from !== state.from) {
    await fillDivergences(column, state.from);
    if (key !== `${state.by} ${state.from}`) return;
    drawCount();
    drawLegend();
  }
  const scale = column && scaleOf(column), short = column && shortOf(column);
  for (let head = 0; head < headCount; head++) {
    const tile = tiles[head], colour = column && colourOf(column, head, scale), shown = isShown(head);
    tile.style.setProperty("--colour", colour ? cssOf(colour) : "transparent");
    tile.style.color = colour ? inkOn(colour) : "";
    tile.classList.toggle("none", !colour);
    tile.classList.toggle("out", !shown);
    const value = column ? `: ${labelOf(column)} ${inWords(column, head)}` : "";
    const apart = `${shown ? "" : ", filtered out"}${state.off && state.off.includes(head) ? ", left out" : ""}`;
    tile.setAttribute("aria-label", `${longNameOf(head)}${value}${apart}`);
    tile.title = tile.getAttribute("aria-label");
    if (state.show === "values") tile.replaceChildren(column ? short(head) : "");
  }
  byId("tiles").classList.toggle("as-maps", state.show === "maps");
  const other = !before || before.show !== state.show || before.sample !== state.sample || before.by !== state.by
    || before.of !== state.of;
  if (state.show === "maps" && other) await drawThumbnails(column);
}

// Attention from the page's colour to the type's, or to that of text; of its square root, so that small values show.
async function drawThumbnails(column) {
  const { sample, of } = state, maps = shownOf(await mapsOf(sample)), paper = theme.paper, ink = theme.ink;
  const short = column && shortOf(column);
  if (sample !== state.sample || of !== state.of || state.show !== "maps") return;
  const { length } = maps, image = new ImageData(length, length);
  for (let head = 0; head < headCount; head++) {
    const colour = (column && column.categories && colourOf(column, head, [])) || ink;
    for (let query = 0, offset = 0; query < length; query++) {
      for (let key = 0; key < length; key++, offset += 4) {
        const share = Math.sqrt(maps.value(head, query, key));
        for (let part = 0; part < 3; part++) {
          image.data[offset + part] = paper[part] + (colour[part] - paper[part]) * share;
        }
        image.data[offset + 3] = 255;
      }
    }
    const canvas = element("canvas", { width: length, height: length, "aria-hidden": "true" });
    canvas.getContext("2d").putImageData(image, 0, 0);
    // A type is told by its letters as well, where colours are not seen.
    tiles[head].replaceChildren(canvas, element("span", {}, column && column.categories ? short(head) : ""));
  }
}

const labelOf = (column) => (column.packed === undefined ? column.label : `divergence from head ${nameOf(state.from)}`);
