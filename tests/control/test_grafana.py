"""The Grafana dashboard asks only for metrics that there are."""

import json
import re
from pathlib import Path

from tests.control.serving import Served

DASHBOARD = Path(__file__).parents[2] / "deploy" / "grafana" / "gossamer.json"


def test_every_metric_of_the_dashboard_is_served(quiet: Served):
    panels = json.loads(DASHBOARD.read_text())["panels"]
    asked = {
        name
        for panel in panels
        for target in panel["targets"]
        for name in re.findall(r"gossamer_\w+", target["expr"])
    }
    served = set(
        re.findall(r"^# TYPE (\w+) ", quiet.ask("GET", "/metrics").body.decode(), re.MULTILINE)
    )
    assert len(asked) >= 12
    assert asked <= served
