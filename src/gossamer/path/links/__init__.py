"""Stage 8, links: what leaves a page.

Takes: a parsed page and the URL it was found under. Gives: its outlinks. Guarantees: absolute,
canonical, in scope, once per page. The work is native (`rust/core/src/links/`); what is in scope is
decided by `gossamer.settings.model.ScopeSettings`.
"""
