"""The first failure of each seed, told once, with what can be done about it."""

from gossamer.model.progress import Progress, SeedFailure
from gossamer.policy.hosts.outcomes import REACTIONS
from gossamer.words import plain


class SeedNews:
    """What a view has not told yet."""

    def __init__(self) -> None:
        self._told: set[SeedFailure] = set()
        self._told_more = False

    def fresh(self, progress: Progress) -> list[str]:
        """Lines, each of them once. A bounded number of seeds is named; the summary has the count."""
        found = [one for one in progress.seed_failures if one not in self._told]
        self._told.update(found)
        lines = [_line(one) for one in found]
        if progress.seeds_failed > len(progress.seed_failures) and not self._told_more:
            self._told_more = True
            lines.append("more seeds fail: the summary counts them, the fetch log has each")
        return lines


def _line(failure: SeedFailure) -> str:
    reaction = REACTIONS[failure.outcome]
    again = " (it is tried again)" if reaction.tries > 1 else ""
    remedy = f"; {reaction.remedy}" if reaction.remedy else ""
    return f"seed {plain(failure.url)}: {failure.outcome}: {reaction.meaning}{again}{remedy}"
