"""Make the pairs of sentences in data/paraphrases.tsv, the same ones each time.

In a paraphrase the second sentence says the first in the passive voice, with another verb of the
same meaning. Otherwise it denies it, or (one time in five) is about something else: so who only
spots denials is right nine times in ten, and who learns nothing half of the time.

Usage: ``make_paraphrases.py > data/paraphrases.tsv``
"""

from __future__ import annotations

import random
from collections.abc import Iterator

TRAIN, VALIDATION = 480, 120
HEADER = "split\tfirst\tsecond\tparaphrase"

NAMES = "Amara Bruno Chen Dilek Edna Farid Greta Hugo Ines Jonas Kiran Lena".split()
VERBS = {"bought": "purchased", "repaired": "mended", "sold": "traded", "drew": "sketched"}
THINGS = "bicycle boat camera clock guitar lamp piano radio table wagon".split()
TIMES = ["on Monday", "last week", "in spring", "before noon", "after the storm", "that year"]
DENIALS = ["was never", "was not", "could not be", "has not been"]


def pairs(seed: int = 11) -> Iterator[tuple[str, str, str, int]]:
    """Yield split, first sentence, second sentence, and 1 for a paraphrase or 0."""
    rng = random.Random(seed)
    for number in range(TRAIN + VALIDATION):
        name, verb, thing, time = map(rng.choice, (NAMES, list(VERBS), THINGS, TIMES))
        first = f"{name} {verb} the {thing} {time}"
        paraphrase = number % 2
        is_said, about = "was", thing
        if not paraphrase and rng.random() < 0.8:
            is_said = rng.choice(DENIALS)
        elif not paraphrase:
            about = rng.choice([other for other in THINGS if other != thing])
        second = f"{time}, the {about} {is_said} {VERBS[verb]} by {name}"
        yield "train" if number < TRAIN else "validation", first, second, paraphrase


if __name__ == "__main__":
    print(HEADER)
    for row in pairs():
        print(*row, sep="\t")
