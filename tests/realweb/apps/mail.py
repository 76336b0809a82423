"""public-inbox: two mailing lists with hundreds of threads, each message also as a thread, a nested thread and raw.

Truth: the page of each message, by its Message-ID. Lists and threads only lead to it or repeat it.
"""

import contextlib
import hashlib
import os
import random
import shutil
import subprocess
import textwrap
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.utils import format_datetime
from urllib.parse import quote

from tests.realweb.app import App, Site
from tests.realweb.backends import process
from tests.realweb.notes import NOTES_PACKAGES, PEOPLE, notes, subject

PORT = 29004
"""Of public-inbox's own web server, behind the front."""
LISTS = ("changes", "users")
BEGIN = datetime(2021, 3, 1, 8, tzinfo=UTC)
IMPORT = """\
my $inbox = PublicInbox::Config->new->lookup_name($ARGV[0]);
PublicInbox::InboxWritable->new($inbox)->import_mbox(\\*STDIN, 'mboxrd');
"""


class Mail(App):
    name = "mail"
    number = 14
    packages = (
        "public-inbox",
        "libplack-perl",
        "libdbd-sqlite3-perl",
        "libsearch-xapian-perl",
        "git",
    )
    read_packages = NOTES_PACKAGES

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "PI_CONFIG": str(self.folder / "config"), "HOME": str(self.folder)}

    def prepare(self) -> None:
        (self.folder / "config").write_text("[publicinbox]\n\twwwListing = all\n")
        for number, name in enumerate(LISTS):
            url, address = f"{self.url}/{name}", address_of(name)
            place = self.folder / name
            self._run("public-inbox-init", "-V2", name, str(place), url, address)
            (place / "description").write_text(f"What people say about {name}\n")
            sent = messages(name, 50 if self.small else 700, number)
            (self.folder / f"{name}.ids").write_text(
                "\n".join(message["Message-ID"] for message in sent)
            )
            modules = ("-MPublicInbox::Config", "-MPublicInbox::InboxWritable")
            mbox = b"".join(
                b"From realweb Mon Mar  1 08:00:00 2021\n" + bytes(message) + b"\n"
                for message in sent
            )
            self._run("perl", *modules, "-e", IMPORT, name, text=mbox)

    def _run(self, *command: str, text: bytes = b"") -> None:
        subprocess.run(command, env=self.environment, input=text, check=True, capture_output=True)

    def sites(self) -> list[Site]:
        target = (
            f"proxy_pass http://{self.address}:{PORT}; proxy_set_header Host $host:$server_port;"
        )
        return [Site(self.address, f"location / {{ {target} }}")]

    @contextlib.contextmanager
    def serve(self) -> Iterator[list[str]]:
        program = shutil.which("public-inbox-httpd") or "/usr/bin/public-inbox-httpd"
        command = [program, "-W", "2", "-l", f"http://{self.address}:{PORT}"]
        ready = (self.address, PORT)
        log = self.folder / "httpd.log"
        with process(command, ready=ready, log=log, environment=self.environment):
            yield [self.url + "/"]

    def truth(self) -> set[str]:
        return {
            f"{self.url}/{name}/{quote(identifier.strip('<>'), safe='@+=')}/"
            for name in LISTS
            for identifier in (self.folder / f"{name}.ids").read_text().split()
        }

    def page_of(self, url: str) -> str:
        """A plus sign in a path is the same when it is escaped, as wget2 does."""
        return url.replace("%2B", "+")


def address_of(name: str) -> str:
    return f"{name}@lists.example.org"


def messages(name: str, count: int, number: int) -> list[EmailMessage]:
    """Threads of one to a dozen messages, each an answer to one before it, with a quotation."""
    chance = random.Random(name)
    changes = [change for note in notes() for change in note.changes][number::2]
    chance.shuffle(changes)
    found: list[EmailMessage] = []
    thread: list[EmailMessage] = []
    left = 0
    for place, change in enumerate(changes[:count]):
        if left == 0:
            thread, left = [], chance.choice((1, 1, 2, 3, 3, 5, 8, 12))
        above = chance.choice(thread) if thread else None
        message = written(name, change, above, BEGIN + timedelta(hours=7 * place))
        message["From"] = sender(chance.choice(PEOPLE))
        thread.append(message)
        found.append(message)
        left -= 1
    return found


def written(name: str, change: str, above: EmailMessage | None, moment: datetime) -> EmailMessage:
    message = EmailMessage()
    digest = hashlib.sha256((name + change + str(moment)).encode()).hexdigest()
    message["Message-ID"] = f"<{moment:%Y%m%d%H%M%S}.{digest[:8]}+{digest[8:11]}@example.org>"
    message["Date"] = format_datetime(moment)
    message["To"] = address_of(name)
    text = textwrap.fill(change, 72) + "\n"
    if above is None:
        message["Subject"] = subject(change)
    else:
        message["Subject"] = "Re: " + str(above["Subject"]).removeprefix("Re: ")
        message["In-Reply-To"] = above["Message-ID"]
        message["References"] = f"{above['References'] or ''} {above['Message-ID']}".strip()
        quoted = "".join(f"> {line}\n" for line in above.get_content().splitlines()[:12])
        text = f"On {above['Date']}, {above['From']} wrote:\n{quoted}\n{text}"
    message.set_content(text)
    return message


def sender(person: str) -> str:
    return f"{person} <{person.split(maxsplit=1)[0].lower()}@example.org>"
