"""Real webs: software from Debian packages on loopback addresses, and how well crawlers crawl it.

The simulated web was made by the same people as the crawler. Here is software that they did not write, filled by
script with hundreds to thousands of real pages, with truth from the software's own data. `make realweb`
(`python -m tests.realweb`) prints for each application how many of its content pages a crawler fetched,
and how many requests that took, by the access log of the web server: no crawler judges itself.

- `app.py`: what an application is; `apps/`: one file each
- `install.py`: Debian packages, and the tools' Python packages in a venv of their own
- `front.py`: the one nginx in front of all applications, whose log is the only source of measurements
- `backends.py`: processes behind it (php-fpm, apache, ...), started and stopped here
- `run.py`: a run; `alone.py`: no two runs have one application at a time
- `crawlers.py`: the command lines; `measure.py`: the figures; `report.py`: the table
- `texts.py`, `notes.py`, `histories.py`: real articles, short texts and git repositories to fill an application with
- `mariadb.py`, `cgi.py`: more processes behind the front; `scripts/`: what the applications' own interpreters run

To add an application, write `apps/<name>.py` with one subclass of `App`: a `name`, a `number` that no other has (its
address is 127.30.0.<number>), its `packages`, `prepare` (fills its folder, once), `sites` (what nginx does at
its addresses), `serve` (starts its processes; not needed for static files) and `truth`. Then look at
`--patterns`: what was requested and is not content, by pattern. A content page in that list means wrong truth.

Everything is kept below `.cache/realweb`; delete an application's folder there to fill it anew. An application
is also filled anew when its file changes.
"""
