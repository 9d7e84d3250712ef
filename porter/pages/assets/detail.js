// What the selected row is about: a finding with its source, reason and mend, or a file's diff.

function ruleOf(code) {
  for (const subject of DATA.subjects) {
    const found = subject.rules.find((rule) => rule.code === code);
    if (found) return found;
  }
  return { name: code, summary: "" };
}

function part(title, ...content) {
  return element("section", {}, element("h4", {}, title), ...content);
}

/** Return the source around a site, the site marked. */
function sourceView(site) {
  const { first, lines } = site.excerpt ?? { first: site.line, lines: [site.source] };
  const views = lines.map((text, index) => {
    const line = first + index;
    const isSite = line >= site.line && line <= site.end_line;
    const number = site.excerpt || !site.place.startsWith("cell") ? String(line) : "";
    return element(
      "span",
      { class: isSite ? "line of-site" : "line" },
      element("span", { class: "numbers", "aria-hidden": "true" }, `${number.padStart(5)} `),
      ...(line === site.line ? marked(site) : [visible(text)]),
    );
  });
  return codeBlock("Source", views);
}

function marked({ source, mark: [start, end] }) {
  const characters = Array.from(source); // columns count characters, not halves of pairs
  const text = (from, to) => visible(characters.slice(from, to).join(""));
  return [text(0, start), element("mark", {}, text(start, end)), text(end)];
}

function siteView(file, site) {
  const rule = ruleOf(site.code);
  const ported = site.state === "ported";
  const parts = [
    part(ported ? "What to know" : "Reason", element("p", {}, ...prose(site.message || rule.summary))),
    part("Source", sourceView(site)),
  ];
  if (site.replacement !== null) {
    const lines = site.replacement.split("\n").map((line) => element("span", { class: "line" }, visible(line)));
    parts.push(part(ported ? "Becomes" : "Write instead", codeBlock("Replacement", lines)));
  }
  const diff = ported ? diffView(file, site.line, site.end_line) : null;
  if (diff) parts.push(part("Diff", diff));
  parts.push(part("Rule", element("p", {}, element("code", {}, site.code), ` ${rule.name}: `, ...prose(rule.summary))));
  return [
    element("h3", { class: "mono" }, visible(`${file.path}:${site.place}`)),
    element("p", {}, badge(site.state)),
    ...parts,
  ];
}

function fileView(file) {
  const nothing = DATA.applied && file.changed ? "It was written: git has the diff." : "Nothing would change.";
  return [
    element("h3", { class: "mono" }, visible(file.path)),
    element("p", { class: "muted" }, inWords(file.counts)),
    part("Diff", diffView(file) ?? element("p", { class: "muted" }, nothing)),
  ];
}

/** Show a row's details; null is no row. */
function showDetail(row) {
  const view = byId("detail");
  view.scrollTop = 0;
  if (!row) {
    view.replaceChildren(element("p", { class: "muted" }, "No finding matches. Clear the filters to see all."));
    return;
  }
  const { file, site } = row;
  if (!site) {
    view.replaceChildren(...fileView(file));
    return;
  }
  const whole = element("button", { type: "button", class: "button", onclick: () => view.replaceChildren(...fileView(file)) }, "Show the whole file's diff");
  view.replaceChildren(...siteView(file, site), ...(file.diff ? [whole] : []));
}
