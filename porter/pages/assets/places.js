// Where the sites are: a treemap of folders and files, and the folders as a table.

function lastName(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}

function folderOf(path) {
  return path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
}

/** Return the deepest folder that all sites are below. */
function commonFolder() {
  const whole = sites(DATA.counts);
  return DATA.folders.findLast((folder) => sites(folder.counts) === whole);
}

/** Return the treemap's nodes: every folder and file with sites. */
function treeNodes() {
  const root = commonFolder();
  const places = [
    ...DATA.folders.map((folder) => ({ ...folder, file: false })),
    ...DATA.files.map(({ path, counts }) => ({ path, counts, file: true })),
  ].filter((place) => sites(place.counts) && (place.file || place.path.length >= root.path.length));
  const id = (path) => path || "."; // an empty one would be no id
  return {
    ids: places.map((place) => id(place.path)),
    labels: places.map(({ path }) => plotText(path === root.path ? path || DATA.name : lastName(path))),
    parents: places.map(({ path }) => (path === root.path ? "" : id(folderOf(path)))),
    values: places.map((place) => sites(place.counts)),
    text: places.map((place) => plotText(inWords(place.counts))),
    customdata: places.map((place) => plotText(place.path || DATA.name)),
    left: places.map(({ counts }) => (100 * (sites(counts) - counts.ported)) / sites(counts)),
  };
}

function drawTreemap(plotly, nodes) {
  const { left, ...rest } = nodes;
  const trace = {
    type: "treemap",
    ...rest,
    branchvalues: "total",
    maxdepth: 4,
    hovertemplate: "<b>%{customdata}</b><br>%{text}<extra></extra>",
    texttemplate: "%{label}<br>%{value}",
    tiling: { pad: 2 },
    pathbar: { thickness: 24, textfont: { color: colour("--text") } },
    marker: {
      colors: left,
      cmin: 0,
      cmax: 100,
      colorscale: [
        [0, colour("--tile-done")],
        [0.5, colour("--tile-half")],
        [1, colour("--tile-left")],
      ],
      cornerradius: 4,
      line: { width: 1, color: colour("--card") },
      colorbar: {
        title: { text: "left, % of sites", side: "right" },
        ticksuffix: " %",
        thickness: 12,
        outlinewidth: 0,
      },
      pad: { t: 24, l: 3, r: 3, b: 3 },
    },
    textfont: { color: colour("--text") },
    root: { color: colour("--raised") },
  };
  const layout = { ...plainLayout(), margin: { l: 0, r: 0, t: 28, b: 4 } };
  return plotly.react("treemap", [trace], layout, { ...PLOT_OPTIONS, displayModeBar: false });
}

function startPlaces(filter) {
  const whole = sites(DATA.counts);
  const chart = byId("treemap");
  if (!whole) {
    chart.replaceWith(element("p", { class: "muted" }, "There are no sites."));
  } else {
    chart.setAttribute(
      "aria-label",
      `Treemap of ${counted(whole, "site")} by folder and file; the table below tells the same`,
    );
    const nodes = treeNodes();
    drawn((plotly) => drawTreemap(plotly, nodes)).then(() => {
      chart.on("plotly_treemapclick", ({ points: [point] }) => {
        filter.set({ folder: point.id === "." ? "" : point.id });
      });
    });
  }
  for (const folder of DATA.folders) {
    if (!sites(folder.counts)) continue;
    const depth = folder.path ? folder.path.split("/").length : 0;
    const name = visible(lastName(folder.path) || DATA.name);
    const only = () => filter.set({ folder: folder.path });
    byId("folders").append(barRow(name, folder.counts, whole, only, depth));
  }
}
