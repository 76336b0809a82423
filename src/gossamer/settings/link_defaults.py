"""What the address and the mark-up of a link say of its target, by default.

A suffix is believed where it stands for something that is not text: an archive, a medium, a font, a program,
an office document. Suffixes of source and data (`js`, `css`, `json`, `xml`, `txt` …) are not in the list: what
people link to by such a name is as often a page about the file as the file, and the type of the answer tells.
"""

from collections.abc import Sequence
from typing import Final

SUFFIX_TYPES: Final[dict[str, str]] = {
    "7z": "application/x-7z-compressed",
    "aac": "audio/aac",
    "apk": "application/vnd.android.package-archive",
    "avi": "video/x-msvideo",
    "avif": "image/avif",
    "bmp": "image/bmp",
    "bz2": "application/x-bzip2",
    "deb": "application/vnd.debian.binary-package",
    "dmg": "application/x-apple-diskimage",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "eot": "application/vnd.ms-fontobject",
    "epub": "application/epub+zip",
    "exe": "application/vnd.microsoft.portable-executable",
    "flac": "audio/flac",
    "flv": "video/x-flv",
    "gif": "image/gif",
    "gz": "application/gzip",
    "ico": "image/x-icon",
    "iso": "application/x-iso9660-image",
    "jar": "application/java-archive",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "m4a": "audio/mp4",
    "m4v": "video/mp4",
    "mkv": "video/x-matroska",
    "mov": "video/quicktime",
    "mp3": "audio/mpeg",
    "mp4": "video/mp4",
    "mpeg": "video/mpeg",
    "mpg": "video/mpeg",
    "msi": "application/x-msi",
    "odp": "application/vnd.oasis.opendocument.presentation",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "odt": "application/vnd.oasis.opendocument.text",
    "ogg": "audio/ogg",
    "ogv": "video/ogg",
    "opus": "audio/opus",
    "otf": "font/otf",
    "pdf": "application/pdf",
    "png": "image/png",
    "ppt": "application/vnd.ms-powerpoint",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "rar": "application/vnd.rar",
    "rpm": "application/x-rpm",
    "svg": "image/svg+xml",
    "swf": "application/x-shockwave-flash",
    "tar": "application/x-tar",
    "tgz": "application/gzip",
    "tif": "image/tiff",
    "tiff": "image/tiff",
    "ttf": "font/ttf",
    "wav": "audio/wav",
    "webm": "video/webm",
    "webp": "image/webp",
    "whl": "application/zip",
    "wma": "audio/x-ms-wma",
    "wmv": "video/x-ms-wmv",
    "woff": "font/woff",
    "woff2": "font/woff2",
    "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xz": "application/x-xz",
    "zip": "application/zip",
    "zst": "application/zstd",
}
"""The suffixes that are believed, and the media type that each stands for."""

PAGE_MARKS: Final = [
    ":", "%3A",
    "wiki/", "index.php/", "doku.php/",
    "blob/", "tree/", "blame/", "annotate/", "src/", "file/", "view/", "browse/", "browser/",
    "viewvc/", "log/", "commits/", "history/",
]  # fmt: skip
"""Where pages have the names of files: namespaces of wikis (`File:Logo.png`) and their folders (`/wiki/Foo.zip`),
folders of repository browsers (`/blob/main/logo.png`). What is no page there costs a request that ends with its
head."""

RELATIONS: Final = [
    "canonical", "next", "prev", "alternate", "first", "last", "up", "start", "top", "home", "contents",
    "index", "chapter", "section", "subsection", "appendix", "glossary", "help", "copyright", "license",
    "privacy-policy", "terms-of-service",
]  # fmt: skip
"""Relations of `<link>` that lead to pages for people. Feeds, oEmbed, other formats (`feed`, `oembed`, `format`:
alternates by their media type), short links, search descriptions and interfaces for programs do not."""


def skipped(suffixes: Sequence[str], types: Sequence[str]) -> list[str]:
    """The suffixes without those that stand for a type which is wanted by name."""
    return [
        suffix for suffix in suffixes if not _is_named(SUFFIX_TYPES.get(suffix.lower(), ""), types)
    ]


def _is_named(media_type: str, types: Sequence[str]) -> bool:
    family = media_type.partition("/")[0] + "/*"
    named = {one.strip().lower() for one in types}
    return bool(media_type) and not named.isdisjoint({media_type, family})
