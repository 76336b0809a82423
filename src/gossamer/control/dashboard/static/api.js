// The API: one function for each kind of request. Refusals become `Refusal`s that speak in words.

import { ended } from "./format.js";

/** @import { Answer, Asked, Problem, Route } from "api" */

const ROOT = "/api/v1";
const PATIENCE = 20_000;
/** The control node itself waits up to 300 s for every node to do these. */
const LONG_PATIENCE = 330_000;
const LONG_COMMANDS = new Set(["checkpoint", "rerank"]);

/** A request that was not done: `code` for programs, `message` for people. */
export class Refusal extends Error {
  /**
   * @param {number} status of HTTP; 0: there was no answer
   * @param {string} code
   * @param {string} message
   */
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export class Api {
  /** @type {string} */
  #token;
  /**
   * Called when the token is not taken (any more).
   * @type {((refusal: Refusal) => void) | null}
   */
  onSignedOut = null;

  /** @type {string} */
  #who;

  /**
   * @param {string} token
   * @param {string} who answers, as a sentence begins
   */
  constructor(token, who = "The control node") {
    this.#token = token;
    this.#who = who;
  }

  /**
   * @template {Route<"get">} R
   * @param {R} route
   * @param {Asked<"get", R>} asked
   * @returns {Promise<Answer<"get", R>>}
   */
  get(route, asked) {
    return this.#ask("GET", route, asked);
  }

  /**
   * @template {Route<"post">} R
   * @param {R} route
   * @param {Asked<"post", R>} asked
   * @returns {Promise<Answer<"post", R>>}
   */
  post(route, asked) {
    return this.#ask("POST", route, asked);
  }

  /**
   * @template {Route<"patch">} R
   * @param {R} route
   * @param {Asked<"patch", R>} asked
   * @returns {Promise<Answer<"patch", R>>}
   */
  patch(route, asked) {
    return this.#ask("PATCH", route, asked);
  }

  /**
   * What a route answers as a file.
   * @template {Route<"get">} R
   * @param {R} route
   * @param {Asked<"get", R>} asked
   */
  async file(route, asked) {
    const response = await this.#fetch("GET", route, asked, LONG_PATIENCE);
    return response.blob();
  }

  /**
   * The stream of live updates, as a response to be read.
   * @param {number | null} lastId
   * @param {AbortSignal} signal
   */
  async stream(lastId, signal) {
    const headers = this.#headers();
    if (lastId !== null) headers["Last-Event-ID"] = String(lastId);
    const response = await fetch(`${ROOT}/stream`, { headers, signal, cache: "no-store" });
    if (!response.ok) throw await this.#refusal(response);
    return response;
  }

  /** @returns {Record<string, string>} */
  #headers() {
    return { Authorization: `Bearer ${this.#token}` };
  }

  /**
   * @param {string} method
   * @param {string} route
   * @param {{ path?: object, query?: object, body?: unknown, signal?: AbortSignal }} asked
   */
  async #ask(method, route, asked) {
    // A command may wait for every node; a look must not hang for ever.
    const response = await this.#fetch(method, route, asked, patience(method, route, asked.body));
    return response.json();
  }

  /**
   * @param {string} method
   * @param {string} route
   * @param {{ path?: object, query?: object, body?: unknown, signal?: AbortSignal }} asked
   * @param {number} longest milliseconds
   */
  async #fetch(method, route, { path = {}, query = {}, body, signal }, longest) {
    const headers = this.#headers();
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const limit = AbortSignal.timeout(longest);
    let response;
    try {
      response = await fetch(ROOT + place(route, path) + tail(query), {
        method,
        headers,
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: signal ? AbortSignal.any([signal, limit]) : limit,
        cache: "no-store",
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      const late = error instanceof DOMException && error.name === "TimeoutError";
      throw new Refusal(
        0,
        late ? "too_slow" : "no_answer",
        late
          ? `${this.#who} took too long to answer. Try again.`
          : `${this.#who} does not answer. It may have ended, or the line is broken.`,
      );
    }
    if (!response.ok) throw await this.#refusal(response);
    return response;
  }

  /** @param {Response} response */
  async #refusal(response) {
    /** @type {Partial<Problem>} */
    let problem = {};
    try {
      problem = await response.json();
    } catch {
      // Not ours: a proxy's page, perhaps.
    }
    const refusal = new Refusal(
      response.status,
      problem.code ?? "unknown",
      sentence(problem.detail ?? `${this.#who} answered ${response.status}.`),
    );
    if (response.status === 429) {
      const wait = Number(response.headers.get("Retry-After")) || 10;
      refusal.message = `Too many wrong tokens came from here. Wait ${wait} s, then try again.`;
    }
    if (response.status === 401) this.onSignedOut?.(refusal);
    return refusal;
  }
}

/**
 * The path of a route, with its parts filled in, whatever is in them.
 * @param {string} route
 * @param {object} parts
 */
function place(route, parts) {
  const given = new Map(Object.entries(parts));
  return route.replaceAll(/\{(\w+)\}/gu, (_, name) => encodeURIComponent(given.get(name)));
}

/**
 * The query of an address; what is absent or empty is not asked for.
 * @param {object} query
 */
function tail(query) {
  const given = Object.entries(query).flatMap(([name, value]) => (Array.isArray(value) ? value.map((one) => [name, one]) : [[name, value]]))
    .filter(([, value]) => value !== undefined && value !== null && value !== "");
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

/**
 * @param {string} method
 * @param {string} route
 * @param {unknown} body
 */
function patience(method, route, body) {
  if (method === "GET") return PATIENCE;
  const long = route === "/commands" && body instanceof Object && "command" in body && LONG_COMMANDS.has(String(body.command));
  return long ? LONG_PATIENCE : 3 * PATIENCE;
}

/** @param {string} text */
function sentence(text) {
  const trimmed = String(text).trim();
  const first = trimmed.charAt(0);
  // Names of settings and hosts keep their spelling.
  const word = /^[a-z]+(?=[\s:,]|$)/u.test(trimmed);
  const begun = word ? first.toUpperCase() + trimmed.slice(1) : trimmed;
  return ended(begun);
}
