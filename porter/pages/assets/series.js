// The curves of all runs, processes and optimizers, and how numbers are written.

/** Return one entry for each curve of each process of each run. */
function allSeries() {
  return DATA.runs.flatMap((run, index) =>
    run.processes.flatMap((process) =>
      process.curves.map((curve) => ({ run, index, process, curve })),
    ),
  );
}

function distinct(values) {
  return [...new Set(values)];
}

/** Name a process, as far as the outcome holds several like it. */
function processName(run, process) {
  const ranks = distinct(run.processes.map((each) => each.rank)).length;
  const stages = distinct(run.processes.map((each) => each.stage)).length;
  return [
    run.name,
    ranks > 1 ? `rank ${process.rank}` : "",
    stages > 1 ? `training ${process.stage + 1}` : "",
  ].filter(Boolean).join(" · ");
}

/** Return the curve of the reference that a curve is compared with, or undefined. */
function counterpart(series, { run, process, curve }) {
  const comparison = DATA.comparisons.find((each) => each.run === run.name);
  return series.find(
    (other) =>
      other.run.name === comparison?.reference &&
      other.process.rank === process.rank &&
      other.process.stage === process.stage &&
      other.curve.optimizer === curve.optimizer,
  );
}

/** Return by how much losses differ, relative to the reference's; null where one is missing. */
function differences(losses, expected) {
  const length = Math.min(losses.length, expected.length);
  return Array.from({ length }, (_, step) => {
    const [loss, other] = [losses[step], expected[step]];
    if (loss === null || other === null) return null;
    return loss === other ? 0 : Math.abs(loss - other) / Math.max(Math.abs(other), Number.MIN_VALUE);
  });
}

function number(value) {
  if (value === null || value === undefined) return "–";
  return Number.isInteger(value) ? value.toLocaleString("en") : String(Number(value.toPrecision(5)));
}

function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  return seconds < 1 ? `${number(1000 * seconds)} ms` : `${number(seconds)} s`;
}

function bytes(count) {
  if (count === null || count === undefined) return "–";
  const units = ["B", "kB", "MB", "GB", "TB"];
  const unit = count && Math.min(4, Math.floor(Math.log10(count) / 3));
  return `${Number((count / 1000 ** unit).toPrecision(3))} ${units[unit]}`;
}

function median(values) {
  const known = values.filter((value) => value !== null).sort((a, b) => a - b);
  if (!known.length) return null;
  const middle = known.length >> 1;
  return known.length % 2 ? known[middle] : (known[middle - 1] + known[middle]) / 2;
}
