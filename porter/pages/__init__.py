"""Reports for people: self-contained HTML pages, and the same as Markdown and JSON."""

from __future__ import annotations
