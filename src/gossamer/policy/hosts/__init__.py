"""The door `hosts`: how a site is treated. `protocol.py` says what a called policy must be.

The other files are declared: what every outcome means for URL and host (`outcomes.py`), when a host
is set aside and given up (`set_aside.py`), what follows when it asks for less (`throttling.py`), how long
it rests between visits (`gap.py`), how often it is asked for its robots rules (`robots.py`), which URL
patterns are worth their visits (`patterns.py`), when two hosts are one site (`aliases.py`).
"""
