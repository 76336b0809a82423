"""The settings of Python and of the native stage are the same list with the same defaults."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from gossamer._native import Fetcher
from gossamer.path.fetch import DnsSettings, FetchLimits, FetchSettings, TlsSettings

SOURCE = Path(__file__).resolve().parents[2] / "rust" / "core" / "src" / "fetch" / "settings.rs"


def native_fields(struct: str) -> list[str]:
    block = re.search(rf"pub struct {struct} \{{(.*?)\n\}}", SOURCE.read_text(), re.DOTALL)
    assert block
    return re.findall(r"^    pub (\w+):", block.group(1), re.MULTILINE)


@pytest.mark.parametrize(
    ("model", "struct"),
    [
        (FetchSettings, "FetchSettings"),
        (FetchLimits, "Limits"),
        (DnsSettings, "DnsSettings"),
        (TlsSettings, "TlsSettings"),
    ],
)
def test_the_same_list(model: type, struct: str) -> None:
    assert sorted(model.model_fields) == sorted(native_fields(struct))  # type: ignore[attr-defined]


def test_the_native_fetcher_takes_them() -> None:
    Fetcher(
        FetchSettings(contact="me@example.org", dns=DnsSettings(servers=("127.0.0.1:53",))).native()
    )


def test_unknown_and_impossible_values_are_refused() -> None:
    with pytest.raises(ValidationError):
        FetchSettings.model_validate({"user_agnet": "x"})
    with pytest.raises(ValidationError):
        FetchLimits(total=0)
    with pytest.raises(ValueError, match="user_agent"):
        Fetcher(FetchSettings(user_agent="a\nb").native())
