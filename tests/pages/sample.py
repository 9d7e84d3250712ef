"""Reports made for the tests."""

from __future__ import annotations

from pathlib import Path

from porter.discover import Skipped
from porter.model import Finding, Level
from porter.report import FileReport, Report


def finding(
    line: int,
    source: str,
    code: str = "PTR101",
    level: Level = Level.REWRITTEN,
    message: str = "moved to the device at hand",
    replacement: str | None = None,
    column: int = 1,
) -> Finding:
    """A finding that spans the rest of its line."""
    end = len(source) + 1
    return Finding(
        code, level, message, line, column, line, end, source, replacement, first_line=line
    )


def diff(name: str, before: str, after: str, line: int = 1) -> bytes:
    """The diff of a line with one line of context before it."""
    text = (
        f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n"
        f"@@ -{line},2 +{line},2 @@\n import torch\n-{before}\n+{after}\n"
    )
    return text.encode("utf-8", "surrogateescape")


def small() -> Report:
    """Four files: one done, one with all states, one broken, one with a note alone."""
    ported = "x = x.cuda()"
    return Report(
        9,
        [
            FileReport(
                "src/lib/model.py",
                (finding(2, ported), finding(3, "y.cuda()")),
                changed=True,
                diff=diff("src/lib/model.py", ported, "x = x.to(accel.device_type)"),
            ),
            FileReport(
                "src/train.py",
                (
                    finding(2, ported, replacement="x.to(accel.device_type)"),
                    finding(
                        4, "import flash_attn", "PTR701", Level.MANUAL, "only CUDA has `flash_attn`"
                    ),
                    finding(7, "cap = torch.cuda.get_device_capability()", "PTR202", Level.MANUAL),
                    finding(9, "torch.compile(f)", "PTR609", Level.NOTE, "nothing to do"),
                ),
                changed=True,
                diff=diff("src/train.py", ported, "x = x.to(accel.device_type)"),
            ),
            FileReport("tools/old.py", (finding(1, "", "PTR000", Level.ERROR, "Python 2"),)),
            FileReport("tools/seen.py", (finding(1, "a", "PTR605", Level.NOTE, "left"),)),
        ],
        [Skipped("link.py", "a link to nothing")],
    )


HOSTILE_NAMES = (
    "</script><script>document.title='broken'</script>.py",
    "a<b>&amp;\"'.py",
    "line\nend.py",
    "bytes\udcff.py",
    "right-to-left \u202eyp.exe.py",
    "tick`|pipe.py",
)
HOSTILE_SOURCES = (
    "x = '</script><script>document.title=\"broken\"</script>'.cuda()",
    "<img src=x onerror=\"document.title='broken'\">",
    "<!-- <script> -->",
    "$title ${data} %{label} {{ jinja }}",
    "a\u2028b\x00c\x1b[31m",
    "lone \ud800 half",
)


def hostile() -> Report:
    """Every name with every source line, in messages, replacements and diffs as well."""
    files = []
    for name in HOSTILE_NAMES:
        findings = tuple(
            finding(number, text, level=level, message=text, replacement=text)
            for number, text in enumerate(HOSTILE_SOURCES, 1)
            for level in (Level.REWRITTEN, Level.MANUAL)
        )
        shown = HOSTILE_SOURCES[0]
        files.append(FileReport(name, findings, changed=True, diff=diff("n", shown, shown)))
    return Report(6, files, [Skipped(name, name) for name in HOSTILE_NAMES])


def large(files: int = 500, each: int = 10) -> Report:
    """Many findings: 5,000 by default, in folders of ten files."""
    levels = (Level.REWRITTEN, Level.REWRITTEN, Level.MANUAL, Level.NOTE)
    codes = ("PTR101", "PTR201", "PTR302", "PTR701")
    reports = []
    for number in range(files):
        name = f"package{number % 7}/part{number // 10}/module_{number}.py"
        findings = tuple(
            finding(
                line, f"value_{number}_{line} = value.cuda()", codes[line % 4], levels[line % 4]
            )
            for line in range(1, each + 1)
        )
        reports.append(FileReport(name, findings, True, diff(name, "a.cuda()", "a.to(d)")))
    return Report(files, sorted(reports, key=lambda file: file.path))


def on_disk(folder: Path) -> list[Path]:
    """Write a small repository into the folder."""
    files = {
        "train.py": "import torch\n\n\nx = torch.zeros(2).cuda()\nprint(x)\n",
        "lib/ops.py": "import flash_attn\nimport torch\n\nn = torch.cuda.device_count()\n",
        "clean.py": "print(1)\n",
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return [folder / name for name in files]
