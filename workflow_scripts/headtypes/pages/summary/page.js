// Of the answers, those about one partition, by the list or by a link to them; without a script, all are shown.
const list = document.getElementById("about");
const choose = (id) => {
  for (const it of document.querySelectorAll(".about")) it.hidden = it.id !== id;
  if (list) list.value = id;
};
if (list) {
  list.addEventListener("change", () => {
    choose(list.value);
    history.replaceState(null, "", `#${encodeURIComponent(list.value)}`);
  });
  list.parentElement.hidden = false;
  document.querySelectorAll(".about > .name").forEach((it) => { it.hidden = true; });
  choose(list.value);
}
// The answers alone, until they are pressed; on paper all, and every chapter.
const unfold = (which, open) => document.querySelectorAll(which).forEach((it) => { it.open = open; });
unfold(".answers details", false);
addEventListener("beforeprint", () => unfold(".answers details, .chapter", true));
// A link into a closed part opens it.
const reveal = () => {
  const part = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (part?.matches(".about")) choose(part.id);
  part?.querySelector(":scope > .chapter")?.setAttribute("open", "");
  for (let it = part?.closest("details"); it; it = it.parentElement.closest("details")) it.open = true;
};
addEventListener("hashchange", reveal);
// A second press on the same link changes no address.
document.querySelector("nav").addEventListener("click", () => setTimeout(reveal));
reveal();
// A figure as wide as its letters can be read at, until it is pressed again; where there is room, the link opens its PDF.
for (const link of document.querySelectorAll(".picture a:has(img), .gallery a")) {
  link.addEventListener("click", (event) => {
    if (!matchMedia("(max-width: 600px)").matches) return;
    event.preventDefault();
    link.classList.toggle("large");
  });
}
