"""The door `refresh`: when a page is visited again. `protocol.py` says what a policy must be."""
