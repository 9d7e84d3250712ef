// The verdict: what was compared, what differed first, and the findings.

const VERDICTS = {
  agree: ["ported", "✓", "It trains there as it does on the reference."],
  mismatch: ["blocked", "✕", "It does not pass: the findings say why."],
  "could-not-run": ["person", "!", "It could not be verified: the findings say why."],
};
const MODES = {
  bits: "bit for bit",
  tolerance: "within a tolerance",
  trend: "by their trend, for random numbers were drawn on the devices",
  none: "not at all",
};
/** The levels of findings: style and sign. */
const LEVELS = { error: ["blocked", "✕"], warning: ["person", "!"], note: ["note", "i"] };

function comparisonText(comparison) {
  const { run, reference, mode, rtol, dtype, steps, max_difference: most, speed } = comparison;
  if (mode === "none") return `${run} and ${reference}: nothing to compare`;
  const allowed = rtol === null ? "" : ` of ${number(rtol)}${dtype ? ` (${dtype})` : ""}`;
  const losses = steps === 1 ? "1 loss" : `${number(steps)} losses`;
  const parts = [`${run} and ${reference}: ${losses} compared ${MODES[mode]}${allowed}`];
  if (most === 0) parts.push("all equal");
  else if (most !== null) {
    parts.push(`largest relative difference ${number(most)}, at step ${comparison.max_difference_step + 1}`);
  }
  const emulated = DATA.runs.some((each) => each.emulated && [run, reference].includes(each.name));
  if (speed !== null && !emulated) parts.push(`${number(speed)} times as fast`);
  return parts.join("; ");
}

/** Say where the first difference is that is larger than allowed, and between which values. */
function firstDifference() {
  const found = DATA.comparisons.filter((each) => each.first_difference_step !== null);
  found.sort((a, b) => a.first_difference_step - b.first_difference_step);
  if (!found.length) return firstError();
  const [{ run, first_difference_step: step, rtol }] = found;
  const series = allSeries();
  for (const each of series.filter((one) => one.run.name === run)) {
    const other = counterpart(series, each);
    if (!other) continue;
    const [off] = differences([each.curve.loss[step] ?? null], [other.curve.loss[step] ?? null]);
    if (off !== null && off > (rtol ?? 0)) {
      const where = `step ${step + 1} of ${each.curve.optimizer} in ${processName(each.run, each.process)}`;
      const values = `${number(each.curve.loss[step])} instead of ${number(other.curve.loss[step])}`;
      return `${where}: the loss is ${values}, relatively ${number(off)} off.`;
    }
  }
  return `step ${step + 1} in ${run}.`;
}

/** Where no losses differ: the error that a step had first, such as a loss that isn't finite. */
function firstError() {
  const errors = DATA.findings.filter(({ level, step }) => level === "error" && step !== null);
  errors.sort((a, b) => a.step - b.step);
  return errors.length ? `${errors[0].message} (${placeOf(errors[0])})` : null;
}

function placeOf(finding) {
  return [
    finding.run,
    finding.rank === null ? null : `rank ${finding.rank}`,
    finding.optimizer,
    finding.step === null ? null : `step ${finding.step + 1}`,
    finding.path === null ? null : `${finding.path}:${finding.line}`,
  ].filter((part) => part !== null).join(" · ");
}

function startVerdict() {
  byId("title").textContent = `Verification of ${visible(DATA.name)}`;
  byId("command").textContent = visible(DATA.command.map(quoted).join(" "));
  const started = new Date(DATA.started).toISOString().replace("T", " ").slice(0, 16);
  const beside = DATA.reference_folder ? ` · reference: ${visible(DATA.reference_folder)}` : "";
  byId("subtitle").textContent = `${started} UTC · porter ${DATA.porter_version}${beside}`;
  const [style, sign, words] = VERDICTS[DATA.verdict];
  byId("verdict-card").classList.add(`edge-${style}`);
  byId("verdict").append(element("span", { class: style }, `${sign} `), words);
  for (const comparison of DATA.comparisons) {
    byId("comparisons").append(element("li", {}, visible(comparisonText(comparison))));
  }
  const first = firstDifference();
  if (first) {
    byId("first").hidden = false;
    byId("first").append(element("strong", {}, "What differed first: "), visible(first));
  }
  const emulated = DATA.runs.filter((run) => run.emulated).map((run) => run.name);
  if (emulated.length) {
    byId("emulated").hidden = false;
    byId("emulated").textContent = `${visible(emulated.join(", "))}: an emulated device, which lives on the CPU. What it computes counts; its speed and memory say nothing of a real one.`;
  }
  startFindings();
}

function startFindings() {
  byId("findings-card").hidden = !DATA.findings.length;
  for (const finding of DATA.findings) {
    const [style, sign] = LEVELS[finding.level];
    byId("findings").append(
      element(
        "li",
        {},
        element("span", { class: `badge ${style}` }, `${sign} ${finding.level}`),
        element("div", {}, element("p", {}, ...prose(finding.message)), element("p", { class: "muted" }, visible(placeOf(finding)))),
      ),
    );
  }
}

function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
