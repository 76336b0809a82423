"""The door `pages`: what is kept of a finished visit. `protocol.py` says what a policy must be."""
