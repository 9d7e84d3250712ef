"""One file of configuration: read, ask the rules, heed pragmas, splice, guard."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence

from porter import kinds
from porter.configs import document
from porter.configs.guard import Broken, check
from porter.configs.place import Places
from porter.configs.pragmas import ConfigPragmas
from porter.configs.prefilter import may_have_sites
from porter.configs.read.leaf import Unreadable
from porter.configs.sites import Site, sites
from porter.engine.pragmas import MARK
from porter.engine.source import Source
from porter.engine.splice import Change, Spliced
from porter.model import UNREADABLE, Finding, Level, Only, Options, Rewrite, Suppressed

_ADVICE = "mend the file, or leave it out by `exclude`"
_OTHER_DEVICES = frozenset("amd ascend gaudi hpu mlu musa npu rocm tpu xpu".split())


def rewrite_config(
    data: bytes, *, name: str, options: Options, only: Only | None = None
) -> Rewrite:
    """Find what a file of configuration says of CUDA; never raises for what it holds.

    A file that is named after another device is taken at its word, and has no findings.

    Args:
        data: the file's bytes.
        name: the file's path in its repository, with forward slashes.
        options: which rules; `options.configs` lets what is right on every device be rewritten.
        only: tells which findings are to be rewritten or reported; None means all.

    Returns:
        The new bytes and the findings. What could be rewritten, but was not to be, is a Manual
        finding with its replacement. Input that can't be read comes back as it was, with one
        finding of the level ERROR.
    """
    kind = kinds.of(name) or kinds.of_script(data)
    has_sites = may_have_sites(data, kind)
    if (not has_sites and MARK not in data) or _is_for_another_device(name):
        return Rewrite(data, ())
    bom = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    source = Source(data[len(bom) :], "utf-8", bom)
    try:
        text = source.data.decode("utf-8")
    except UnicodeDecodeError as error:
        return _left(data, f"not UTF-8 at byte {error.start}: {_ADVICE}", (1, 1))
    places = Places(source, text)
    try:
        leaves = document.leaves(text, kind)
        subjects = document.subjects(text, kind) if has_sites else []
    except Unreadable as error:
        return _left(data, f"{error}: {_ADVICE}", places.position(error.offset))
    pragmas = ConfigPragmas(source, kind, leaves)
    if pragmas.skip_file:
        return Rewrite(data, ())
    found: list[Site] = []
    suppressed: list[Suppressed] = []
    for site in sites(places, subjects, options):
        reason = pragmas.reason(site.finding)
        if reason is not None:
            suppressed.append(Suppressed(site.finding, reason))
        elif only is None or only(site.finding):
            found.append(site)
    findings = [*(site.finding for site in found), *_idle(pragmas, options)]
    findings.sort(key=lambda f: (f.line, f.column, f.code))
    changes = list(_changes(places, found))
    output = data
    if changes:
        spliced = Spliced(source.data, changes)
        try:
            added = [site.added for site in found if site.added is not None]
            check(text, spliced.data.decode("utf-8"), kind, added)
        except Broken as error:
            return _left(data, _own_fault(error, changes), (1, 1))
        output = source.encode(spliced.data)
    return Rewrite(output, tuple(findings), tuple(suppressed), tuple(changes))


def _is_for_another_device(name: str) -> bool:
    """Whether a file's name, or a folder's, says that it isn't meant for CUDA.

    What it asks for is there: `examples/npu/lora.yaml` knows whether its libraries can do it.
    """
    return not _OTHER_DEVICES.isdisjoint(re.split(r"[^a-z0-9]+", name.lower()))


def _idle(pragmas: ConfigPragmas, options: Options) -> Iterator[Finding]:
    """Yield what is to be said of the pragmas themselves."""
    if pragmas:
        from porter.catalogue import catalogue  # which imports libcst

        codes = [page.code for page in catalogue()]
        yield from (f for f in pragmas.idle(options, codes) if options.wants(f.code))


def _changes(places: Places, found: Sequence[Site]) -> Iterator[Change]:
    """Yield what rewrites the sites; each replaces the whole of its subject."""
    for site in found:
        if site.added is not None:
            start, end = site.subject.start, site.subject.end
            text = places.text[start:end] + site.added.text
            code = site.finding.code
            yield Change(places.byte(start), places.byte(end), text.encode("utf-8"), "value", code)


def _left(data: bytes, message: str, place: tuple[int, int]) -> Rewrite:
    """Return the outcome for a file that is left as it was."""
    line, column = place
    finding = Finding(UNREADABLE, Level.ERROR, message, line, column, line, column, first_line=line)
    return Rewrite(data, (finding,))


def _own_fault(error: Broken, changes: Sequence[Change]) -> str:
    codes = ", ".join(sorted({change.code for change in changes}))
    return (
        f"left as it was, since its rewrite failed a check ({error}); the fault is porter's, in "
        f"{codes}: please report it, and run without --configs until it is mended"
    )
