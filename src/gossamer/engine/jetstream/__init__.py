"""The engine for real: NATS JetStream. Nothing outside this folder imports the client's library.

`opening` opens a line or says why not, `connection` is the line, `bucket`, `links` (with `reader`) and
`records` are what is kept in the engine. `failures` turns the client's errors into ours.
"""
