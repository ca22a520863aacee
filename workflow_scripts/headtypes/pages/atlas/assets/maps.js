// The word that is pointed at, in all opened heads: which side of the lines it is on, and its index; and of a cell of a
// matrix the index of the word looked at, `key`.
let pointed = null;
const pointing = [], touched = matchMedia("(pointer: coarse)");

const isSame = (word, other) => word === other
  || Boolean(word && other && word.side === other.side && word.index === other.index && word.key === other.key);

function pointAt(word) {
  if (isSame(word, pointed)) return;
  pointed = word;
  for (const each of pointing) each();
}

const shownWord = () => pointed || state.token;

const pinOrFree = (word) => change({ token: isSame(word, state.token) ? null : word });

const percent = (value) => `${(100 * value).toFixed(value < 0.0995 ? 1 : 0)} %`;

// What the pointed word looks at most, or what looks at it most, in words; of a cell, its value.
function saidOf(maps, head, word) {
  const how = touched.matches ? "Tap" : "Point at";
  if (!word && state.map === "matrix") return `${how} a cell to read it.`;
  if (!word) return `${how} a word to see what it looks at.`;
  if (word.key !== undefined) {
    const value = percent(maps.value(head, word.index, word.key));
    return `“${maps.tokens[word.index]}” → “${maps.tokens[word.key]}”: ${value}`;
  }
  const indices = maps.tokens.map((_, index) => index), from = word.side === "from";
  const verb = maps.ofNorms ? (from ? "gets from" : "hands over to") : from ? "looks at" : "is looked at by";
  const value = (index) => (from ? maps.value(head, word.index, index) : maps.value(head, index, word.index));
  const first = indices.sort((a, b) => value(b) - value(a)).slice(0, 4);
  const most = first.map((index) => `${maps.tokens[index]} ${percent(value(index))}`);
  return `“${maps.tokens[word.index]}” ${verb}: ${most.join(", ")}`;
}

function linesOf(maps, head) {
  const canvas = element("canvas", { "aria-hidden": "true" });
  const sides = { from: [], to: [] };
  const lists = ["from", "to"].map((side) => {
    const title = side === "from" ? "Words that look" : "Words looked at";
    const list = element("div", { class: `words ${side}`, role: "group", "aria-label": title });
    maps.tokens.forEach((token, index) => {
      const which = { "data-side": side, "data-index": index };
      const word = element("button", { type: "button", class: "word", tabindex: index ? "-1" : "0", ...which },
        element("span", { class: "text" }, token), element("span", { class: "weight" }));
      sides[side].push(word);
      list.append(word);
    });
    return list;
  });
  const box = element("div", { class: "lines" }, lists[0], canvas, lists[1]);
  const wordOf = (target) => {
    const word = target.closest(".word");
    return word && { side: word.dataset.side, index: Number(word.dataset.index) };
  };
  box.addEventListener("pointerover", (event) => event.pointerType === "mouse" && pointAt(wordOf(event.target)));
  box.addEventListener("pointerleave", () => pointAt(null));
  box.addEventListener("focusin", (event) => event.target.matches(":focus-visible") && pointAt(wordOf(event.target)));
  box.addEventListener("focusout", () => pointAt(null));
  box.addEventListener("click", (event) => {
    const word = wordOf(event.target);
    if (word) pinOrFree(word);
  });
  box.addEventListener("keydown", (event) => {
    const word = wordOf(event.target);
    const step = { ArrowDown: [0, 1], ArrowUp: [0, -1], ArrowRight: [1, 0], ArrowLeft: [-1, 0] }[event.key];
    if (!word || !step) return;
    event.preventDefault();
    const side = step[0] ? (step[0] > 0 ? "to" : "from") : word.side;
    const next = sides[side][word.index + step[1]];
    if (!next) return;
    for (const each of sides[side]) each.tabIndex = each === next ? 0 : -1;
    next.focus();
  });
  const draw = () => drawLines(canvas, sides, maps, head);
  return { box, draw };
}

const LEVELS = 20;
function drawLines(canvas, sides, maps, head) {
  const word = shownWord(), length = maps.length;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight], dense = devicePixelRatio || 1;
  canvas.width = width * dense;
  canvas.height = height * dense;
  const pen = canvas.getContext("2d");
  pen.scale(dense, dense);
  const paper = theme.paper, line = theme.accent;
  pen.strokeStyle = cssOf(line);
  const row = height / length;
  for (const side of ["from", "to"]) {
    sides[side].forEach((button, index) => {
      const chosen = word && word.side === side && word.index === index;
      const value = !word || word.side === side ? null
        : word.side === "from" ? maps.value(head, word.index, index) : maps.value(head, index, word.index);
      button.classList.toggle("chosen", Boolean(chosen));
      const kept = state.token && state.token.side === side && state.token.index === index;
      button.setAttribute("aria-pressed", String(Boolean(kept)));
      button.style.backgroundColor = value ? cssOf(between(paper, line, Math.sqrt(value) * 0.45)) : "";
      button.lastChild.textContent = value !== null && value >= 0.01 ? percent(value) : "";
    });
  }
  // Lines of about the same weight are one path, since each path takes its time.
  const paths = Array.from({ length: LEVELS }, () => new Path2D());
  for (let query = 0; query < length; query++) {
    if (word && word.side === "from" && word.index !== query) continue;
    for (let key = 0; key < length; key++) {
      if (word && word.side === "to" && word.index !== key) continue;
      const value = maps.value(head, query, key);
      if (value < 0.01) continue;
      const path = paths[Math.min(Math.floor(value * LEVELS), LEVELS - 1)];
      const [start, end] = [(query + 0.5) * row, (key + 0.5) * row];
      path.moveTo(0, start);
      path.bezierCurveTo(width / 2, start, width / 2, end, width, end);
    }
  }
  paths.forEach((path, level) => {
    const value = (level + 0.5) / LEVELS;
    pen.globalAlpha = word ? 0.25 + 0.75 * value : 0.04 + 0.96 * value;
    pen.lineWidth = word ? 0.5 + 3.5 * value : 0.5 + 1.5 * value;
    pen.stroke(path);
  });
}
