"use strict";
// Each chart answers to pointer and keyboard: it says which run stands there, and Enter or a click goes to that run.
const tracks = JSON.parse(document.getElementById("tracks").textContent);
for (const card of document.querySelectorAll(".card")) {
  const track = tracks[card.dataset.track], picture = card.querySelector("svg"), told = card.querySelector(".told");
  const cursor = card.querySelector(".cursor"), count = track.runs.length, before = told.textContent;
  let at = -1;
  const show = (index) => {
    at = Math.max(0, Math.min(count - 1, index));
    const x = 50 + (at + 0.5) * 302 / count;
    cursor.setAttribute("d", `M${x} 20V132`);
    told.textContent = track.told[at];
  };
  const hide = () => { at = -1; cursor.setAttribute("d", ""); told.textContent = before; };
  const go = () => { if (at >= 0 && document.getElementById(`run-${track.runs[at]}`)) location.hash = `run-${track.runs[at]}`; };
  const place = (event) => {
    const box = picture.getBoundingClientRect();
    return Math.floor(((event.clientX - box.left) / box.width * 360 - 50) / 302 * count);
  };
  picture.addEventListener("pointermove", (event) => show(place(event)));
  picture.addEventListener("pointerleave", () => { if (document.activeElement !== picture) hide(); });
  picture.addEventListener("click", (event) => { show(place(event)); go(); });
  picture.addEventListener("blur", hide);
  picture.addEventListener("keydown", (event) => {
    const next = { ArrowLeft: at < 0 ? count - 1 : at - 1, ArrowRight: at + 1, Home: 0, End: count - 1 }[event.key];
    if (next !== undefined) { show(next); event.preventDefault(); }
    if (event.key === "Enter") go();
    if (event.key === "Escape") hide();
  });
}
const find = document.getElementById("find");
if (find) {
  const search = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const card of document.querySelectorAll(".card")) {
      card.hidden = !words.every((word) => card.dataset.name.toLowerCase().includes(word));
      shown += !card.hidden;
    }
    for (const group of document.querySelectorAll("section")) group.hidden = !group.querySelector(".card:not([hidden])");
    document.getElementById("found").textContent = words.length ? `${shown} of ${tracks.length}` : "";
    const address = new URL(location.href);
    if (find.value) address.searchParams.set("figures", find.value); else address.searchParams.delete("figures");
    history.replaceState(null, "", address);
  };
  find.value = new URL(location.href).searchParams.get("figures") || "";
  find.addEventListener("input", search);
  if (find.value) search();
}
