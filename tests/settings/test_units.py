import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.settings.units import duration, show_duration, show_size, size


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("10s", 10),
        ("250ms", 0.25),
        ("2h", 7200),
        ("1.5m", 90),
        ("0", 0),
        (0, 0),
        ("3 d", 259200),
        ("5", 5),
        (5, 5),
        ("0.5", 0.5),
        (0.5, 0.5),
        (1e-05, 1e-05),
    ],
)
def test_durations(text, seconds):
    assert duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    ["ten seconds", "10 parsecs", "-1s", -1, -0.5, float("inf"), float("nan"), None, True, ""],
)
def test_wrong_durations_are_refused(text):
    with pytest.raises(ValueError, match=r"a time|unit"):
        duration(text)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("64MiB", 64 << 20),
        ("1.5GB", 1_500_000_000),
        ("512B", 512),
        ("0", 0),
        ("64", 64),
        (64, 64),
        (2**60 - 1, 2**60 - 1),
        (str(2**60 - 1), 2**60 - 1),
    ],
)
def test_sizes(text, count):
    assert size(text) == count


@pytest.mark.parametrize("text", ["64 apples", "-1B", None, -3, True, ""])
def test_wrong_sizes_are_refused(text):
    with pytest.raises(ValueError, match=r"size|unit"):
        size(text)


@given(st.integers(0, 2**50))
def test_sizes_read_back(count):
    assert size(show_size(count)) == count


@given(st.integers(0, 10**13))
def test_durations_read_back(micros):
    assert duration(show_duration(micros / 1e6)) == pytest.approx(micros / 1e6, abs=1e-6)
