// What is known of the opened heads: of two, in one table, with the difference of the second from the first.
function factsOf(heads) {
  const sections = [numbersOf, namesOf, costsOf, valuesOf].map((make) => make(heads)).filter(Boolean);
  return element("div", { class: "facts" }, ...sections);
}

function section(title, ...content) {
  return element("section", {}, element("h3", {}, title), ...content);
}

const cell = (...content) => element("td", {}, ...content);

// Above a table of two heads, which column is whose.
function headingOf(heads, first = []) {
  if (heads.length < 2) return "";
  const titles = ["", ...first, ...heads.map(nameOf), "difference"];
  return element("thead", {}, element("tr", {}, ...titles.map((title) =>
    title ? element("th", { scope: "col" }, title) : element("td"))));
}

function differenceOf([first, second], unit) {
  if (first === null || second === null) return "";
  const size = Math.abs(second - first), sign = second > first ? "+" : second < first ? "-" : "";
  return sign + (unit === "%" ? `${size.toFixed(1)} points` : format(size, unit));
}

function numbersOf(heads) {
  if (!data.features) return null;
  const { labels, values, task, samples, short, empty } = data.features, bins = labels.indexOf("self");
  const body = element("tbody");
  labels.forEach((label, index) => {
    const of = heads.map((head) => values[head][index]);
    const name = index === 0 ? "0 (nearest)" : index === bins - 1 ? `${bins - 1} (farthest)`
      : { self: "itself", cls: "[CLS]", sep: "[SEP]", comma: ",", period: "." }[label] || label;
    const bars = of.map((value) => {
      const bar = element("span", { class: "amount" });
      bar.style.width = `${(100 * value).toFixed(2)}%`;
      return bar;
    });
    const shares = of.map((value) => cell(empty.includes(index) ? "–" : percent(value)));
    if (heads.length > 1) shares.push(cell(differenceOf(of.map((value) => 100 * value), "%")));
    body.append(element("tr", {}, element("th", { scope: "row" }, name),
      element("td", { class: "bar-cell" }, ...bars), ...shares));
  });
  const whose = heads.length > 1 ? "Their" : "Its";
  const narrow = !short ? "" : ` ${short} of ${samples} samples have at most ${bins} tokens: a bin is no wider than a `
    + "token there, so that bin 0 is empty, and others may be.";
  const none = empty.length ? " –: no two tokens are that far apart." : "";
  return section(`${whose} ${labels.length} numbers on ${task}`,
    element("p", { class: "quiet" },
      `Shares of attention by ${bins} bins of distance, to itself and to four special tokens.${narrow}${none}`),
    element("table", { class: "numbers" }, headingOf(heads, [""]), body));
}

function namesOf(heads) {
  const names = heads.flatMap((head) => data.names.filter((name) => name.head === head));
  if (!names.length) return null;
  return section(heads.length > 1 ? "What they are best at" : "What it is best at",
    element("ul", {}, ...names.map(({ head, name, value, above }) => {
      const farther = above === null ? "" : `, ${format(above)} points above the best fixed offset`;
      const whose = heads.length > 1 ? `${nameOf(head)}: ` : "";
      return element("li", {}, `${whose}${name}: ${format(value, "%")}${farther}`);
    })));
}

function rankOf(column, head) {
  const value = column.values[head];
  if (value === null || column.categories) return "";
  const known = column.values.filter((each) => each !== null);
  return `${known.filter((each) => each > value).length + 1} of ${known.length}`;
}

function valuesOf(heads) {
  const groups = new Map();
  for (const column of columns) {
    if (column.packed !== undefined || heads.every((head) => column.values[head] === null)) continue;
    groups.set(column.group, [...(groups.get(column.group) || []), column]);
  }
  const tables = [...groups].map(([group, of]) => element("table", { class: "values" }, element("caption", {}, group),
    headingOf(heads), element("tbody", {}, ...of.map((column) => valueRow(column, heads)))));
  if (!tables.length) return null;
  const rank = heads.length > 1 ? "" : ", and its rank among the heads, from the largest";
  return section("What analyses say",
    element("p", { class: "quiet" }, `With 95 % intervals over inputs where there are any${rank}.`), ...tables);
}

