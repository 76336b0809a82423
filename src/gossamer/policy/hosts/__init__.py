"""The door `hosts`: how a site is treated. `protocol.py` says what a called policy must be.

The other files are declared: what every outcome means for URL and host (`outcomes.py`), when a host
is set aside and given up (`set_aside.py`), how often it is asked for its robots rules (`robots.py`), which
URLs look like a trap (`traps.py`), when two hosts are one site (`aliases.py`).
"""
