"use strict";
// Times in the zone of the reader, and a page that follows the log. Everything can be read without this.
(() => {
  const local = (root) => {
    for (const t of root.querySelectorAll("time[datetime]")) {
      const d = new Date(t.dateTime), two = (n) => String(n).padStart(2, "0");
      const clock = two(d.getHours()) + ":" + two(d.getMinutes()) + ":" + two(d.getSeconds());
      const day = d.getFullYear() + "-" + two(d.getMonth() + 1) + "-" + two(d.getDate());
      t.textContent = t.classList.contains("clock") ? clock : day + " " + clock.slice(0, 5);
    }
  };
  local(document);
  const state = document.getElementById("state");
  const busy = () => document.activeElement && /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName) ||
    String(getSelection()) !== "" || document.querySelector("main details[open]");
  let loading = false, again = false;
  const load = async () => {
    if (loading) { again = true; return; }
    if (busy()) { state.textContent = "There is more: reload the page"; return; }
    loading = true;
    try {
      const answer = await fetch(location.href, { headers: { "Reviewer-Update": "1" } });
      if (answer.status === 401) { state.textContent = "This page is out of date: run reviewer ui again"; return; }
      if (!answer.ok) return;
      const next = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const part of ["main", ".bar nav", "#state"]) {
        const from = next.querySelector(part), to = document.querySelector(part);
        if (from && to && from.innerHTML !== to.innerHTML) { to.replaceChildren(...from.childNodes); local(to); }
      }
    } finally {
      loading = false;
      if (again) { again = false; setTimeout(load, 500); }
    }
  };
  if (document.documentElement.dataset.still) return;
  const events = new EventSource("events");
  events.addEventListener("changed", load);
  events.onerror = () => { state.textContent = "Not connected: reviewer ui has ended, or this page is out of date"; };
})();
