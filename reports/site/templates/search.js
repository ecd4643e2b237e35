(() => {
  "use strict";
  const find = (id) => document.getElementById(id);
  const field = find("q"), show = find("show");
  const rows = [...document.querySelectorAll("tr.find")];
  const isRule = (row) => row.closest(".rules") !== null;

  // The state stands in the URL, behind the #.
  const write = () => {
    const state = new URLSearchParams();
    if (field.value.trim()) state.set("q", field.value.trim());
    if (show.value) state.set("show", show.value);
    history.replaceState(null, "", state.size ? `#${state}` : location.pathname + location.search);
  };
  const apply = () => {
    const terms = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const chosen = !show.value || (isRule(row) && show.value in row.dataset);
      row.hidden = !(chosen && terms.every((term) => row.dataset.words.includes(term)));
    }
    for (const section of document.querySelectorAll("section")) section.hidden = !section.querySelector("tr.find:not([hidden])");
    const found = rows.filter((row) => !row.hidden);
    const stacks = new Set(found.filter((row) => !isRule(row)).map((row) => row.dataset.words)).size;
    const many = found.filter(isRule).length;
    find("found").textContent = `${stacks} ${stacks === 1 ? "stack" : "stacks"}, ${many} ${many === 1 ? "rule" : "rules"}`;
    find("none").hidden = found.length > 0;
  };
  const changed = () => { apply(); write(); };
  const restore = () => {
    const state = new URLSearchParams(location.hash.slice(1));
    field.value = state.get("q") ?? "";
    show.value = ["broken", "differ"].includes(state.get("show")) ? state.get("show") : "";
    apply();
    if (state.has("q")) field.focus();
  };

  field.addEventListener("input", changed);
  show.addEventListener("change", changed);
  document.querySelector(".filters").addEventListener("submit", (event) => event.preventDefault());
  find("clear").addEventListener("click", () => { field.value = ""; show.value = ""; changed(); field.focus(); });
  addEventListener("hashchange", restore);
  addEventListener("keydown", (event) => {
    const links = rows.filter((row) => !row.hidden).map((row) => row.querySelector("a"));
    const at = links.indexOf(event.target);
    const inField = event.target === field;
    if (inField && event.key === "Escape" && field.value) {
      field.value = "";
      changed();
    } else if (inField && event.key === "Enter" && links.length) {
      links[0].click();
    } else if ((inField || at >= 0) && event.key === "ArrowDown") {
      links[Math.min(at + 1, links.length - 1)]?.focus();
    } else if (at >= 0 && event.key === "ArrowUp") {
      (links[at - 1] ?? field).focus();
    } else {
      return;
    }
    event.preventDefault();
  });
  restore();
})();
