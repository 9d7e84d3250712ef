"""`porter verify`: runs a training command on several backends and tells whether they agree."""

from __future__ import annotations
