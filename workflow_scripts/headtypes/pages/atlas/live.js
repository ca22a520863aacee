// On a page that `look.py` serves: the model reads the text that is typed, without the heads that are off, and says what
// it answers. Of several questions under way, the reply to the last one counts.
let asking = 0, asked = "";
const headsOff = () => state.off || [];

function makeLive() {
  for (const name of ["first", "second"]) byId(name).value = data.live[name];
  byId("asks").textContent = data.live.asks;
  byId("sample-control").hidden = true;
  byId("live").addEventListener("submit", (event) => {
    event.preventDefault();
    askModel();
  });
  // What stands there is the answer to another text.
  byId("live").addEventListener("input", () => {
    asking++;
    byId("says").removeAttribute("aria-busy");
    byId("says").replaceChildren();
  });
  byId("what-if").addEventListener("click", () => change({ off: state.off ? null : [] }, { step: true }));
  byId("put-back").addEventListener("click", () => change({ off: [] }));
  showSaid(data.live.answers);
  drawn.push(drawOff, () => String(headsOff()) !== asked && askModel());
}

async function askModel() {
  const turn = ++asking, off = headsOff().map(nameOf), says = byId("says");
  asked = String(headsOff());
  says.setAttribute("aria-busy", "true");
  const body = JSON.stringify({ first: byId("first").value, second: byId("second").value, off });
  const read = await fetch("read", { method: "POST", body }).then((reply) => reply.json())
    .catch(() => ({ error: "The server does not answer; start look.py again." }));
  if (turn !== asking) return;
  says.removeAttribute("aria-busy");
  if (read.error) return says.replaceChildren(element("p", { class: "refused" }, read.error));
  if (String(read.samples[0].tokens) !== String(data.samples[0].tokens)) state.token = null;
  Object.assign(data, { samples: read.samples, features: read.features });
  read.packed.forEach((text, index) => { byId(`packed-${index}`).textContent = text; });
  unpackedMaps.clear();
  showSaid(read.answers);
  draw(null);
}

// Beside the heads, what leaving some out does to the likeliest answer.
function sayWithout(answers = []) {
  const off = headsOff().length, how = touched.matches ? "Tap" : "Click";
  const [whole, now] = [1, 2].map((at) => answers.length && answers[0].rows.reduce((best, row) => (row[at] > best[at] ? row : best)));
  const said = whole ? `: ${whole === now ? `“${now[0]}” as before` : `“${now[0]}” in place of “${whole[0]}”`}` : "";
  byId("without").textContent = off ? `Without ${off} of ${headCount} heads${said}` : `${how} heads or a type to leave out.`;
}

// What the whole model answers, and what it answers now; without heads that are off, once.
function showSaid(answers) {
  const off = headsOff().length, titles = off ? ["whole", `without ${off}`] : [""];
  sayWithout(answers);
  byId("says").replaceChildren(...answers.map(({ title, unit, rows }) => {
    const best = rows.length > 1 && Math.max(...rows.map(([, , now]) => now));
    const most = unit ? Math.max(...rows.flat().filter((it) => it > 0)) : 1;
    const body = rows.map(([name, whole, now]) => {
      const bar = element("span", { class: "amount" }), values = off ? [whole, now] : [now];
      bar.style.width = `${Math.max(0, 100 * now / most)}%`;
      return element("tr", { class: now === best && "best" }, element("th", { scope: "row" }, name),
        element("td", { class: "bar-cell" }, bar), ...values.map((value) => cell(unit ? value.toFixed(3) : percent(value))));
    });
    const head = [title + (unit ? `, ${unit}` : ""), "", ...titles].map((text) => cell(text));
    return element("table", { class: "numbers said-by" }, element("thead", {}, element("tr", {}, ...head)),
      element("tbody", {}, ...body));
  }));
}

function drawOff(before) {
  if (before && before.off === state.off) return;
  const off = headsOff(), type = columnOf(`type.${data.main}`);
  byId("what").hidden = !state.off;
  byId("what-if").setAttribute("aria-pressed", String(Boolean(state.off)));
  tiles.forEach((tile, head) => tile.classList.toggle("off", off.includes(head)));
  if (String(off) !== asked) sayWithout();
  byId("of-types").replaceChildren(...(type ? type.categories : []).map(({ name }, index) => {
    const heads = [...tiles.keys()].filter((head) => type.values[head] === index);
    const others = off.filter((head) => !heads.includes(head)), all = others.length + heads.length === off.length;
    const button = element("button", { type: "button", "aria-pressed": String(all) }, `all ${name}`);
    button.addEventListener("click", () => {
      change({ off: (all ? others : [...others, ...heads]).sort((a, b) => a - b) });
      byId("of-types").children[index].focus();
    });
    return button;
  }));
}
