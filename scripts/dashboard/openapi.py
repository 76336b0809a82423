"""Prints the OpenAPI documents of the control API and of a folder's page as one, from which the types of both are made."""

import json
import sys
from typing import Any

from gossamer.control.api.app import Entrance, describe, make_app
from gossamer.crawls.api import make_crawls_app


def main() -> None:
    # Nothing is served: the document needs the routes only.
    nothing: Any = None
    app = make_app(nothing, tokens=nothing, audit=nothing, authorities=[], origins=[])
    document = describe(app)
    crawls = describe(make_crawls_app(nothing, Entrance(nothing, nothing, [], [])))
    # What both have is the same.
    document["paths"] = crawls["paths"] | document["paths"]
    document["components"]["schemas"] |= crawls["components"]["schemas"]
    json.dump(document, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