function valueRow(column, heads) {
  const label = `Colour the tiles by ${column.label}`;
  const button = element("button", { type: "button", class: "link", "aria-label": label }, column.label);
  button.addEventListener("click", () => change({ by: column.key }));
  const values = heads.map((head) => {
    const interval = column.low && column.low[head] !== null
      ? element("span", { class: "quiet" }, ` ${format(column.low[head])} to ${format(column.high[head])}`) : "";
    return cell(inWords(column, head), interval);
  });
  const last = heads.length < 2 ? rankOf(column, heads[0])
    : column.categories ? "" : differenceOf(heads.map((head) => column.values[head]), column.unit);
  return element("tr", {}, element("th", { scope: "row" }, button), ...values,
    element("td", heads.length < 2 ? { class: "quiet" } : {}, last));
}

const LOSS = "loss";

// What a condition does to a head, in words, and how much of it is about this head; null where it leaves it alone.
function doneTo(head, { partition, operations }) {
  const type = columnOf(`type.${partition}`);
  const own = type && type.categories[type.values[head]].name, name = nameOf(head);
  // What is said of a single head takes precedence over what is said of its type.
  const named = [name, own].find((target) => target in operations);
  if (!named) return null;
  const others = Object.keys(operations).length > 1;
  const ofType = type ? type.values.filter((value) => value === type.values[head]).length : 0;
  const whose = named === name ? "this head" : `all ${ofType} ${own} heads`;
  const words = `${operations[named]}: ${whose}${others ? " and others" : ""}`;
  return { order: (named === name ? 0 : 2) + (others ? 1 : 0), words };
}

function costsOf(heads) {
  const rows = data.costs.flatMap((cost) => {
    const done = heads.map((head) => [head, doneTo(head, cost)]).filter(([, to]) => to);
    if (!done.length) return [];
    const what = done.map(([head, { words }]) => (heads.length > 1 ? `${nameOf(head)}: ${words}` : words));
    return [{ order: Math.min(...done.map(([, { order }]) => order)), what, ...cost }];
  });
  if (!rows.length) return null;
  rows.sort((a, b) => a.order - b.order);
  const metrics = [...new Set(rows.flatMap(({ drops }) => drops.map(({ metric }) => metric)))];
  const titles = ["condition", ...metrics].map((text) => element("th", { scope: "col" }, text));
  const body = element("tbody");
  for (const { condition, what, drops } of rows) {
    const cells = metrics.map((metric) => {
      const found = drops.find((drop) => drop.metric === metric);
      if (!found) return cell();
      const { drop, low, high } = found;
      return cell(inSteps(metric, drop), element("div", { class: "quiet" }, rangeInSteps(metric, low, high)));
    });
    const lines = what.map((words) => element("div", { class: "quiet" }, words));
    body.append(element("tr", {}, element("th", { scope: "row" }, condition, ...lines), ...cells));
  }
  const lost = metrics.includes(LOSS) ? "By how much the loss rises (nats per token)" : "Points lost";
  const whose = heads.length > 1 ? "one of these heads" : "this head";
  const note = `${lost} under each condition that changes ${whose}, with 95 % intervals over inputs.`;
  const table = element("table", { class: "costs" }, element("thead", {}, element("tr", {}, ...titles)), body);
  return section(heads.length > 1 ? "What changing them costs" : "What changing it costs",
    element("p", { class: "quiet" }, note), table);
}

// Drops to the digits that are told apart: of a loss in nats, of anything else in points.
const inSteps = (metric, value) => value.toFixed(metric === LOSS ? 3 : 1);
const rangeInSteps = (metric, low, high) =>
  low === null ? "" : `${inSteps(metric, low)} to ${inSteps(metric, high)}`;
