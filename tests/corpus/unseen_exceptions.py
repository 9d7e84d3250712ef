from __future__ import annotations
def explained(kind, where, line): return False
