// plotly.js: unpacking it, and the looks that all charts share.

const PLOT_OPTIONS = { displaylogo: false, responsive: true, modeBarButtonsToRemove: ["toImage"] };

/** Unpack plotly.js and return it. */
async function unpackPlotly() {
  const packed = Uint8Array.from(atob(byId("plotly").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = element("script");
  script.textContent = await new Response(stream).text();
  document.head.append(script);
  return window.Plotly;
}

/** Return what a layout needs to look like the page around it. */
function plainLayout() {
  const text = colour("--text");
  const axis = { gridcolor: colour("--line"), linecolor: colour("--line"), zeroline: false };
  return {
    font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: text },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    hoverlabel: {
      bgcolor: colour("--card"),
      bordercolor: colour("--line"),
      font: { color: text },
      align: "left",
    },
    xaxis: { ...axis },
    yaxis: { ...axis },
  };
}

/** Plotly reads some markup in texts: make a text stand for itself. */
function plotText(text) {
  return visible(text).replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);
}

/** Draw now and whenever the theme changes; `draw` gets plotly.js, which is returned. */
async function drawn(draw) {
  const plotly = await unpackPlotly();
  await draw(plotly);
  onTheme(() => draw(plotly));
  return plotly;
}
