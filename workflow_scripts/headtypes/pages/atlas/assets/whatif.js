// What leaving out any heads costs: measured where a condition leaves out just these, else predicted by the regression
// on random sets (`effects`), beside random heads of the same layers.
const RANDOM_SETS = 1000;

function makeWhatIf() {
  byId("what-if").hidden = !data.sets.length && !data.live;
  byId("what-if").addEventListener("click", () => change({ off: state.off ? null : [] }, { step: true }));
  byId("put-back").addEventListener("click", () => change({ off: [] }));
  drawn.push(drawWhatIf);
}

const switchOff = (head) => change({ off: toggled(state.off, head) });

function drawWhatIf(before) {
  if (before && before.off === state.off) return;
  const off = state.off || [];
  byId("what").hidden = !state.off;
  byId("what-if").setAttribute("aria-pressed", String(Boolean(state.off)));
  tiles.forEach((tile, head) => tile.classList.toggle("off", off.includes(head)));
  if (!state.off) return;
  const names = off.length > 12 ? "" : off.length ? `: ${off.map(nameOf).join(", ")}` : "";
  byId("without").textContent = off.length ? `Without ${off.length} of ${headCount} heads${names}`
    : "Click the heads to leave out, or a type.";
  byId("put-back").disabled = !off.length;
  const type = columnOf(`type.${data.main}`);
  byId("of-types").replaceChildren(...(type ? type.categories : []).map(({ name }, index) => {
    const heads = [...tiles.keys()].filter((head) => type.values[head] === index);
    const all = heads.every((head) => off.includes(head));
    const button = element("button", { type: "button", "aria-pressed": String(all) }, `all ${name}`);
    button.addEventListener("click", () => {
      const others = state.off.filter((head) => !heads.includes(head));
      change({ off: (all ? others : [...others, ...heads]).sort((a, b) => a - b) });
      byId("of-types").children[index].focus();
    });
    return button;
  }));
  byId("answers").replaceChildren(...(off.length ? data.sets.map((of) => answerOf(of, off)) : []));
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

function answerOf(of, off) {
  const { metric, steps, task, questions, draws } = of, [r2, low, high] = of.r2;
  const measured = measuredWithout(off, metric);
  const predicted = of.intercept + sum(off.map((head) => of.weights[head]));
  const sizes = draws.map(([heads]) => heads), [fewest, most] = [Math.min(...sizes), Math.max(...sizes)];
  const reach = off.length >= fewest && off.length <= most ? errorOf(draws) : null;
  const text = (value) => inSteps(metric, value);
  const range = ([low, high]) => `${text(low)} to ${text(high)}`;
  const rows = [];
  if (measured) {
    const span = measured.low === null ? null : [measured.low, measured.high];
    rows.push(["measured", "measured", measured.drop, span, `condition ${measured.condition}`]);
  }
  const drawn = measured && data.random[`${measured.partition} ${measured.condition}`];
  const beside = drawn && drawn.metric === metric ? drawn : null;
  if (beside) {
    rows.push(["drawn", "random heads of the same layers, measured", beside.drop, [beside.low, beside.high],
      `lowest and highest of ${beside.draws} draws; on their questions the condition costs ${text(beside.own)}`]);
  }
  const known = reach !== null && !measured ? [predicted - reach, predicted + reach] : null;
  const error = measured ? "" : reach === null
    ? `error unknown: the random sets leave out ${fewest} to ${most} heads`
    : `95 % of ${draws.length} random sets are predicted so closely by the others`;
  rows.push(["predicted", "predicted", predicted, known, error]);
  if (!beside) rows.push(["random", "random heads of the same layers, predicted", null, randomBand(of, off),
    `95 % of ${RANDOM_SETS} sets of as many heads`]);
  const ends = [0, ...rows.flatMap(([, , value, span]) => [...(value === null ? [] : [value]), ...(span || [])])];
  const [left, right] = [Math.min(...ends), Math.max(...ends)];
  const body = rows.map(([kind, label, value, span, note]) => element("tr", { "data-kind": kind },
    element("th", { scope: "row" }, label, element("div", { class: "quiet" }, note)),
    cell(value === null ? range(span) : text(value), value !== null && span
      ? element("div", { class: "quiet" }, range(span)) : ""),
    element("td", { class: "bar-cell" }, stripOf(value, span, left, right))));
  const weak = low === null || low <= 0
    ? " This cannot be told from 0, at which the mean of all sets predicts as well: the prediction says little." : "";
  const certain = low === null ? "" : ` (${format(low)} to ${format(high)})`;
  const note = `R² of sets held out: ${format(r2)}${certain}; each costs what ${questions} questions or documents of `
    + `${task} lose.${weak}`;
  return element("table", { class: "answer" }, element("caption", {}, `${of.change} of ${metric}, ${steps}`),
    element("tbody", {}, ...body, element("tr", {}, element("td", { colspan: 3, class: "quiet" }, note))));
}

// A value as a dot and its span as a bar, on a line on which 0 is marked.
function stripOf(value, span, left, right) {
  const at = (number) => `${(100 * (number - left)) / (right - left || 1)}%`;
  const strip = element("span", { class: "strip", "aria-hidden": "true" });
  const mark = (name, number) => {
    const made = element("span", { class: name });
    made.style.left = at(number);
    strip.append(made);
    return made;
  };
  mark("zero", 0);
  if (span) mark("span", span[0]).style.width = at(left + span[1] - span[0]);
  if (value !== null) mark("dot", value);
  return strip;
}

// The drop under the condition that leaves out just these heads, if one was evaluated.
function measuredWithout(off, metric) {
  for (const cost of data.costs) {
    const found = cost.drops.find((drop) => drop.metric === metric);
    if (found && String(leftOutBy(cost)) === String(off)) return { ...cost, ...found };
  }
  return null;
}

// The heads that a condition leaves out; null where it does anything else to some head.
function leftOutBy({ partition, operations }) {
  const type = columnOf(`type.${partition}`);
  const done = [...tiles.keys()].map((head) =>
    operations[nameOf(head)] || (type && operations[type.categories[type.values[head]].name]) || "keep");
  if (done.some((operation) => operation !== "keep" && operation !== "zero")) return null;
  return [...tiles.keys()].filter((head) => done[head] === "zero");
}

// Within which 95 % of sets are predicted, by errors of sets that the regression had not seen (conformal prediction).
function errorOf(draws) {
  const errors = draws.map(([, cost, predicted]) => Math.abs(cost - predicted)).sort((a, b) => a - b);
  return errors[Math.min(errors.length, Math.ceil(0.95 * (errors.length + 1))) - 1];
}

// What 95 % of random sets of as many heads of each layer are predicted to cost; the same sets at every look.
function randomBand({ intercept, weights }, off) {
  let seed = 1;
  const random = () => {
    // Mulberry32 (Ettinger 2017).
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), seed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const counts = Array(layers).fill(0);
  for (const head of off) counts[Math.floor(head / headsOfLayer)]++;
  const costs = Array.from({ length: RANDOM_SETS }, () => intercept + sum(counts.map((count, layer) => {
    const pool = weights.slice(layer * headsOfLayer, (layer + 1) * headsOfLayer);
    let cost = 0;
    for (let taken = 0; taken < count; taken++) {
      const chosen = taken + Math.floor(random() * (headsOfLayer - taken));
      cost += pool[chosen];
      pool[chosen] = pool[taken];
    }
    return cost;
  }))).sort((a, b) => a - b);
  return [costs[Math.floor(0.025 * RANDOM_SETS)], costs[Math.ceil(0.975 * RANDOM_SETS) - 1]];
}
