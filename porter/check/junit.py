"""A check's report as JUnit's XML, which build servers read."""

from __future__ import annotations

from xml.etree import ElementTree

from porter.check.report import CheckReport, told
from porter.check.text import summary
from porter.model import Level


def as_junit(report: CheckReport) -> str:
    """Return the report as JUnit's XML: a test case for each file, a failure for each finding."""
    suite = ElementTree.Element("testsuite", name="porter check", tests=str(len(report.verdicts)))
    suite.set("failures", str(len(report.findings)))
    suite.set("errors", str(report.errors))
    for verdict in report.verdicts:
        case = ElementTree.SubElement(suite, "testcase", name=_xml(verdict.path))
        case.set("classname", "porter")
        for finding in verdict.findings:
            kind = "error" if finding.level is Level.ERROR else "failure"
            text = _xml(f"{verdict.path}:{finding.line}:{finding.column}: {told(finding)}")
            entry = ElementTree.SubElement(case, kind, type=finding.code, message=text)
            entry.text = _xml(finding.source)
    if report.stale:
        case = ElementTree.SubElement(suite, "testcase", name=_xml(str(report.baseline)))
        entry = ElementTree.SubElement(case, "failure", type="stale", message="stale entries")
        entry.text = _xml("\n".join(summary(report)))
        suite.set("tests", str(len(report.verdicts) + 1))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)


def _xml(text: str) -> str:
    """Return text without what XML 1.0 can't hold."""
    return "".join(
        c if c.isprintable() or c in "\t\n" else "\N{REPLACEMENT CHARACTER}" for c in text
    )
