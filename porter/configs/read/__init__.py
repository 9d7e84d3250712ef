"""Reading files of configuration: from text to the subjects that it speaks of."""

from __future__ import annotations
