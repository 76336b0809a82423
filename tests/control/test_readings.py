"""Counters over time: coarser the longer ago, and bounded however old a crawl is."""

from tests.control.readings import status

from gossamer.control.readings import RINGS, Readings

DAY = 86_400.0
ALL = 315_360_000.0


def filled(seconds: float, every: float) -> tuple[Readings, float]:
    """Readings of a crawl of that age, and the time of its end."""
    readings, begin = Readings(), 1_000_000.0
    steps = round(seconds / every)
    for number in range(steps + 1):
        readings.add(status(begin + number * every, pages=number))
    return readings, begin + steps * every


def test_a_crawl_of_ten_days_is_known_from_its_first_second() -> None:
    readings, now = filled(10 * DAY, 5.0)
    whole = readings.page(ALL, now)
    assert (whole.oldest, whole.times[0]) == (1_000_000.0, 1_000_000.0)
    assert whole.step == 1800.0
    assert now - whole.times[-1] < 1800.0
    days = readings.page(3 * DAY - 200, now)
    assert days.step == 120.0
    assert now - days.times[0] > 3 * DAY - 400
    assert days.oldest == whole.oldest
    assert readings.page(6 * 3600 - 100, now).step == 10.0
    assert readings.page(300, now).times[-1] == now
    for page in (whole, days):
        assert page.columns["pages"] == sorted(page.columns["pages"])
        assert len(page.times) <= max(count for _, count in RINGS)


def test_a_young_crawl_is_shown_as_fine_as_it_is_kept() -> None:
    readings, now = filled(300, 1.0)
    whole = readings.page(ALL, now)
    assert (whole.step, len(whole.times)) == (1.0, 301)


def test_readings_are_bounded() -> None:
    readings, now = filled(60 * DAY, 60.0)
    whole = readings.page(ALL, now)
    assert len(whole.times) == RINGS[-1][1]
    assert now - whole.times[0] > 44 * DAY
