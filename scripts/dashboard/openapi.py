"""Prints the OpenAPI document of the control API, from which the dashboard's types are made."""

import json
import sys
from typing import Any

from gossamer.control.api.app import describe, make_app


def main() -> None:
    # Nothing is served: the document needs the routes only.
    nothing: Any = None
    app = make_app(nothing, tokens=nothing, audit=nothing, authorities=[], origins=[])
    json.dump(describe(app), sys.stdout, indent=1)


if __name__ == "__main__":
    main()
