// Puts the page together.

function startSkipped() {
  byId("skipped-card").hidden = !DATA.skipped.length;
  for (const { path, reason, failed } of DATA.skipped) {
    const mark = failed ? badge("error") : null;
    byId("skipped").append(
      element("li", {}, element("code", {}, visible(path)), `: ${visible(reason)} `, mark),
    );
  }
}

function startKeys(list) {
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const typing = event.target.closest("input, select, textarea");
    if (event.key === "/" && !typing) {
      event.preventDefault();
      byId("search").select();
    } else if (event.key === "Escape" && byId("detail").contains(event.target)) {
      list.focus();
    } else if (event.target === byId("search") && ["ArrowDown", "Enter"].includes(event.key)) {
      event.preventDefault();
      list.focus();
    }
  });
}

function start() {
  startTheme();
  const list = new List(showDetail, (byKeyboard) => {
    const detail = byId("detail");
    if (byKeyboard) detail.focus();
    if (matchMedia("(max-width: 820px)").matches) detail.scrollIntoView({ block: "nearest" });
  });
  const filter = new Filter(() => {
    const rows = filter.rows();
    const files = rows.filter((row) => !row.site).length;
    const found = counted(rows.length - files, "finding");
    byId("shown").textContent = `${found} in ${counted(files, "file")}`;
    list.show(rows);
  });
  startOverview(filter);
  startPlaces(filter);
  startSkipped();
  startKeys(list);
  filter.onChange();
}

start();
