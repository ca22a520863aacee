makeTiles();
makeControls();
makePanels();
if (data.live) makeLive();
readAddress();
draw(null);
for (const event of ["popstate", "hashchange"]) {
  addEventListener(event, () => {
    if (`#${address()}` === (location.hash || "#")) return;
    readAddress();
    draw(null);
  });
}
// What is printed is light.
for (const media of ["screen and (prefers-color-scheme: dark)", "print"]) {
  matchMedia(media).addEventListener("change", () => {
    readTheme();
    draw(null);
  });
}
if (data.samples.length) mapsOf(state.sample).catch(() => {});
