"""Benchmarks: ratios in one run, never timed tests. `python -m benches [NAME...]`."""
