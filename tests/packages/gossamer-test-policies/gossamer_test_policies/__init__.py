"""Policies of somebody else's: one for each door, and some that misbehave."""
