// The curves of all runs over each other.

const WIDE = 5; // pixels: the reference lies under the others, which hide it where they agree
const DASHES = ["solid", "dash", "dot", "dashdot"]; // by rank
const MANY = 500; // points beyond which each has no marker of its own
const MARKED = { type: "line", x0: 0, x1: 1, y0: 0, y1: 1, line: { width: 1, dash: "dash" } };

/** Return what is chosen to be drawn. */
function chosen() {
  const ranks = byId("ranks").value;
  const optimizer = byId("optimizer").value;
  return allSeries().filter(
    ({ process, curve }) =>
      (ranks === "all" || process.rank === Number(ranks)) && curve.optimizer === optimizer,
  );
}

function runColour(index) {
  return colour(`--run-${index % 6}`);
}

/** Return a line through a curve's values; steps are counted from 1. */
function trace({ run, index, process }, values, overrides = {}) {
  const reference = DATA.comparisons.some((comparison) => comparison.reference === run.name);
  return {
    type: "scatter",
    mode: values.length > 1 ? "lines" : "markers",
    name: plotText(processName(run, process)),
    x: values.map((_, step) => step + 1),
    y: values,
    line: { color: runColour(index), width: reference ? WIDE : 1.75, dash: DASHES[process.rank % DASHES.length] },
    opacity: reference ? 0.45 : 1,
    hovertemplate: "%{y:.6g}",
    ...overrides,
  };
}

/** Return the crosses that mark the steps a GradScaler skipped. */
function skippedSteps({ run, index, process, curve }) {
  return {
    type: "scatter",
    mode: "markers",
    name: `${plotText(processName(run, process))}: skipped`,
    x: curve.skipped.map((step) => step + 1),
    y: curve.skipped.map((step) => curve.loss[step]),
    marker: { symbol: "x", size: 9, color: runColour(index) },
    hovertemplate: "skipped by the GradScaler",
  };
}

function curveLayout(title, more = {}) {
  const plain = plainLayout();
  return {
    ...plain,
    margin: { l: 64, r: 12, t: 12, b: 44 },
    hovermode: "x unified",
    showlegend: true,
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
    xaxis: { ...plain.xaxis, title: { text: "step" }, tickformat: ",d" },
    yaxis: { ...plain.yaxis, title: { text: title }, exponentformat: "power", automargin: true, ...more },
  };
}

function drawLoss(plotly) {
  const series = chosen();
  const traces = series.map((each) => trace(each, each.curve.loss));
  const skipped = series.filter((each) => each.curve.skipped.length).map(skippedSteps);
  const layout = curveLayout("loss", { type: byId("log").checked ? "log" : "linear" });
  const shade = colour("--blocked");
  layout.shapes = firstSteps().map((x) => ({
    ...MARKED,
    x0: x,
    x1: x,
    yref: "paper",
    line: { ...MARKED.line, color: shade },
  }));
  layout.annotations = firstSteps().map((x) => ({
    text: "first difference",
    x,
    y: 1,
    yref: "paper",
    xanchor: "left",
    showarrow: false,
    font: { color: shade, size: 12 },
  }));
  return draw(plotly, "loss", [...traces, ...skipped], layout);
}

/** Return the steps, from 1, where runs first differ more than allowed. */
function firstSteps() {
  const steps = DATA.comparisons.map((comparison) => comparison.first_difference_step);
  return distinct(steps.filter((step) => step !== null)).map((step) => step + 1);
}

function drawDifference(plotly) {
  const all = allSeries();
  const compared = chosen()
    .filter((each) => counterpart(all, each))
    .map((each) => [each, differences(each.curve.loss, counterpart(all, each).curve.loss)])
    .filter(([, values]) => values.some((value) => value !== null));
  byId("difference-card").hidden = !compared.length;
  const traces = compared.map(([each, values]) => {
    const drawable = values.map((value) => value || null); // a logarithmic axis has no zero
    const mode = values.length > MANY ? "lines" : "lines+markers";
    return trace(each, drawable, { mode, marker: { size: 4 }, connectgaps: true });
  });
  const differ = traces.some(({ y }) => y.some((value) => value !== null));
  byId("equal").hidden = differ;
  byId("equal").textContent = "All losses that were compared are equal, bit for bit.";
  byId("difference").hidden = !differ;
  if (!differ) return null;
  const layout = curveLayout("relative difference", { type: "log" });
  const allowed = distinct(DATA.comparisons.map(({ rtol }) => rtol).filter(Boolean));
  const shade = colour("--blocked");
  layout.shapes = allowed.map((y) => ({
    ...MARKED,
    y0: y,
    y1: y,
    xref: "paper",
    line: { ...MARKED.line, color: shade },
  }));
  layout.annotations = allowed.map((y) => ({
    text: "allowed",
    x: 1,
    xref: "paper",
    y: Math.log10(y), // on a logarithmic axis annotations, unlike shapes, are placed by the power
    yanchor: "bottom",
    xanchor: "right",
    showarrow: false,
    font: { color: shade, size: 12 },
  }));
  return draw(plotly, "difference", traces, layout);
}

function drawValues(plotly, id, title, more) {
  const traces = chosen().map((each) => trace(each, each.curve[id]));
  return draw(plotly, id, traces, curveLayout(title, more));
}

/** Draw a chart, or say that there is nothing to draw. */
function draw(plotly, id, traces, layout) {
  const box = byId(id);
  const known = traces.some(({ x, y }) => x.some((value, at) => value !== null && y[at] !== null));
  box.classList.toggle("empty", !known);
  if (!known) {
    plotly.purge(id);
    box.replaceChildren(element("p", { class: "muted" }, "Nothing was seen."));
    return null;
  }
  return plotly.react(id, traces, layout, PLOT_OPTIONS);
}

/** Draw all charts anew: after a choice, or in another theme. */
async function drawCurves(plotly) {
  await drawLoss(plotly);
  await drawDifference(plotly);
  await drawValues(plotly, "seconds", "seconds", { rangemode: "tozero" });
  await drawValues(plotly, "gradient_norm", "2-norm of the gradients");
  await drawValues(plotly, "learning_rate", "learning rate", { rangemode: "tozero" });
  await drawMemory(plotly);
}

/** Offer what there is to choose between. */
function startChoices() {
  const optimizers = distinct(allSeries().map(({ curve }) => curve.optimizer));
  const ranks = distinct(allSeries().map(({ process }) => process.rank)).sort((a, b) => a - b);
  for (const name of optimizers) byId("optimizer").append(element("option", { value: name }, visible(name)));
  if (ranks.length > 1) byId("ranks").append(element("option", { value: "all" }, "all"));
  for (const rank of ranks) byId("ranks").append(element("option", { value: rank }, String(rank)));
  byId("ranks").value = String(ranks[0]); // a page for many ranks begins with one
  byId("optimizer-label").hidden = optimizers.length < 2;
  byId("ranks-label").hidden = ranks.length < 2;
}
