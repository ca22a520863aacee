// Of the answers, those about one partition, by the list or by a link to them; without a script, all are shown.
const list = document.getElementById("about");
const choose = (id) => {
  for (const it of document.querySelectorAll(".about")) it.hidden = it.id !== id;
  list.value = id;
};
list.addEventListener("change", () => {
  choose(list.value);
  history.replaceState(null, "", `#${encodeURIComponent(list.value)}`);
});
if (list.options.length > 1) {
  list.parentElement.hidden = false;
  document.querySelectorAll(".about > .name").forEach((it) => { it.hidden = true; });
}
choose(list.value);
// On a phone the answers alone, until they are pressed; on paper all.
const cards = document.querySelectorAll(".answers details");
const unfold = (open) => cards.forEach((it) => { it.open = open; });
const narrow = window.matchMedia("(max-width: 600px)");
unfold(!narrow.matches);
addEventListener("beforeprint", () => unfold(true));
// A link into a closed part opens it.
const reveal = () => {
  const part = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (part?.matches(".about")) choose(part.id);
  part?.closest("details")?.setAttribute("open", "");
};
addEventListener("hashchange", reveal);
reveal();
// What a head looks at, beside its name, while a mouse is on it or the keyboard at it. A tap opens it in the atlas.
const [look, says] = ["look", "says"].map((id) => document.getElementById(id));
const [far, special, near] = look.querySelectorAll("svg > *");
const glance = (event) => {
  const head = event.target.closest?.("[data-look]");
  look.hidden = !head?.matches(event.type === "focusin" ? ":focus-visible" : ":hover");
  if (look.hidden) return;
  const [type, ...shares] = head.dataset.look.split("|");
  [near, special, far].forEach((part, index) => { part.style.opacity = shares[index] / 100; });
  look.querySelector("p").textContent = `${type}: ${shares[0]}\u00a0% near, ${shares[1]}\u00a0% to special tokens, ${shares[2]}\u00a0% further`;
  const box = head.getBoundingClientRect();
  const below = box.bottom + look.offsetHeight + 8 < innerHeight;
  look.style.left = `${scrollX + Math.max(8, Math.min(box.left, innerWidth - look.offsetWidth - 8))}px`;
  look.style.top = `${scrollY + (below ? box.bottom + 4 : box.top - look.offsetHeight - 4)}px`;
  head.setAttribute("aria-describedby", "look");
};
addEventListener("pointerover", (event) => { if (event.pointerType === "mouse") glance(event); });
addEventListener("focusin", glance);
// What a square of a grid means, by a tap, which shows no title.
addEventListener("click", (event) => {
  const told = event.target.closest(".grid [title]");
  says.textContent = told?.title ?? "";
  if (told) says.style.top = `${scrollY + told.getBoundingClientRect().bottom + 4}px`;
  says.hidden = !told;
});
addEventListener("keydown", (event) => { if (event.key === "Escape") look.hidden = true; });
// A figure as wide as its letters can be read at, until it is pressed again; where there is room, the link opens its PDF.
for (const link of document.querySelectorAll(".picture a:has(img), .gallery a")) {
  link.addEventListener("click", (event) => {
    if (!narrow.matches) return;
    event.preventDefault();
    link.classList.toggle("large");
  });
}
