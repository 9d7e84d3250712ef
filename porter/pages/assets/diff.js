// Unified diffs, as git writes them, and the parts of one that concern some lines.

/** Return the hunks of a diff of one file: `old` is the number of the first old line. */
function hunks(diff) {
  const found = [];
  for (const line of diff.split("\n")) {
    const head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,\d+)? @@/.exec(line);
    if (head) {
      const [, old, length, now] = head;
      found.push({ head: line, old: Number(old), length: Number(length ?? 1), now: Number(now), lines: [] });
    } else if (found.length) {
      found.at(-1).lines.push(line);
    }
  }
  const last = found.at(-1);
  if (last?.lines.at(-1) === "") last.lines.pop(); // behind the diff's own last line end
  return found;
}

/** Return a hunk as it is shown: old and new line numbers, the sign and the text. */
function hunkView(hunk) {
  const lines = [element("span", { class: "line head" }, visible(hunk.head))];
  let { old, now } = hunk;
  for (const line of hunk.lines) {
    const [kind, left, right] = {
      "+": ["added", "", now],
      "-": ["removed", old, ""],
      " ": ["same", old, now],
    }[line[0]] ?? ["head", "", ""];
    if (kind === "same" || kind === "removed") old += 1;
    if (kind === "same" || kind === "added") now += 1;
    const numbers = `${String(left).padStart(5)} ${String(right).padStart(5)} `;
    lines.push(
      element(
        "span",
        { class: `line ${kind}` },
        element("span", { class: "numbers", "aria-hidden": "true" }, numbers),
        visible(line),
      ),
    );
  }
  return lines;
}

/** Return the diff of a file, or, with lines, only its hunks that touch these. */
function diffView(file, first = 1, last = Infinity) {
  const touching = hunks(file.diff).filter(
    (hunk) => hunk.old <= last && hunk.old + Math.max(1, hunk.length) > first,
  );
  if (!touching.length) return null;
  return codeBlock(`Diff of ${visible(file.path)}`, touching.flatMap(hunkView));
}

/** Return lines of code in a box that scrolls by itself. */
function codeBlock(label, lines) {
  return element("pre", { class: "code", tabindex: "0", role: "region", "aria-label": label }, ...lines);
}
