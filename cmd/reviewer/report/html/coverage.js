"use strict";
const search = document.getElementById("search");
const missed = document.getElementById("missed");
const nothing = document.getElementById("nothing");

// Rows carry what they are called, and whether something of them is missing.
function filter() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (e) => (!missed.checked || e.dataset.missed === "1") && words.every((w) => e.dataset.name.toLowerCase().includes(w));
  let shown = 0;
  for (const e of document.querySelectorAll("[data-name]")) {
    e.hidden = !fits(e);
    shown += e.hidden ? 0 : 1;
  }
  for (const group of document.querySelectorAll(".group")) {
    group.hidden = !group.querySelector("[data-name]:not([hidden])");
  }
  for (const list of document.querySelectorAll("details.kind")) list.open = true;
  nothing.hidden = shown > 0;
}

// A link to a line shows it, wherever it is folded away.
function reveal() {
  const line = location.hash && document.getElementById(location.hash.slice(1));
  const file = line && line.closest("details");
  if (!file) return;
  file.hidden = false;
  file.closest(".group").hidden = false;
  file.open = true;
  line.scrollIntoView({ block: "center" });
}

search.addEventListener("input", filter);
missed.addEventListener("change", filter);
window.addEventListener("hashchange", reveal);
reveal();
