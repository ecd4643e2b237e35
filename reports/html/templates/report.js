(() => {
  "use strict";
  const find = (id) => document.getElementById(id);
  const list = find("list");
  const boxes = [...document.querySelectorAll("input[name=verdict]")];
  const order = ["FAIL", "ERROR", "INCONCLUSIVE", "KNOWN", "NOT_OBSERVABLE", "UNSUPPORTED", "SKIPPED", "OBSERVED", "PASS"];
  const rules = [...list.children].map((element, place) => ({
    element, place, verdict: element.dataset.v, profile: element.dataset.p, level: element.dataset.l,
    seconds: parseFloat(element.querySelector("summary > :last-child").textContent), words: null,
  }));
  const words = (rule) => {
    if (rule.words === null) {
      const about = [...rule.element.querySelectorAll("summary, dd")].map((one) => one.textContent);
      rule.words = about.join("\n").toLowerCase();
    }
    return rule.words;
  };
  let sorted = "";

  // The state stands in the URL, behind the #: what is searched, what is chosen, and which rules are open.
  const read = () => {
    const text = location.hash.slice(1);
    if (!text.includes("=")) return { open: text ? [decodeURIComponent(text)] : [], jump: true };
    const state = new URLSearchParams(text);
    return { ...Object.fromEntries(state), open: (state.get("open") ?? "").split(",").filter(Boolean), jump: state.has("open") };
  };
  const write = () => {
    const state = new URLSearchParams();
    const keep = (name, value) => value && state.set(name, value);
    keep("q", find("q").value.trim());
    keep("verdict", boxes.filter((box) => box.checked).map((box) => box.value).join(","));
    for (const name of ["profile", "level", "sort"]) keep(name, find(name).value);
    const open = rules.filter((rule) => rule.element.open).map((rule) => rule.element.id);
    if (open.length <= 20) keep("open", open.join(","));
    const hash = state.toString().replaceAll("%2C", ",");
    history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
  };

  const sort = () => {
    if (find("sort").value === sorted) return;
    sorted = find("sort").value;
    const by = { worst: (rule) => order.indexOf(rule.verdict), longest: (rule) => -rule.seconds }[sorted] ?? (() => 0);
    const wanted = [...rules].sort((one, other) => by(one) - by(other) || one.place - other.place);
    list.append(...wanted.map((rule) => rule.element));
  };
  const apply = () => {
    const terms = find("q").value.toLowerCase().split(/\s+/).filter(Boolean);
    const verdicts = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    const profile = find("profile").value, level = find("level").value;
    let shown = 0;
    for (const rule of rules) {
      const fits = (!verdicts.size || verdicts.has(rule.verdict)) && (!profile || profile === rule.profile)
        && (!level || level === rule.level) && terms.every((term) => words(rule).includes(term));
      shown += fits;
      if (rule.element.hidden === fits) rule.element.hidden = !fits;
    }
    sort();
    find("shown").textContent = `${shown} of ${rules.length} rules`;
    find("none").hidden = shown > 0;
  };
  const changed = () => { apply(); write(); };
  const restore = () => {
    const state = read();
    find("q").value = state.q ?? "";
    const chosen = (state.verdict ?? "").split(",");
    for (const box of boxes) box.checked = chosen.includes(box.value);
    for (const name of ["profile", "level", "sort"]) {
      const select = find(name), value = state[name] ?? "";
      select.value = [...select.options].some((option) => option.value === value) ? value : "";
    }
    const open = state.open.map(find).filter((one) => one?.classList.contains("rule"));
    for (const one of open) one.open = true;
    apply();
    if (state.jump && open.length) {
      open[0].hidden = false;
      jump(open[0], 10);
    }
  };
  // What is far from the screen is not laid out, and its height is a guess: while that is corrected, the place moves.
  const jump = (element, times) => {
    element.scrollIntoView();
    if (times) requestAnimationFrame(() => jump(element, times - 1));
  };
  const clear = () => {
    find("q").value = "";
    for (const box of boxes) box.checked = false;
    for (const name of ["profile", "level", "sort"]) find(name).value = "";
    changed();
  };

  find("q").addEventListener("input", changed);
  document.querySelector(".filters").addEventListener("change", changed);
  document.querySelector(".filters").addEventListener("submit", (event) => event.preventDefault());
  find("clear").addEventListener("click", clear);
  find("clear-too").addEventListener("click", () => { clear(); find("q").focus(); });
  find("open-all").addEventListener("click", () => {
    const shown = rules.filter((rule) => !rule.element.hidden);
    const open = !shown.every((rule) => rule.element.open);
    for (const rule of shown) rule.element.open = open;
  });
  let waiting = false;  // "Open all" opens hundreds at once, and a browser counts how often an address changes
  list.addEventListener("toggle", () => {
    if (!waiting) requestAnimationFrame(() => { waiting = false; write(); });
    waiting = true;
  }, true);
  addEventListener("hashchange", restore);
  addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      find("q").focus();
      find("q").select();
      event.preventDefault();
    } else if (event.key === "Escape" && event.target.id === "q" && find("q").value) {
      find("q").value = "";
      changed();
      event.preventDefault();
    } else if (event.target.tagName === "SUMMARY" && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      const shown = [...list.children].filter((one) => !one.hidden);
      const next = shown[shown.indexOf(event.target.parentElement) + (event.key === "ArrowDown" ? 1 : -1)];
      next?.firstElementChild.focus();
      event.preventDefault();
    }
  });
  restore();
  // The first search finds its words ready, if the reader has taken a moment to begin.
  const index = (deadline) => {
    const next = rules.filter((rule) => rule.words === null);
    while (next.length && deadline.timeRemaining() > 1) words(next.pop());
    if (next.length) requestIdleCallback(index);
  };
  if ("requestIdleCallback" in window) requestIdleCallback(index);
})();
