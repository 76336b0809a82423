"""Text that is the same for the same name, and new for another."""

import random


def prose(name: str, words: int = 250) -> str:
    chance = random.Random(name)
    return " ".join("".join(chance.choices("aeioubdfglmnprst", k=7)) for _ in range(words))
