// The API: one function for each kind of request. Refusals become `Refusal`s that speak in words.

const ROOT = "/api/v1";
const PATIENCE = 20_000;
/** The control node itself waits up to 300 s for every node to do these. */
const LONG_PATIENCE = 330_000;
const LONG_COMMANDS = new Set(["checkpoint", "rerank"]);

/** A request that was not done: `code` for programs, `message` for people. */
export class Refusal extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export class Api {
  #token;
  /** Called when the token is not taken (any more). */
  onSignedOut = () => {};

  constructor(token) {
    this.#token = token;
  }

  get(path, query = {}, signal = undefined) {
    return this.#ask("GET", path + asked(query), undefined, signal);
  }

  post(path, body = undefined) {
    return this.#ask("POST", path, body);
  }

  patch(path, body) {
    return this.#ask("PATCH", path, body);
  }

  /** The stream of live updates, as a response to be read. */
  async stream(lastId, signal) {
    const headers = this.#headers();
    if (lastId !== null) headers["Last-Event-ID"] = String(lastId);
    const response = await fetch(`${ROOT}/stream`, { headers, signal, cache: "no-store" });
    if (!response.ok) throw await this.#refusal(response);
    return response;
  }

  #headers() {
    return { Authorization: `Bearer ${this.#token}` };
  }

  async #ask(method, path, body, signal) {
    const headers = this.#headers();
    if (body !== undefined) headers["Content-Type"] = "application/json";
    // A command may wait for every node; a look must not hang for ever.
    const limit = AbortSignal.timeout(patience(method, path, body));
    let response;
    try {
      response = await fetch(ROOT + path, {
        method,
        headers,
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: signal ? AbortSignal.any([signal, limit]) : limit,
        cache: "no-store",
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new Refusal(
        0,
        error.name === "TimeoutError" ? "too_slow" : "no_answer",
        error.name === "TimeoutError"
          ? "The control node took too long to answer. Try again."
          : "The control node does not answer. It may have ended, or the line is broken.",
      );
    }
    if (!response.ok) throw await this.#refusal(response);
    return response.json();
  }

  async #refusal(response) {
    let problem = {};
    try {
      problem = await response.json();
    } catch {
      // Not ours: a proxy's page, perhaps.
    }
    const refusal = new Refusal(
      response.status,
      problem.code ?? "unknown",
      sentence(problem.detail ?? `The control node answered ${response.status}.`),
    );
    if (response.status === 429) {
      const wait = Number(response.headers.get("Retry-After")) || 10;
      refusal.message = `Too many wrong tokens came from here. Wait ${wait} s, then try again.`;
    }
    if (response.status === 401) this.onSignedOut(refusal);
    return refusal;
  }
}

/** A part of a path, whatever is in it. */
export function part(text) {
  return encodeURIComponent(text);
}

function patience(method, path, body) {
  if (method === "GET") return PATIENCE;
  return path === "/commands" && LONG_COMMANDS.has(body?.command) ? LONG_PATIENCE : 3 * PATIENCE;
}

function asked(query) {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== "");
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

function sentence(text) {
  const trimmed = String(text).trim();
  const first = trimmed.charAt(0);
  // Names of settings and hosts keep their spelling.
  const word = /^[a-z]+(?=[\s:,]|$)/.test(trimmed);
  const begun = word ? first.toUpperCase() + trimmed.slice(1) : trimmed;
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}
