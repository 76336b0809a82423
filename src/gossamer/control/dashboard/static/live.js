// Live updates: `status` once a second and every event, read from one stream with the token in the
// header. When it breaks it is opened again, after a growing wait, from the last event seen.
//
// Gives the events `status`, `event`, `state` (detail: "live", "connecting" or "lost"), `again`
// (connected after a break: what was shown may be old).

const WAITS = [500, 1000, 2000, 4000, 8000];
const SILENCE = 8_000;
const KEPT = 500;

export class Live extends EventTarget {
  #api;
  #lastId = null;
  #closed = new AbortController();
  #tries = 0;
  #wake = () => {};
  state = "connecting";
  status = null;
  since = Date.now();
  /** Why the stream was refused, where it was: then the control node is there and says so. */
  reason = null;
  /** The last events, oldest first. */
  events = [];
  #offset = 0;

  constructor(api) {
    super();
    this.#api = api;
    // What a sleeping laptop or a lost line cost is made good at once, not after the wait.
    const wake = () => document.hidden || this.#wake();
    for (const [target, name] of [[window, "online"], [document, "visibilitychange"]]) {
      target.addEventListener(name, wake, { signal: this.#closed.signal });
    }
  }

  /** The control node's clock, in seconds: this machine's may be wrong. */
  now() {
    return Date.now() / 1000 + this.#offset;
  }

  /** Whether the crawl was about to end when it was last heard of: then nobody will come back. */
  get ended() {
    const { activity, wanted } = this.status ?? {};
    return wanted === "stop" || ["finished", "limit_reached"].includes(activity) || ["stopped", "finished"].includes(this.events.at(-1)?.kind);
  }

  async run() {
    let before = false;
    while (!this.#closed.signal.aborted) {
      try {
        await this.#catchUp();
        await this.#listen(() => {
          this.#tries = 0;
          this.reason = null;
          this.#become("live");
          if (before) this.dispatchEvent(new Event("again"));
          before = true;
        });
      } catch (error) {
        if (error.status === 401) return;
        this.reason = error.status ? error.message : null;
      }
      if (this.#closed.signal.aborted) return;
      this.#become("lost");
      await this.#wait(WAITS[Math.min(this.#tries++, WAITS.length - 1)]);
    }
  }

  close() {
    this.#closed.abort();
    this.#wake();
  }

  /** Learns what was told before; and whether the ids still are those of the same crawl. */
  async #catchUp() {
    const { events } = await this.#api.get("/events", { limit: 200 }, this.#closed.signal);
    const newest = events.at(-1)?.id ?? 0;
    if (this.#lastId === null || newest < this.#lastId) {
      this.events = events;
      this.#lastId = newest;
      this.dispatchEvent(new Event("events"));
    }
  }

  async #listen(connected) {
    const broken = new AbortController();
    const signal = AbortSignal.any([broken.signal, this.#closed.signal]);
    const response = await this.#api.stream(this.#lastId, signal);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let timer = 0;
    let rest = "";
    let first = true;
    try {
      for (;;) {
        clearTimeout(timer);
        // A line comes every second: silence means that the other side is gone.
        timer = setTimeout(() => broken.abort(), SILENCE);
        const { value, done } = await reader.read();
        if (done) return;
        if (first) connected();
        first = false;
        const blocks = (rest + value).split("\n\n");
        rest = blocks.pop();
        for (const block of blocks) this.#take(block);
      }
    } finally {
      clearTimeout(timer);
      broken.abort();
    }
  }

  #take(block) {
    const message = { event: "message", data: "" };
    for (const line of block.split("\n")) {
      const at = line.indexOf(":");
      if (at < 1) continue;
      const name = line.slice(0, at);
      const text = line.slice(at + 1).replace(/^ /, "");
      message[name] = name === "data" && message.data ? `${message.data}\n${text}` : text;
    }
    if (!message.data) return;
    const detail = JSON.parse(message.data);
    if (message.event === "status") {
      this.#offset = detail.time - Date.now() / 1000;
      this.status = detail;
      this.dispatchEvent(new CustomEvent("status", { detail }));
    } else if (message.event === "event") {
      this.#lastId = detail.id;
      this.events.push(detail);
      if (this.events.length > KEPT) this.events.splice(0, this.events.length - KEPT);
      this.dispatchEvent(new CustomEvent("event", { detail }));
    }
  }

  #become(state) {
    if (state === this.state) return;
    this.state = state;
    this.since = Date.now();
    this.dispatchEvent(new CustomEvent("state", { detail: state }));
  }

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
