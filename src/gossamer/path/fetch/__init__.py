"""Stage 5, fetch: a visit becomes a response or an outcome.

Takes: visits. Gives: responses. Guarantees: always answers, within a deadline and a size, whatever
the server does. The work is native (`rust/core/src/fetch/`); its limits are decided by
`gossamer.settings.model.FetchSettings` and `DnsSettings`.
"""
