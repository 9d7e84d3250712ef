// The most memory that each process held.

const BARS = 44; // pixels for the bars of one process

function drawMemory(plotly) {
  const processes = DATA.runs.flatMap((run) => run.processes.map((process) => ({ run, process })));
  const bars = [
    ["on the device", "peak_memory", "--run-0"],
    ["of the machine", "peak_host_memory", "--run-1"],
  ].map(([name, key, shade]) => ({
    type: "bar",
    orientation: "h",
    name,
    x: processes.map(({ process }) => process[key]),
    y: processes.map(({ run, process }) => plotText(processName(run, process))),
    marker: { color: colour(shade) },
    text: processes.map(({ process }) => (process[key] === null ? "" : bytes(process[key]))),
    textposition: "outside",
    cliponaxis: false,
    hovertemplate: "%{text}",
  }));
  const layout = curveLayout("process");
  layout.hovermode = "closest";
  layout.margin.r = 64;
  layout.xaxis = { ...layout.xaxis, title: { text: "bytes" }, tickformat: "~s", rangemode: "tozero" };
  layout.yaxis = { ...layout.yaxis, title: { text: "" }, autorange: "reversed", automargin: true };
  if (processes.length) byId("memory").style.height = `${Math.max(280, 100 + BARS * processes.length)}px`;
  return draw(plotly, "memory", bars, layout);
}
