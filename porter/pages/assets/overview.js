// The figures: how much is ported, what is left, and of which kinds.

const STATES = {
  ported: ["✓", "ported", "porter ports it; the diff shows how"],
  person: ["✎", "needs a person", "recognised and left: it takes a decision, and the reason says which"],
  blocked: ["✕", "blocked", "left, and nothing runs without new code or something in its place: an unguarded import of what only CUDA has, or an extension or kernel compiled for CUDA"],
  note: ["i", "note", "recognised and rightly left; it counts neither for the port nor against it"],
  error: ["!", "not processed", "the file could not be read as what it is, and is as it was"],
};
const SITE_STATES = ["ported", "person", "blocked"];

/** Return a badge with a state's sign and name. */
function badge(state) {
  const [sign, name] = STATES[state];
  return element("span", { class: `badge ${state}` }, `${sign} ${name}`);
}

/** Return how many sites there are: what is hard-coded for CUDA. */
function sites(counts) {
  return SITE_STATES.reduce((sum, state) => sum + counts[state], 0);
}

/** Say counts in words, leaving out what is zero. */
function inWords(counts) {
  const parts = Object.keys(STATES).filter((state) => counts[state]);
  return parts.map((state) => `${counts[state].toLocaleString("en")} ${STATES[state][1]}`).join(", ");
}

/** Return a bar whose parts are as long as their counts, against `whole`. */
function bar(counts, whole) {
  const parts = SITE_STATES.filter((state) => counts[state]).map((state) => {
    const width = `width: ${(100 * counts[state]) / whole}%`;
    return element("span", { class: `part fill-${state}`, style: width });
  });
  return element("div", { class: "bar", role: "img", "aria-label": inWords(counts) }, ...parts);
}

function percent(part, whole) {
  if (part === whole) return "100 %";
  return `${Math.min(99, Math.round((100 * part) / whole))} %`;
}

function verdict(counts) {
  if (!sites(counts)) return "Nothing here is hard-coded for CUDA.";
  const done = DATA.applied ? "was ported" : "ports by itself";
  if (sites(counts) === counts.ported) return `All of it ${done}.`;
  const left = [];
  if (counts.person) left.push(`${counted(counts.person, "site")} to decide on`);
  if (counts.blocked) left.push(`${counts.blocked.toLocaleString("en")} blocked`);
  return `${percent(counts.ported, sites(counts))} ${done}; ${left.join(", ")}.`;
}

function startOverview(filter) {
  const { counts } = DATA;
  const total = sites(counts);
  byId("title").textContent = `Portability of ${visible(DATA.name)}`;
  byId("subtitle").textContent = `From CUDA to Ascend NPU, CUDA and CPU · porter ${DATA.porter} · ${
    DATA.applied ? "ported in place" : "nothing was written"
  }`;
  byId("share").append(total ? percent(counts.ported, total) : "—", element("small", {}, "ported"));
  byId("verdict").textContent = verdict(counts);
  if (total) byId("states").append(bar(counts, total));
  const key = element("ul", { class: "key" });
  for (const state of SITE_STATES) {
    key.append(element("li", {}, badge(state), ` ${counts[state].toLocaleString("en")}`));
  }
  byId("states").append(key);
  startTiles();
  startKinds(filter);
  for (const [state, [, , meaning]] of Object.entries(STATES)) {
    byId("legend").append(element("dt", {}, badge(state)), element("dd", {}, meaning));
  }
}

function startTiles() {
  const changed = DATA.files.filter((file) => file.changed).length;
  const tiles = {
    "Files looked at": DATA.scanned,
    "Files with sites": DATA.with_sites,
    [DATA.applied ? "Files changed" : "Files that would change"]: changed,
    "Files then done": DATA.done,
    Sites: sites(DATA.counts),
    Notes: DATA.counts.note,
    "Not processed": DATA.counts.error + DATA.skipped.filter((item) => item.failed).length,
  };
  for (const [name, number] of Object.entries(tiles)) {
    byId("tiles").append(
      element("div", { class: "tile" }, element("dt", {}, name), element("dd", {}, number.toLocaleString("en"))),
    );
  }
}

function startKinds(filter) {
  const largest = Math.max(1, ...DATA.subjects.map((subject) => sites(subject.counts)));
  for (const subject of DATA.subjects) {
    const only = () => filter.set({ rule: subject.prefix });
    byId("kinds").append(barRow(subject.title, subject.counts, largest, only), ruleRow(subject, filter));
  }
}

/** Return a table row with a button for each rule of a subject. */
function ruleRow(subject, filter) {
  const buttons = subject.rules.map(({ code, name, summary, counts }) => {
    const only = () => filter.set({ rule: code });
    const about = `${code} ${name}: ${inWords(counts)}. ${summary}`;
    const all = Object.values(counts).reduce((sum, count) => sum + count);
    const label = `${code} ${all.toLocaleString("en")}`;
    return element("button", { type: "button", class: "code-button", title: about, "aria-label": about, onclick: only }, label);
  });
  return element("tr", {}, element("td", { colspan: 3, class: "codes" }, ...buttons));
}

/** Return a table row: a button, a bar, and the number of sites. */
function barRow(name, counts, largest, onclick, depth = 0) {
  const about = `${name}: ${inWords(counts) || "nothing"}; show these findings`;
  const button = element("button", { type: "button", class: "plain", "aria-label": about, onclick }, name);
  return element(
    "tr",
    {},
    element("th", { scope: "row", style: `padding-left: ${depth}rem` }, button),
    element("td", {}, bar(counts, largest)),
    element("td", { class: "number" }, sites(counts).toLocaleString("en")),
  );
}
