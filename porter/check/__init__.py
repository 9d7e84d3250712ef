"""`porter check`: what keeps CUDA from coming back into a repository.

Importing this package costs nothing: the hook's first look (`porter.check.dismiss`) stands here.
"""

from __future__ import annotations
