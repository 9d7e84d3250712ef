"""One notebook: its texts through the engine, and what comes of it back into the JSON text."""

from __future__ import annotations

from dataclasses import replace

from porter import kinds
from porter.configs import rewrite_config
from porter.engine import rewrite_source
from porter.engine.pragmas import MARK
from porter.engine.splice import Change
from porter.model import UNREADABLE, Finding, Level, Only, Options, Rewrite, Suppressed
from porter.notebooks.document import Document, NotebookError
from porter.notebooks.parts import Part, assemble
from porter.notebooks.places import Places
from porter.notebooks.prefilter import may_have_sites
from porter.notebooks.splice import Edit, Speller, SpliceError, check, new_sources


def rewrite_notebook(
    data: bytes, *, options: Options | None = None, only: Only | None = None
) -> Rewrite:
    """Port the bytes of one Jupyter notebook.

    Args:
        data: the file's bytes.
        options: rules to run, and how the shim is imported.
        only: tells which findings are to be rewritten or reported; None means all.

    Returns:
        The new bytes and the findings, each with its cell. A notebook that can't be processed
        comes back as it was, with a finding of the level ERROR. A cell that is no Python is left
        and reported, the others are ported.
    """
    if not may_have_sites(data) and MARK not in data:
        return Rewrite(data, ())
    try:
        document = Document(data)
    except NotebookError as error:
        return Rewrite(data, (_error(str(error)),))
    if not document.is_python:
        return Rewrite(data, ())
    try:
        return _Port(document, options or Options(), only).rewrite(data)
    except SpliceError as error:
        message = (
            f"left as it was, since its port failed a check ({error}); the fault is porter's: "
            "please report it, and leave this file out until it is mended"
        )
        return Rewrite(data, (_error(message),))


class _Port:
    """The port of one notebook."""

    def __init__(self, document: Document, options: Options, only: Only | None) -> None:
        self._document = document
        self._options = options
        self._only = only
        self._places = Places(document)
        self._findings: list[Finding] = []
        self._suppressed: list[Suppressed] = []
        self._edits: list[tuple[Change, Edit]] = []

    def rewrite(self, data: bytes) -> Rewrite:
        """Port the parts, and put what comes of it into the notebook.

        Raises:
            SpliceError: the new notebook is not what it was meant to be.
        """
        found = assemble(self._document)
        self._findings += map(self._places.unread, found.unread)
        error = self._take(found.module)
        if error is not None:
            return Rewrite(data, (error,))
        for part in found.others:
            error = self._take(part)
            if error is not None:  # the notebook itself can do without
                self._findings.append(replace(error, level=Level.MANUAL))
        output, changes = self._spliced(data)
        return Rewrite(
            output,
            tuple(sorted(self._findings, key=lambda f: (f.line, f.column, f.code))),
            tuple(self._suppressed),
            changes,
        )

    def _take(self, part: Part) -> Finding | None:
        """Rewrite a part, and note what comes of it; return the finding of one that failed."""
        result = self._read(part)
        findings = [self._places.finding(part, finding) for finding in result.findings]
        if result.failed:
            return next(f for f in findings if f.level is Level.ERROR)
        self._edits += zip(result.changes, part.edits(result.changes), strict=True)
        self._findings += findings
        self._suppressed += (
            replace(s, finding=self._places.finding(part, s.finding)) for s in result.suppressed
        )
        return None

    def _read(self, part: Part) -> Rewrite:
        data = part.text.encode("utf-8")
        only = self._only
        asked: Only | None = None
        if only is not None:

            def asked(finding: Finding) -> bool:
                return only(self._places.finding(part, finding))

        if part.kind == kinds.PYTHON:
            return rewrite_source(data, options=self._options, only=asked)
        return rewrite_config(data, name=part.name, options=self._options, only=asked)

    def _spliced(self, data: bytes) -> tuple[bytes, tuple[Change, ...]]:
        """Return the notebook's new bytes, and the changes that lead to them."""
        if not self._edits:
            return data, ()
        self._edits.sort(key=lambda pair: (pair[1].cell.number, pair[1].start, pair[1].end))
        text = self._document.text
        speller = Speller(self._document)
        pieces: list[str] = []
        changes = []
        at = size = 0
        for change, edit in self._edits:
            spelt = speller.spell(edit)
            before = text[at : spelt.start]
            start = size + len(before.encode("utf-8"))
            size = start + len(text[spelt.start : spelt.end].encode("utf-8"))
            new = spelt.text.encode("utf-8")
            changes.append(Change(start, size, new, change.kind, change.code))
            pieces += (before, spelt.text)
            at = spelt.end
        after = "".join([*pieces, text[at:]])
        sources = new_sources([edit for _, edit in self._edits])
        check(text, after, sources)
        return self._document.bom + after.encode("utf-8"), tuple(changes)


def _error(message: str) -> Finding:
    return Finding(UNREADABLE, Level.ERROR, message, 1, 1, 1, 1, first_line=1)
