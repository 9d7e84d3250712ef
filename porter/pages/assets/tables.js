// The tables: runs, processes, parameters, CUDA that was reached, the environment, the output.

const STATUSES = {
  trained: ["ported", "trained"],
  stopped: ["ported", "stopped after its steps"],
  unavailable: ["person", "not available"],
  "not-found": ["blocked", "command not found"],
  crashed: ["blocked", "crashed"],
  "out-of-memory": ["blocked", "out of memory"],
  "no-steps": ["blocked", "no step seen"],
  timeout: ["blocked", "timed out"],
  interrupted: ["person", "interrupted"],
};

/** Fill a table: `heads` are texts, `rows` lists of texts or elements. */
function fillTable(id, heads, rows) {
  const cell = (content) => element("td", {}, typeof content === "string" ? visible(content) : content);
  byId(id).append(
    element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cell)))),
  );
  if (!rows.length) byId(id).replaceWith(element("p", { class: "muted" }, "Nothing was seen."));
}

function runName(run) {
  const name = element("span", {}, visible(run.name));
  if (run.emulated) name.append(" ", element("span", { class: "badge note" }, "emulated"));
  return name;
}

function status(run) {
  const [style, words] = STATUSES[run.status];
  const shown = element("div", {}, element("span", { class: `badge ${style}` }, words));
  if (run.reason) shown.append(element("p", { class: "reason" }, visible(run.reason)));
  if (run.transfer_to_npu) {
    shown.append(element("p", { class: "reason blocked" }, "transfer_to_npu was active: not the port was tested, but that"));
  }
  return shown;
}

function startRuns() {
  const rows = DATA.runs.map((run) => {
    const curves = run.processes.flatMap((process) => process.curves);
    const steps = Math.max(0, ...curves.map(({ loss }) => loss.length));
    const losses = run.processes[0]?.curves[0]?.loss ?? [];
    return [
      runName(run),
      status(run),
      number(steps),
      number(losses.at(0)),
      number(losses.at(-1)),
      duration(median(curves.flatMap(({ seconds }) => seconds))),
      duration(run.seconds),
      number(run.restarts),
      run.exit_code === null ? "–" : String(run.exit_code),
    ];
  });
  fillTable("runs", ["Run", "Status", "Steps", "First loss", "Last loss", "Median step", "Whole run", "Restarts", "Exit code"], rows);
}

function startProcesses() {
  const rows = DATA.runs.flatMap((run) =>
    run.processes.map((process) => [
      processName(run, process),
      `${process.rank} of ${process.world_size}`,
      process.device ?? "–",
      process.device_name ?? "–",
      process.process_group ?? "none",
      process.autocast.join(", ") || "no",
      process.loss_scaled ? "yes" : "no",
      bytes(process.peak_memory),
      bytes(process.peak_host_memory),
      process.faults.join("; ") || "none",
    ]),
  );
  fillTable("processes", ["Process", "Rank", "Device", "Its name", "Process group", "Autocast", "Loss scaled", "Peak on device", "Peak of machine", "Faults in watching"], rows);
}

function shares(elements) {
  const whole = Object.values(elements).reduce((sum, count) => sum + count, 0);
  const parts = Object.entries(elements).map(([device, count]) => `${device} ${number((100 * count) / whole)} %`);
  return parts.join(", ") || "none";
}

function startParameters() {
  const rows = DATA.runs.flatMap((run) =>
    run.processes.flatMap((process) =>
      process.placements.map((placement) => [
        processName(run, process),
        placement.optimizer,
        `${number(placement.parameters)} (${number(placement.elements)} numbers)`,
        number(placement.with_gradient),
        number(placement.changed),
        number(placement.untrained),
        shares(placement.elements_by_device),
        shares(placement.state_by_device),
        placement.dtypes.join(", "),
      ]),
    ),
  );
  fillTable("parameters", ["Process", "Optimizer", "Tensors", "With gradient", "Changed", "In no optimizer", "Where they are", "Where its state is", "Dtypes"], rows);
}

function startTrap() {
  const rows = DATA.runs.flatMap((run) =>
    run.trapped.map(({ kind, path, line, name, ranks }) => [
      runName(run),
      element("code", {}, visible(`${path}:${line}`)),
      element("code", {}, visible(name)),
      kind === "asked" ? "asked whether CUDA is there" : element("span", { class: "blocked" }, "did something with CUDA"),
      ranks.join(", "),
    ]),
  );
  byId("trap-card").hidden = !rows.length;
  fillTable("trap", ["Run", "Place", "What", "Kind", "Ranks"], rows);
}

function startEnvironment() {
  const runs = DATA.runs.filter((run) => Object.keys(run.environment).length);
  const names = distinct(runs.flatMap((run) => Object.keys(run.environment)));
  const rows = names.map((name) => {
    const values = runs.map((run) => run.environment[name] ?? "–");
    const differ = distinct(values).length > 1;
    return [name, ...values.map((value) => (differ ? element("mark", {}, visible(value)) : value))];
  });
  fillTable("environment", ["What", ...runs.map((run) => visible(run.name))], rows);
}

function startTails() {
  const runs = DATA.runs.filter((run) => run.tail.length);
  byId("tails-card").hidden = !runs.length;
  for (const run of runs) {
    const lines = run.tail.map((line) => element("span", { class: "line" }, visible(line)));
    byId("tails").append(
      element(
        "details",
        { open: !["trained", "stopped"].includes(run.status) },
        element("summary", {}, runName(run)),
        element("pre", { class: "code", tabindex: "0", role: "region", "aria-label": `Output of ${run.name}` }, ...lines),
      ),
    );
  }
}
