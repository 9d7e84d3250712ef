"""Nothing that hard-codes CUDA in a real project goes without a word."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from sites import count
from test_corpus import QUICK, SLOW
from unseen import count_folder
from unseen_exceptions import EXPLANATIONS, explained


@pytest.mark.parametrize(
    "requirement", [*QUICK, *(pytest.param(r, marks=pytest.mark.slow) for r in SLOW)]
)
def test_every_site_is_spoken_of(requirement: str, project) -> None:  # type: ignore[no-untyped-def]
    counts, kinds, unseen = count_folder(project(requirement))
    assert not unseen, "\n".join(unseen)
    assert counts["rewritten"] + counts["manual"] + counts["note"] > 0
    if requirement in QUICK:
        assert counts["rewritten"] > 50
        assert kinds["torch.cuda name", "rewritten"] > 30


@pytest.mark.parametrize("explanation", EXPLANATIONS, ids=lambda e: e.kind)
def test_an_explanation_covers_its_example_and_says_why(explanation) -> None:  # type: ignore[no-untyped-def]
    assert explained(explanation.kind, explanation.example)
    assert len(explanation.reason) > 20


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("x.cuda()", {".cuda()"}),
        ("import torch as th\nth.cuda.synchronize()", {"torch.cuda name"}),
        ("from torch import cuda as c\nc.empty_cache()", {"torch.cuda name"}),
        ("from torch.cuda import Event", {"import from torch.cuda"}),
        ('d = f"cuda:{i}"', {"device string"}),
        ('x.to("cuda") if x.is_cuda else x', {"device string", "is_cuda"}),
        ('dist.init_process_group("nccl")', {"nccl"}),
        ("DDP(m, device_ids=[r])", {"device_ids"}),
        ("import torch\nd = torch.load(p)", {"load without map_location"}),
        ('os.environ["NCCL_DEBUG"]', {"environment"}),
        ("try:\n    import apex\nexcept ImportError: pass", {"third-party import"}),
        ("m.to(0); m.to(local_rank); f(device=rank)", {"integer device"}),
        ('f(load_in_8bit=True, optim="paged_adamw_8bit")', {"Hugging Face argument"}),
        ('"out of memory" in str(e)', {"error text"}),
        ('print("cuda:0 is out of memory")\nraise ValueError("cuda")', set()),
        ('def use_cuda():\n    "cuda"\n    return 1  # cuda', set()),
    ],
)
def test_the_count_knows_a_site_from_a_mention(text: str, kinds: set[str]) -> None:
    found = count(text)
    assert {s.kind for s in found.sites} == kinds
    words = len(re.findall("cuda|nccl", text, re.IGNORECASE))
    assert found.mentions <= words
    assert kinds or found.mentions, "what is no site and says cuda is a mention"
