// Pixels of a map as a matrix: the room for words, and the smallest and the largest cell. Where cells of the smallest
// size do not fit, the map is scrolled sideways, and the words of its rows stay in sight.
const WORD_ROOM = 64, SMALLEST_CELL = touched.matches ? 16 : 9, LARGEST_CELL = 18;

function matrixOf(maps, head) {
  const label = `Attention matrix of ${longNameOf(head)}: rows look, columns are looked at`;
  const canvas = element("canvas", { role: "img", "aria-label": label });
  const rows = element("canvas", { class: "rows", "aria-hidden": "true" });
  const box = element("div", { class: "matrix" }, rows, canvas);
  const cellAt = ({ offsetX, offsetY }) => {
    const [key, index] = [offsetX, offsetY - WORD_ROOM].map((at) => Math.floor(at / canvas.cell));
    return key >= 0 && index >= 0 && key < maps.length && index < maps.length ? { side: "from", index, key } : null;
  };
  // A finger points at nothing before it taps.
  canvas.addEventListener("pointermove", (event) => event.pointerType === "mouse" && pointAt(cellAt(event)));
  canvas.addEventListener("pointerleave", () => pointAt(null));
  canvas.addEventListener("click", (event) => {
    const cell = cellAt(event);
    if (cell) pinOrFree(cell);
  });
  return { box, draw: () => drawMatrix(rows, canvas, maps, head) };
}

function drawMatrix(rows, canvas, maps, head) {
  const { length, tokens } = maps, word = shownWord(), paper = theme.paper, ink = theme.ink;
  const room = (canvas.parentElement.clientWidth - WORD_ROOM - 2) / length;
  const cell = Math.max(SMALLEST_CELL, Math.min(LARGEST_CELL, room)), side = cell * length;
  canvas.cell = cell;
  const names = penOf(rows, WORD_ROOM, WORD_ROOM + side + 1), pen = penOf(canvas, side + 1, WORD_ROOM + side + 1);
  const image = new ImageData(length, length);
  for (let query = 0, at = 0; query < length; query++) {
    for (let key = 0; key < length; key++, at += 4) {
      image.data.set([...between(paper, ink, Math.sqrt(maps.value(head, query, key))), 255], at);
    }
  }
  const small = element("canvas", { width: length, height: length });
  small.getContext("2d").putImageData(image, 0, 0);
  pen.imageSmoothingEnabled = false;
  pen.drawImage(small, 0, WORD_ROOM, side, side);
  pen.strokeStyle = cssOf(between(paper, ink, 0.25));
  pen.strokeRect(0.5, WORD_ROOM - 0.5, side, side + 1);
  pen.strokeStyle = cssOf(theme.accent);
  pen.lineWidth = 1.5;
  const query = word && word.side === "from" ? word.index : null;
  const key = word && (word.side === "to" ? word.index : word.key);
  if (query !== null) pen.strokeRect(0, WORD_ROOM + query * cell, side, cell);
  if (Number.isInteger(key)) pen.strokeRect(key * cell, WORD_ROOM, cell, side);
  names.textAlign = "right";
  tokens.forEach((token, index) => {
    const middle = (index + 0.5) * cell;
    write(names, token, [WORD_ROOM - 4, WORD_ROOM + middle], index === query, cell);
    pen.save();
    pen.translate(middle, WORD_ROOM - 4);
    pen.rotate(-Math.PI / 2);
    write(pen, token, [0, 0], index === key, cell);
    pen.restore();
  });
}

function penOf(canvas, width, height) {
  const dense = devicePixelRatio || 1, pen = canvas.getContext("2d");
  [canvas.width, canvas.height] = [width * dense, height * dense];
  [canvas.style.width, canvas.style.height] = [`${width}px`, `${height}px`];
  pen.scale(dense, dense);
  pen.textBaseline = "middle";
  return pen;
}

function write(pen, token, at, chosen, cell) {
  pen.font = `${chosen ? "bold " : ""}${chosen ? 11 : Math.min(11, Math.max(9, cell))}px system-ui, sans-serif`;
  pen.fillStyle = cssOf(chosen ? theme.accent : theme.ink);
  pen.fillText(token, ...at, WORD_ROOM - 6);
}
