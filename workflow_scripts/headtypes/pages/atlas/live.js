// On a page that `look.py --serve` answers: the model reads the text that is typed, without the heads that are off, and
// says what it answers. Of several questions under way, the reply to the last one counts.
let asking = 0, asked = "";

function makeLive() {
  const { first, second, operations, asks } = data.live;
  const area = (id, label, value) => {
    const box = element("textarea", { id, rows: 2, maxlength: 15000, spellcheck: "false" });
    box.value = value;
    return element("div", { class: "control" }, element("label", { for: id }, label), box);
  };
  const choice = element("select", { id: "operation" }, ...operations.map((name) => element("option", {}, name)));
  const form = element("form", { id: "live", class: "controls", "aria-label": "Text" },
    area("first", "Text", first), area("second", "Second text", second),
    element("button", { type: "submit" }, "Read it"),
    element("div", { class: "control" }, element("label", { for: "operation" }, "What is done to heads that are off"), choice),
    asks ? element("p", { class: "quiet" }, asks) : "");
  byId("all").prepend(form, element("div", { id: "says", role: "status" }));
  byId("sample-control").hidden = true;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    askModel();
  });
  choice.addEventListener("change", () => state.off && state.off.length && askModel());
  showSaid(data.live.answers);
  drawn.push(() => headsOff() !== asked && askModel());
}

const headsOff = () => String(state.off || []);

async function askModel() {
  const turn = ++asking;
  asked = headsOff();
  byId("says").setAttribute("aria-busy", "true");
  const question = { first: byId("first").value, second: byId("second").value || null,
    operation: byId("operation").value, heads: (state.off || []).map(nameOf) };
  const headers = { "Content-Type": "application/json" };
  let read;
  try {
    read = await (await fetch("read", { method: "POST", headers, body: JSON.stringify(question) })).json();
  } catch {
    read = { error: "The server does not answer; start look.py again." };
  }
  if (turn !== asking) return;
  byId("says").removeAttribute("aria-busy");
  if (read.error) {
    byId("says").replaceChildren(element("p", { class: "refused" }, read.error));
    return;
  }
  if (String(read.samples[0].tokens) !== String(data.samples[0].tokens)) state.token = null;
  data.samples = read.samples;
  data.features = read.features;
  byId("packed-0").textContent = read.packed[0];
  unpackedMaps.clear();
  showSaid(read.answers);
  draw(null);
}

// What the whole model answers, and what it answers now; without heads that are off, once.
function showSaid(answers) {
  const off = state.off || [];
  byId("says").replaceChildren(...answers.map(({ title, unit, rows }) => {
    const shown = (value) => (unit ? value.toFixed(3) : percent(value));
    const most = unit ? Math.max(...rows.flatMap(([, ...values]) => values.map(Math.abs))) || 1 : 1;
    const bar = (value) => {
      const made = element("span", { class: "amount" });
      made.style.width = `${(100 * Math.min(Math.abs(value) / most, 1)).toFixed(2)}%`;
      return made;
    };
    const best = rows.length > 1 && Math.max(...rows.map(([, , now]) => now));
    const body = rows.map(([name, whole, now]) => {
      const values = off.length ? [whole, now] : [now];
      return element("tr", { class: now === best && "best" }, element("th", { scope: "row" }, name),
        element("td", { class: "bar-cell" }, ...values.toReversed().map(bar)),
        ...values.map((value) => cell(shown(value))));
    });
    const titles = [title + (unit ? `, ${unit}` : ""), "", ...(off.length ? ["whole", `without ${off.length}`] : [""])];
    return element("table", { class: "numbers said-by" }, element("thead", {}, element("tr", {}, ...titles.map((text) =>
      text ? element("th", { scope: "col" }, text) : element("td")))), element("tbody", {}, ...body));
  }));
}
