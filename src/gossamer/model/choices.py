"""Choices that the command line and the settings share; here, so that neither loads the other."""

from enum import StrEnum


class ScopeKind(StrEnum):
    """What a link must share with a seed."""

    HOST = "host"
    DOMAIN = "domain"
    PREFIX = "prefix"
    ANY = "any"


class Level(StrEnum):
    """How much a line of the log matters."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
