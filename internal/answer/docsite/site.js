
"use strict";
(() => {
  const most = 60; // pages that are listed for a search
  const box = document.getElementById("search");
  const hits = document.getElementById("hits");
  const groups = document.getElementById("groups");
  const count = document.getElementById("count");
  const nav = document.querySelector("nav");
  const site = document.title;
  let index;

  const lower = (text) => text.toLowerCase().replace(/\s+/g, " ");

  const pages = () => index ??= [...document.querySelectorAll("main > article")].map((page) => {
    const title = page.querySelector("h1").textContent;
    return { id: page.id, group: page.dataset.group, title, name: lower(page.id + " " + page.id.split("/").pop().replaceAll("-", " ")),
      head: lower(title), text: lower(page.textContent) };
  });

  // score is how well a page fits: every word must be in it.
  const score = (page, words, phrase) => {
    let sum = 0;
    for (const word of words) {
      if (page.name.includes(word)) sum += 8;
      else if (page.head.includes(word)) sum += 5;
      else if (page.text.includes(word)) sum += 1;
      else return 0;
    }
    if (page.id.split("/").pop() === phrase) sum += 100;
    if (words.length > 1 && page.text.includes(phrase)) sum += 6;
    return sum - Math.min(0.9, page.text.length / 100000); // the shorter page first
  };

  const search = () => {
    const phrase = lower(box.value).trim();
    hits.hidden = phrase === "";
    groups.hidden = phrase !== "";
    hits.replaceChildren();
    count.textContent = "";
    if (phrase === "") return;
    if (getComputedStyle(nav).position === "static") window.scrollTo(0, 0); // the lists are above the page
    const words = phrase.split(" ");
    const found = pages().map((page) => ({ page, score: score(page, words, phrase) })).filter((hit) => hit.score > 0);
    found.sort((a, b) => b.score - a.score);
    for (const { page } of found.slice(0, most)) {
      const item = document.createElement("li");
      const link = item.appendChild(document.createElement("a"));
      link.href = "#" + page.id;
      link.textContent = page.title;
      item.appendChild(document.createElement("small")).textContent = page.group + ": " + page.id.split("/").pop();
      hits.append(item);
    }
    count.textContent = found.length === 0 ? "no page" : found.length === 1 ? "1 page" : found.length + " pages";
    mark();
  };

  const shown = () => {
    const at = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    return at?.closest("article") ?? document.querySelector("main > article");
  };

  // mark shows in the lists which page is open.
  const mark = () => {
    const here = "#" + shown().id;
    for (const link of document.querySelectorAll("nav a")) {
      if (link.getAttribute("href") === here) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  };

  const open = () => {
    const page = shown();
    document.title = page.querySelector("h1").textContent + " - " + site;
    mark();
    if (page.id === decodeURIComponent(location.hash.slice(1))) {
      page.focus({ preventScroll: true });
      page.scrollIntoView();
    }
  };

  const move = (step) => {
    const links = [...hits.querySelectorAll("a")];
    const next = links.indexOf(document.activeElement) + step;
    if (next < 0) box.focus();
    else links[next]?.focus();
  };

  box.addEventListener("input", search);
  box.addEventListener("keydown", (event) => {
    const first = hits.querySelector("a");
    if (event.key === "Enter" && first) first.click();
    else if (event.key === "ArrowDown" && first) first.focus();
    else if (event.key === "Escape") { box.value = ""; search(); }
    else return;
    event.preventDefault();
  });
  hits.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(-1);
    else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target === box) return;
    box.focus();
    box.select();
    event.preventDefault();
  });
  document.querySelector(".skip").addEventListener("click", (event) => {
    shown().focus();
    event.preventDefault();
  });
  window.addEventListener("hashchange", open);
  if (location.hash) open();
  else mark();
})();
