"""The door `order`: which URL comes first. `protocol.py` for called ones, `formula.py` for declared."""
