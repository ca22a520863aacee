// Heads that the model of a live page reads without.
function makeWhatIf() {
  byId("what-if").hidden = !data.live;
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
}
