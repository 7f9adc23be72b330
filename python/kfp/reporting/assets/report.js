"use strict";
// Tabs, filters and the viewer of kernels. All text reaches the page as text; nothing is ever parsed as markup.
(() => {
  const make = (name, style, text) => {
    const node = document.createElement(name);
    if (style) node.className = style;
    if (text !== undefined) node.textContent = text;
    return node;
  };
  // Within the frame of a notebook there is no address to change.
  const address = (how, id) => {
    try { history[how](null, "", `#${id}`); } catch (error) { if (error.name !== "SecurityError") throw error; }
  };
  document.documentElement.classList.add("scripted");
  const shownViews = () => [...document.querySelectorAll("article.view")];

  // All but the first view wait in templates, so that hundreds of them cost nothing until they are asked for.
  function viewOf(id) {
    const prefix = (id.match(/^v\d+-/) || [""])[0];
    const waiting = document.getElementById(`${prefix}waiting`);
    if (waiting) {
      waiting.replaceWith(waiting.content);
      prepare(document.getElementById(`${prefix}view`));
    }
    return document.getElementById(`${prefix}view`);
  }

  function prepare(view) {
    tabs(view);
    for (const box of view.querySelectorAll(".filterable")) filters(box);
  }

  // Tabs, by the pattern of the ARIA Authoring Practices: arrows move, Tab leaves.
  function tabs(view) {
    const panels = [...view.querySelectorAll(":scope > section")];
    if (!panels.length) return;
    const list = make("div", "tabs");
    list.setAttribute("role", "tablist");
    list.setAttribute("aria-label", "Parts of this report");
    panels.forEach((panel) => {
      const tab = make("button", "", panel.querySelector("h2").textContent);
      tab.type = "button";
      tab.id = `tab-${panel.id}`;
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-controls", panel.id);
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-labelledby", tab.id);
      panel.tabIndex = 0;
      tab.addEventListener("click", () => { choose(panel); address("replaceState", panel.id); });
      list.append(tab);
    });
    list.addEventListener("keydown", (event) => {
      const all = [...list.children];
      const at = all.indexOf(document.activeElement);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
      if (to === undefined || at < 0) return;
      event.preventDefault();
      const tab = all[(to + all.length) % all.length];
      tab.focus();
      tab.click();
    });
    panels[0].before(list);
    choose(panels[0]);
  }

  function choose(panel) {
    const view = panel.closest("article.view");
    for (const other of view.querySelectorAll(":scope > section")) other.hidden = other !== panel;
    for (const tab of view.querySelectorAll(":scope > .tabs > button")) {
      const on = tab.getAttribute("aria-controls") === panel.id;
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
    }
    const viewer = panel.querySelector("[data-viewer]");
    if (viewer && !viewer.dataset.shown) first(viewer);
  }

  function reveal(view) {
    for (const other of shownViews()) other.hidden = other !== view;
  }

  // Kernels: sources are drawn when they are asked for, from lines that are on the page once.
  const known = new Map();
  function dataOf(prefix) {
    if (!known.has(prefix)) known.set(prefix, JSON.parse(document.getElementById(`${prefix}data`).textContent));
    return known.get(prefix);
  }

  function first(viewer) {
    const prefix = viewer.dataset.viewer;
    show(viewer, dataOf(prefix).first);
  }

  function show(viewer, key) {
    const prefix = viewer.dataset.viewer;
    const data = dataOf(prefix);
    const about = data.about[key];
    if (!about) return;
    viewer.dataset.shown = key;
    for (const link of viewer.closest("section").querySelectorAll("tr a[data-open]")) {
      link.closest("tr").setAttribute("aria-current", String(link.dataset.open === `${prefix}kernel-${key}`));
    }
    viewer.replaceChildren(make("h3", about.tone ? `tone-${about.tone}` : "", about.title));
    for (const text of about.notes) viewer.append(make("p", "note", text));
    if (!data.kernels[key]) {
      viewer.append(make("p", "note", "There is no source of it on this page."));
      return;
    }
    const ways = [];
    const changes = data.changes[key] || {};
    if (changes.start) ways.push(["changes to the start", "start"]);
    if (about.parent && about.parent !== "start" && changes[about.parent]) {
      ways.push([`changes to kernel ${about.parent}, its parent`, about.parent]);
    }
    ways.push(["the whole source", null]);
    const choices = make("div", "choices");
    const place = make("div");
    for (const [name, other] of ways) {
      const button = make("button", "", name);
      button.type = "button";
      button.addEventListener("click", () => {
        for (const sibling of choices.children) sibling.setAttribute("aria-pressed", String(sibling === button));
        place.replaceChildren(source(data, key, other, name));
      });
      choices.append(button);
    }
    viewer.append(choices, place);
    if (data.cut[key]) viewer.append(make("p", "note", data.cut[key]));
    choices.firstChild.click();
  }

  addEventListener("beforeprint", () => {
    for (const viewer of document.querySelectorAll("article.view:not([hidden]) [data-viewer]")) {
      if (!viewer.dataset.shown) first(viewer);
    }
  });

  const CONTEXT = 4;
  function source(data, key, other, name) {
    const lines = data.kernels[key].map((number) => data.lines[number]);
    const marks = new Map();
    const loose = [];
    for (const mark of data.about[key].marks) {
      if (mark.line < 1 || mark.line > lines.length) loose.push(mark);
      else marks.set(mark.line, [...(marks.get(mark.line) || []), mark]);
    }
    const rows = [];
    const put = (style, before, after, sign, text) => rows.push({ style, before, after, sign, text });
    if (other === null) {
      lines.forEach((text, i) => put("", "", i + 1, "", text));
    } else {
      const old = data.kernels[other].map((number) => data.lines[number]);
      let i = 0;
      let j = 0;
      for (const [i1, i2, j1, j2] of [...data.changes[key][other], [old.length, old.length, lines.length, lines.length]]) {
        for (; i < i1; i++, j++) put("same", i + 1, j + 1, "", lines[j]);
        for (; i < i2; i++) put("removed", i + 1, "", "−", old[i]);
        for (; j < j2; j++) put("added", "", j + 1, "+", lines[j]);
      }
    }
    const near = rows.map(() => other === null);
    if (other !== null) {
      rows.forEach((row, at) => {
        if (row.style === "same" && !(row.after && marks.has(row.after))) return;
        for (let k = Math.max(0, at - CONTEXT); k <= Math.min(rows.length - 1, at + CONTEXT); k++) near[k] = true;
      });
    }
    const body = make("tbody");
    const add = (style, cells) => {
      const line = make("tr", style);
      cells.forEach(([kind, text]) => line.append(make("td", kind, text)));
      body.append(line);
    };
    loose.forEach((mark) => add(`said`, [["at", ""], ["at", ""], ["sign", ""], [`text tone-${mark.tone}`, mark.text]]));
    let skipped = 0;
    const flush = () => {
      if (skipped) add("gap", [["at", ""], ["at", ""], ["sign", ""], ["text", `${skipped} lines are the same`]]);
      skipped = 0;
    };
    rows.forEach((row, at) => {
      if (!near[at]) { skipped += 1; return; }
      flush();
      add(row.style, [["at", row.before], ["at", row.after], ["sign", row.sign], ["text", row.text]]);
      for (const mark of (row.after && marks.get(row.after)) || []) {
        add("said", [["at", ""], ["at", ""], ["sign", ""], [`text tone-${mark.tone}`, mark.text]]);
      }
    });
    flush();
    const table = make("table");
    const caption = make("caption", "", other === null ? `${lines.length} lines` : name);
    table.append(caption, body);
    const box = make("pre", "source");
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", name);
    box.append(table);
    return box;
  }

  // Addresses: a view, one of its parts, or one of its kernels.
  function open(id) {
    const view = viewOf(id);
    if (!view) return;
    const kernel = id.match(/^(v\d+-)kernel-(start|\d+\.\d+)$/);
    const target = kernel ? view.querySelector("[data-viewer]") : document.getElementById(id);
    if (!target) return;
    reveal(view);
    const panel = target.closest('[role="tabpanel"]');
    if (panel) choose(panel);
    if (kernel) show(target, kernel[2]);
    const place = target === view ? view.querySelector("h1") : target;
    if (place.tabIndex < 0) place.tabIndex = -1;
    place.focus({ preventScroll: true });
    if (target === view) scrollTo(0, 0);
    else target.scrollIntoView({ block: "start" });
  }
  document.addEventListener("click", (event) => {
    const from = event.target.closest("[data-open]");
    if (!from) return;
    event.preventDefault();
    address("pushState", from.dataset.open);
    open(from.dataset.open);
  });
  const follow = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    if (/^v\d+-/.test(id)) open(id);
    else reveal(shownViews()[0]);
  };

  // Filters: by kind, and by text.
  function filters(box) {
    const rows = [...box.querySelectorAll("tbody > tr")];
    const texts = rows.map((row) => row.textContent.toLowerCase());
    const [kind, text, count] = ["kind", "text", "count"].map((name) => box.querySelector(`[data-filter="${name}"]`));
    const apply = () => {
      const wanted = text.value.trim().toLowerCase();
      let left = 0;
      rows.forEach((row, i) => {
        const fits = (!kind.value || row.dataset.kind === kind.value) && texts[i].includes(wanted);
        row.hidden = !fits;
        left += fits;
      });
      count.textContent = `${left} of ${rows.length} ${box.dataset.what}`;
    };
    kind.addEventListener("change", apply);
    text.addEventListener("input", apply);
    apply();
  }

  shownViews().forEach(prepare);
  addEventListener("popstate", follow);
  if (location.hash) follow();
})();
