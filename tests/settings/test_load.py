import tomllib

import pytest

from gossamer.errors import SettingsError
from gossamer.settings import CrawlSettings, check, dump, load
from gossamer.settings.model import Stage


def test_defaults_read_back(tmp_path):
    file = tmp_path / "crawl.toml"
    file.write_text(dump(CrawlSettings()))
    assert load(file, {}) == CrawlSettings()


def test_overrides_win_over_the_file(tmp_path):
    file = tmp_path / "c.toml"
    file.write_text('[politeness]\ndelay = "5s"\nper_host = 2\n')
    settings = load(file, {"politeness.delay": "250ms"})
    assert settings.politeness.delay == 0.25
    assert settings.politeness.per_host == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[politeness]\ndelya = '1s'", "politeness.delya (did you mean politeness.delay?)"),
        ("[politenes]\ndelay = '1s'", "politenes.delay (did you mean politeness.delay?)"),
        ("[politeness]\ndelay = '1 parsec'", "unknown unit 'parsec'"),
        ("[politeness]\nper_host = 0", "politeness.per_host"),
        ("[store]\nfsync = 'maybe'", "store.fsync"),
        ("[fetch]\nmax_body = '1 apple'", "fetch.max_body"),
        ("= 3", "not valid TOML"),
    ],
)
def test_each_mistake_is_named(tmp_path, text, said):
    file = tmp_path / "c.toml"
    file.write_text(text)
    with pytest.raises(SettingsError) as caught:
        load(file, {})
    assert said in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(SettingsError, match=r"none\.toml"):
        load(tmp_path / "none.toml", {})


def test_every_setting_says_what_it_means_and_when_it_may_change():
    for stage_name, stage in CrawlSettings.model_fields.items():
        fields = (
            type(stage.default).model_fields
            if isinstance(stage.default, Stage)
            else {stage_name: stage}
        )
        for name, field in fields.items():
            assert field.description, f"{stage_name}.{name} has no meaning"
            assert isinstance(field.json_schema_extra, dict), f"{stage_name}.{name}"
            assert "live" in field.json_schema_extra


def test_dump_has_units():
    values = tomllib.loads(dump(check({"politeness": {"delay": "90s"}}, "test")))
    assert values["politeness"]["delay"] == "90s"
    assert values["store"]["warc_size"] == "1GiB"
