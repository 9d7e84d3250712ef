"""The commands of porter's command line, a module for each subject."""

from __future__ import annotations
