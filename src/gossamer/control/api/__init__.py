"""The control API: typed, versioned, every route behind a token. `app.make_app` puts it together."""
