// The session: the token, kept for this tab only.
//
// Takes it from the login form or from `#token=…`; that is removed from the address bar before
// anything else is done, so that it is not in the history nor in a screenshot.

const KEY = "gossamer.token";

/** The token of the fragment, if there is one; the fragment is gone afterwards. */
export function takeFromFragment() {
  const found = /^#token=([^&]+)(?:&|$)/u.exec(location.hash);
  if (!found) return null;
  history.replaceState(null, "", `${location.pathname}#/`);
  let token = found[1] ?? "";
  try {
    token = decodeURIComponent(token);
  } catch {
    // Not encoded: as it stands.
  }
  keep(token);
  return token;
}

/** @param {string} token */
export function keep(token) {
  try {
    sessionStorage.setItem(KEY, token);
  } catch {
    // Storage is switched off: the token lives as long as the page.
  }
}

export function kept() {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export function forget() {
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // Nothing was kept.
  }
}
