"""What can go wrong with the engine in memory. A test sets these; all are off at first."""

from dataclasses import dataclass


@dataclass
class Faults:
    delay: float = 0.0
    """Slow: seconds that every call takes."""
    electing: bool = False
    """The servers have no leader: streams and buckets do not answer, messages to listeners pass."""
    full: bool = False
    """The disk of the servers is full: streams and buckets take nothing."""
    lose_answers: int = 0
    """So many changes are carried out without an answer: whoever made one cannot know."""
    twice: bool = False
    """Links are kept twice, as by a sender that did not hear that the first was kept."""

    def take_lost_answer(self) -> bool:
        """Whether the answer to this change is lost."""
        lost = self.lose_answers > 0
        self.lose_answers -= lost
        return lost
