(() => {
  "use strict";
  // What a picture says about the place at which the pointer or the focus is stands below it, too.
  const part = (event) => event.target.closest?.(".lanes [role=img]");
  const say = (event) => {
    const one = part(event);
    const output = one?.closest("figure")?.querySelector("output");
    if (output) output.textContent = one.firstElementChild.textContent;
  };
  addEventListener("pointerover", say);
  addEventListener("focusin", say);
  // A picture is one stop of the tab key; within it, the arrows move.
  const steps = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, Home: -1e9, End: 1e9 };
  addEventListener("keydown", (event) => {
    const one = part(event);
    if (!one || !(event.key in steps) || event.ctrlKey || event.altKey || event.metaKey) return;
    const all = [...one.ownerSVGElement.querySelectorAll("[role=img]")];
    const next = all[Math.min(all.length - 1, Math.max(0, all.indexOf(one) + steps[event.key]))];
    one.removeAttribute("tabindex");
    next.setAttribute("tabindex", "0");
    next.focus();
    event.preventDefault();
  });
})();
