// Search and filters: which findings are shown.

class Filter {
  constructor(onChange) {
    this.onChange = onChange;
    this.wanted = { words: [], rule: "", folder: "", states: new Set(Object.keys(STATES)) };
    for (const [index, file] of DATA.files.entries()) {
      for (const site of file.sites) {
        site.file = index;
        site.haystack = `${file.path}\n${site.code}\n${site.source}\n${site.message}`.toLowerCase();
      }
    }
    this.#fillRules();
    this.#fillFolders();
    this.#fillLevels();
    this.#listen();
  }

  /** Change some of what is wanted: `rule` is a code or its beginning, `folder` a path. */
  set(changes) {
    Object.assign(this.wanted, changes);
    byId("rule").value = this.wanted.rule;
    byId("folder").value = this.wanted.folder;
    this.onChange();
  }

  /** Return the rows to show: each file that has any, followed by its sites. */
  rows() {
    const rows = [];
    for (const file of DATA.files) {
      if (!this.#isBelow(file.path)) continue;
      const found = file.sites.filter((site) => this.#matches(site));
      if (found.length) rows.push({ file, site: null, found: found.length });
      for (const site of found) rows.push({ file, site });
    }
    return rows;
  }

  #isBelow(path) {
    const { folder } = this.wanted;
    return !folder || path === folder || path.startsWith(`${folder}/`);
  }

  #matches(site) {
    const { words, rule, states } = this.wanted;
    return (
      states.has(site.state) &&
      site.code.startsWith(rule) &&
      words.every((word) => site.haystack.includes(word))
    );
  }

  #fillRules() {
    byId("rule").append(element("option", { value: "" }, "All kinds"));
    for (const subject of DATA.subjects) {
      const group = element("optgroup", { label: subject.title });
      group.append(element("option", { value: subject.prefix }, `${subject.title}: all`));
      for (const rule of subject.rules) {
        group.append(element("option", { value: rule.code }, `${rule.code} ${rule.name}`));
      }
      byId("rule").append(group);
    }
  }

  #fillFolders() {
    const select = byId("folder");
    select.append(element("option", { value: "" }, "All folders"));
    const places = [
      ...DATA.folders.filter((folder) => folder.path).map(({ path }) => [path, `${path}/`]),
      ...DATA.files.map(({ path }) => [path, path]),
    ];
    places.sort(([, a], [, b]) => (a < b ? -1 : 1));
    for (const [value, shown] of places) select.append(element("option", { value }, visible(shown)));
  }

  #fillLevels() {
    for (const [state, [sign, name]] of Object.entries(STATES)) {
      if (!DATA.counts[state]) continue;
      const box = element("input", { type: "checkbox", name: state, checked: true });
      box.addEventListener("change", () => {
        if (box.checked) this.wanted.states.add(state);
        else this.wanted.states.delete(state);
        this.onChange();
      });
      const count = DATA.counts[state].toLocaleString("en");
      byId("levels").append(element("label", { class: state }, box, ` ${sign} ${name} ${count}`));
    }
  }

  #listen() {
    const form = byId("filters");
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => {
      this.wanted.states = new Set(Object.keys(STATES));
      this.set({ words: [], rule: "", folder: "" });
    });
    byId("rule").addEventListener("change", ({ target }) => this.set({ rule: target.value }));
    byId("folder").addEventListener("change", ({ target }) => this.set({ folder: target.value }));
    byId("search").addEventListener("input", ({ target }) => {
      this.set({ words: target.value.toLowerCase().split(/\s+/).filter(Boolean) });
    });
  }
}
