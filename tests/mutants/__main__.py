"""`python -m tests.mutants [--count 300] [--seed 1]`: show what becomes of each mutant, and count."""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from tests.mutants.mutation import mutants
from tests.mutants.trial import CLASSES, baseline, verdict


def main() -> None:
    """Try a sample of all mutants."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    known = mutants()
    chosen = sorted(random.Random(options.seed).sample(known, min(options.count, len(known))))
    expected = baseline()
    with ThreadPoolExecutor(2) as pool:
        verdicts = list(pool.map(lambda mutant: verdict(mutant, expected), chosen))
    for mutant, (found, message) in zip(chosen, verdicts, strict=True):
        print(
            f"{found}\t{mutant.module}:{mutant.line}\t{mutant.what}\t{message.splitlines()[0][:200] if message else ''}"
        )
    counts = Counter(found for found, _ in verdicts)
    print(f"{len(chosen)} of {len(known)}: {', '.join(f'{name} {counts[name]}' for name in CLASSES)}", file=sys.stderr)


if __name__ == "__main__":
    main()
