// Live updates: `status` once a second and every event, read from one stream with the token in the
// header. When it breaks it is opened again, after a growing wait, from the last event seen.
//
// `on` gives `status`, `event`, `state` (detail: "live", "connecting" or "lost"), `again`
// (connected after a break: what was shown may be old).

import { Refusal } from "./api.js";

/**
 * @import { Api } from "./api.js"
 * @import { CrawlEvent, Status } from "api"
 * @typedef {"live" | "connecting" | "lost"} LineState
 * @typedef {{ status: Status, event: CrawlEvent, events: null, state: LineState, again: null }} Updates
 */

const WAITS = [500, 1000, 2000, 4000, 8000];
const SILENCE = 8_000;
const KEPT = 500;
/** @type {Set<Status["activity"]>} */
const ENDED = new Set(["finished", "limit_reached", "stopped", "unknown"]);

export class Live extends EventTarget {
  /** @type {Api} */
  #api;
  /** @type {number | null} */
  #lastId = null;
  #closed = new AbortController();
  #tries = 0;
  /** Whether it was connected once. */
  #before = false;
  /** @type {(() => void) | null} ends the wait */
  #wake = null;
  /** @type {LineState} */
  state = "connecting";
  /** @type {Status} */
  status;
  since = Date.now();
  /**
   * Why the stream was refused, where it was: then the control node is there and says so.
   * @type {string | null}
   */
  reason = null;
  /**
   * The last events, oldest first.
   * @type {CrawlEvent[]}
   */
  events = [];
  #offset = 0;

  /**
   * @param {Api} api
   * @param {Status} status what was last heard
   */
  constructor(api, status) {
    super();
    this.#api = api;
    this.status = status;
    this.#takeStatus(status);
    // What a sleeping laptop or a lost line cost is made good at once, not after the wait.
    const wake = () => document.hidden || this.#wake?.();
    const { signal } = this.#closed;
    window.addEventListener("online", wake, { signal });
    document.addEventListener("visibilitychange", wake, { signal });
  }

  /**
   * Calls `listener` with every update of a kind, until `signal`.
   * @template {keyof Updates} K
   * @param {K} kind
   * @param {(update: Updates[K]) => unknown} listener
   * @param {AbortSignal} signal
   */
  on(kind, listener, signal) {
    this.addEventListener(kind, (event) => event instanceof CustomEvent && listener(event.detail), { signal });
  }

  /**
   * @template {keyof Updates} K
   * @param {K} kind
   * @param {Updates[K]} detail
   */
  #tell(kind, detail) {
    this.dispatchEvent(new CustomEvent(kind, { detail }));
  }

  /** The control node's clock, in seconds: this machine's may be wrong. */
  now() {
    return Date.now() / 1000 + this.#offset;
  }

  /** Why no visit is to come, in words that go on after "not while"; `null`: visits go on. */
  get rests() {
    if (this.status.read_only !== null) return "the crawl does not run";
    return this.status.wanted === "pause" ? "the crawl is paused" : null;
  }

  /** Whether the crawl was about to end when it was last heard of: then nobody will come back. */
  get ended() {
    const { activity } = this.status;
    const last = this.events.at(-1)?.kind;
    return this.status.wanted === "stop" || ENDED.has(activity) || last === "stopped" || last === "finished";
  }

  async run() {
    while (!this.#closed.signal.aborted) {
      try {
        await this.#catchUp();
        await this.#listen();
      } catch (error) {
        const status = error instanceof Refusal ? error.status : 0;
        if (status === 401) return;
        this.reason = error instanceof Refusal && status ? error.message : null;
      }
      if (this.#closed.signal.aborted) return;
      this.#become("lost");
      await this.#wait(WAITS[Math.min(this.#tries, WAITS.length - 1)] ?? 0);
      this.#tries += 1;
    }
  }

  close() {
    this.#closed.abort();
    this.#wake?.();
  }

  /** Learns what was told before; and whether the ids still are those of the same crawl. */
  async #catchUp() {
    const { events } = await this.#api.get("/events", { query: { limit: 200 }, signal: this.#closed.signal });
    const newest = events.at(-1)?.id ?? 0;
    if (this.#lastId === null || newest < this.#lastId) {
      this.events = events;
      this.#lastId = newest;
      this.#tell("events", null);
    }
  }

  #connected() {
    this.#tries = 0;
    this.reason = null;
    this.#become("live");
    if (this.#before) this.#tell("again", null);
    this.#before = true;
  }

  async #listen() {
    const broken = new AbortController();
    const signal = AbortSignal.any([broken.signal, this.#closed.signal]);
    const response = await this.#api.stream(this.#lastId, signal);
    if (!response.body) return;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    let rest = "";
    let first = true;
    try {
      for (;;) {
        clearTimeout(timer);
        // A line comes every second: silence means that the other side is gone.
        timer = setTimeout(() => broken.abort(), SILENCE);
        const { value, done } = await reader.read();
        if (done) return;
        if (first) this.#connected();
        first = false;
        const blocks = (rest + value).split("\n\n");
        rest = blocks.pop() ?? "";
        for (const block of blocks) this.#take(block);
      }
    } finally {
      clearTimeout(timer);
      broken.abort();
    }
  }

  /**
   * A block of the stream: lines of a name and a value.
   * @param {string} block
   */
  #take(block) {
    let kind = "message";
    let data = "";
    for (const line of block.split("\n")) {
      const at = line.indexOf(":");
      if (at < 1) continue;
      const name = line.slice(0, at);
      const text = line.slice(at + 1).replace(/^ /u, "");
      if (name === "event") kind = text;
      if (name === "data") data = data ? `${data}\n${text}` : text;
    }
    if (!data) return;
    if (kind === "status") this.#takeStatus(JSON.parse(data));
    else if (kind === "event") this.#takeEvent(JSON.parse(data));
  }

  /** @param {Status} status */
  #takeStatus(status) {
    // The time of a crawl that does not run is that of its end: what happened then is not of now.
    this.#offset = status.read_only === null ? status.time - Date.now() / 1000 : 0;
    this.status = status;
    this.#tell("status", status);
  }

  /** @param {CrawlEvent} event */
  #takeEvent(event) {
    this.#lastId = event.id;
    this.events.push(event);
    if (this.events.length > KEPT) this.events.splice(0, this.events.length - KEPT);
    this.#tell("event", event);
  }

  /** @param {LineState} state */
  #become(state) {
    if (state === this.state) return;
    this.state = state;
    this.since = Date.now();
    this.#tell("state", state);
  }

  /**
   * @param {number} milliseconds
   * @returns {Promise<void>}
   */
  #wait(milliseconds) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
