# The private extension module. Checked against the built module by `stubtest`.

# --- outcome

def outcome_names() -> list[str]: ...

# --- canonical

# --- robots

# --- sitemap

# --- parse

# --- fetch

# --- warc

# --- seen

# --- frontier

# --- simweb
