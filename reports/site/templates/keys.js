(() => {
  "use strict";
  // On every page, / leads to the search.
  addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const field = document.getElementById("q"), home = document.getElementById("home");
    if (field) {
      field.focus();
      field.select();
    } else if (home) {
      location.href = `${home.getAttribute("href")}#q=`;
    }
    event.preventDefault();
  });
})();
