// The list of findings. Only the rows in view are in the document, however many there are.

const ROW = 46; // pixels, as in the style sheet
const MARGIN = 8; // rows drawn above and below those in view

class List {
  #box = byId("list");
  #sheet = element("div", { class: "sheet", role: "presentation" });
  #rows = [];
  #selected = -1;

  /** `onSelect` is told the selected row, or null; `onOpen` that it is to be read. */
  constructor(onSelect, onOpen) {
    this.onSelect = onSelect;
    this.onOpen = onOpen;
    this.#box.append(this.#sheet);
    this.#box.addEventListener("scroll", () => this.#draw(), { passive: true });
    new ResizeObserver(() => this.#draw()).observe(this.#box);
    this.#box.addEventListener("keydown", (event) => this.#key(event));
    this.#sheet.addEventListener("click", (event) => {
      const row = event.target.closest("[data-row]");
      if (!row) return;
      this.select(Number(row.dataset.row));
      this.onOpen(false);
    });
  }

  /** Show other rows; what was selected stays so, if it is among them. */
  show(rows) {
    const before = this.#rows[this.#selected];
    const same = (row) => row.file === before?.file && row.site === before?.site;
    this.#rows = rows;
    this.#sheet.style.height = `${rows.length * ROW}px`;
    const kept = before ? rows.findIndex(same) : -1;
    if (kept < 0) this.#box.scrollTop = 0;
    this.select(kept < 0 ? Math.min(1, rows.length - 1) : kept);
  }

  focus() {
    this.#box.focus();
  }

  select(index) {
    this.#selected = index;
    this.#reveal(index);
    this.#draw();
    this.onSelect(this.#rows[index] ?? null);
  }

  #reveal(index) {
    const top = Math.max(0, index) * ROW;
    const { scrollTop, clientHeight } = this.#box;
    if (top < scrollTop) this.#box.scrollTop = top;
    else if (top + ROW > scrollTop + clientHeight) this.#box.scrollTop = top + ROW - clientHeight;
  }

  #draw() {
    const { scrollTop, clientHeight } = this.#box;
    const first = Math.max(0, Math.floor(scrollTop / ROW) - MARGIN);
    const stop = Math.min(this.#rows.length, Math.ceil((scrollTop + clientHeight) / ROW) + MARGIN);
    const drawn = [];
    for (let index = first; index < stop; index += 1) drawn.push(this.#row(index));
    this.#sheet.replaceChildren(...drawn);
    const isDrawn = this.#selected >= first && this.#selected < stop;
    if (isDrawn) this.#box.setAttribute("aria-activedescendant", `row-${this.#selected}`);
    else this.#box.removeAttribute("aria-activedescendant");
  }

  #row(index) {
    const { file, site, found } = this.#rows[index];
    const attributes = {
      id: `row-${index}`,
      class: site ? "row" : "row file-row",
      role: "option",
      "data-row": index,
      "aria-selected": String(index === this.#selected),
      "aria-setsize": this.#rows.length,
      "aria-posinset": index + 1,
      style: `top: ${index * ROW}px`,
    };
    const path = site ? null : visible(file.path);
    return site
      ? element("div", attributes, ...this.#siteParts(site))
      : element("div", attributes, element("span", { class: "path", title: path }, path), element("span", { class: "muted" }, counted(found, "finding")));
  }

  #siteParts(site) {
    const [sign, name] = STATES[site.state];
    return [
      element("span", { class: `sign ${site.state}` }, sign, element("span", { class: "hidden-text" }, ` ${name}`)),
      element("span", { class: "place muted" }, `${site.code} · ${site.place}`),
      element("code", { class: "source" }, visible(site.source.trim() || site.message)),
    ];
  }

  #key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const last = this.#rows.length - 1;
    const page = Math.max(1, Math.floor(this.#box.clientHeight / ROW) - 1);
    const at = this.#selected;
    const moves = {
      ArrowDown: Math.min(last, at + 1),
      ArrowUp: Math.max(0, at - 1),
      PageDown: Math.min(last, at + page),
      PageUp: Math.max(0, at - page),
      Home: 0,
      End: last,
      ArrowLeft: this.#fileRow(at),
    };
    if (event.key in moves && last >= 0) this.select(moves[event.key]);
    else if (event.key === "Enter" && at >= 0) this.onOpen(true);
    else return;
    event.preventDefault();
  }

  #fileRow(index) {
    let at = index;
    while (at > 0 && this.#rows[at].site) at -= 1;
    return at;
  }
}
