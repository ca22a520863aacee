makeTiles();
makeControls();
makePanels();
readAddress();
draw(null);
for (const event of ["popstate", "hashchange"]) {
  addEventListener(event, () => {
    if (`#${address()}` === (location.hash || "#")) return;
    readAddress();
    draw(null);
  });
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  readTheme();
  draw(null);
});
if (data.samples.length) mapsOf(state.sample).catch(() => {});
