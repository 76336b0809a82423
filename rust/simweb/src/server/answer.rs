//! From a request to its reply: the one place that decides what is served.

use super::Shared;
use super::negotiate::{Coding, Conditions, choose};
use super::reply::{Ending, Reply};
use crate::model::hash::Purpose;
use crate::model::html::Scratch;
use crate::model::kind::{Agent, Kind, Times, Wait};
use crate::model::path::Target;
use crate::model::{Model, Node, Place, change};

/// A request, as far as it matters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'a> {
    pub path: &'a [u8],
    pub head_only: bool,
    pub accept_encoding: &'a [u8],
    pub conditions: Conditions<'a>,
    pub keep: bool,
}

/// Buffers of one worker.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    pub reply: Reply,
    scratch: Scratch,
    path: Vec<u8>,
}

impl Desk {
    /// Writes the reply to a request for a host; says how the connection goes on.
    pub fn answer(&mut self, shared: &Shared, host: u32, request: Request<'_>) -> Ending {
        let model = &shared.model;
        let mut path = std::mem::take(&mut self.path);
        let ending = match model.resolve(host, request.path, &mut path) {
            Target::Page(page) => self.page(shared, Place { host, page }, request),
            Target::Hop(page, stop) => {
                let place = Place { host, page };
                match model.kind(place) {
                    Kind::Redirect(redirect) => {
                        let next = model.next_stop(place, redirect, stop);
                        self.redirect(model, place, stop, next, request)
                    }
                    _ => self.plain(404, "not found\n", request),
                }
            }
            Target::Trap(trap) => {
                self.reply.begin(200);
                self.reply
                    .header("Content-Type", b"text/html; charset=utf-8");
                model.write_trap(trap, &mut self.reply.body);
                self.finish(request)
            }
            Target::Robots => {
                let file = model.robots_file(host);
                self.reply.begin(file.status);
                self.reply
                    .header("Content-Type", file.content_type.as_bytes());
                self.reply.body.extend_from_slice(&file.body);
                self.finish(request)
            }
            Target::Sitemap(name) => match model.sitemap_file(host, name, shared.simulated_now()) {
                Some(file) => {
                    self.reply.begin(200);
                    self.reply
                        .header("Content-Type", file.content_type.as_bytes());
                    self.reply.body.extend_from_slice(&file.body);
                    self.finish(request)
                }
                None => self.plain(404, "not found\n", request),
            },
            Target::Nothing => self.plain(404, "not found\n", request),
        };
        self.path = path;
        if ending == Ending::Whole && model.options.drip > 0.0 && model.drips(host) {
            return Ending::Drip;
        }
        ending
    }

    /// A short reply in plain text.
    pub fn plain(&mut self, status: u16, text: &str, request: Request<'_>) -> Ending {
        self.reply.begin(status);
        self.reply
            .header("Content-Type", b"text/plain; charset=utf-8");
        self.reply.body.extend_from_slice(text.as_bytes());
        self.finish(request)
    }

    fn finish(&mut self, request: Request<'_>) -> Ending {
        let with_body = !request.head_only && self.reply.status != 304;
        self.reply.finish(with_body, request.keep);
        Ending::Whole
    }

    fn page(&mut self, shared: &Shared, place: Place, request: Request<'_>) -> Ending {
        let model = &shared.model;
        let id = model.hosts.id(place);
        match model.kind(place) {
            Kind::Plain | Kind::Duplicate { .. } | Kind::NearDuplicate { .. } => {}
            Kind::Redirect(redirect) => {
                let next = model.next_stop(place, redirect, 0);
                return self.redirect(model, place, 0, next, request);
            }
            Kind::Error(times) => {
                if times == Times::Always || shared.once.first(id) {
                    return self.plain(500, "something broke\n", request);
                }
            }
            Kind::Reset { times, midway } => {
                if times == Times::Always || shared.once.first(id) {
                    if !midway {
                        return Ending::ResetFirst;
                    }
                    self.content(shared, place, request);
                    return Ending::ResetMidway;
                }
            }
            Kind::Throttle { status, wait } => {
                if shared.once.first(id) {
                    return self.throttle(model, status, wait, request);
                }
            }
        }
        self.content(shared, place, request)
    }

    fn throttle(&mut self, model: &Model, status: u16, wait: Wait, request: Request<'_>) -> Ending {
        self.reply.begin(status);
        let seconds = model.options.retry_after;
        match wait {
            Wait::Unsaid => {}
            Wait::Seconds => self
                .reply
                .header("Retry-After", seconds.to_string().as_bytes()),
            Wait::Date => {
                let at = std::time::SystemTime::now()
                    + std::time::Duration::from_secs(u64::from(seconds));
                self.reply
                    .header("Retry-After", httpdate::fmt_http_date(at).as_bytes());
            }
        }
        self.reply
            .header("Content-Type", b"text/plain; charset=utf-8");
        self.reply.body.extend_from_slice(b"later\n");
        self.finish(request)
    }

    fn redirect(
        &mut self,
        model: &Model,
        place: Place,
        stop: u8,
        next: Node,
        request: Request<'_>,
    ) -> Ending {
        let status = model.redirect_status(place, stop);
        self.reply.begin(status);
        let mut location = Vec::new();
        // Half of the redirects within a host give only the path.
        let host = model.node_host(next);
        if host != place.host || stop.is_multiple_of(2) {
            location.extend_from_slice(b"http://");
            model.hosts.write_authority(host, &mut location);
        }
        model.write_node_path(next, &mut location);
        self.reply.header("Location", &location);
        self.reply
            .header("Content-Type", b"text/html; charset=utf-8");
        self.reply.body.extend_from_slice(b"<p>moved</p>\n");
        self.finish(request)
    }

    /// The page itself, or 304.
    fn content(&mut self, shared: &Shared, place: Place, request: Request<'_>) -> Ending {
        let model = &shared.model;
        let original = model.original(place);
        let content = model.hosts.content(place.host);
        let now = if model.options.change_rate > 0.0 {
            shared.simulated_now()
        } else {
            0.0
        };
        let state = model.state(original, now);
        let coding = if model.options.compression > 0.0 {
            coding(model, content, original.page, request.accept_encoding)
        } else {
            None
        };
        let (tag, modified) = validators(model, place, original, state, coding);
        let unchanged = request.conditions.unchanged(tag.as_deref(), modified);
        self.reply.begin(if unchanged { 304 } else { 200 });
        if let Some(tag) = &tag {
            self.reply.header("ETag", tag.as_bytes());
        }
        if let Some(modified) = modified {
            self.reply
                .header("Last-Modified", change::http_date(modified).as_bytes());
        }
        if coding.is_some() {
            self.reply.header("Vary", b"Accept-Encoding");
        }
        if !unchanged {
            self.describe(model, original);
            let tail = model.write_page(place, state, &mut self.scratch, &mut self.reply.body);
            if coding.is_some() {
                self.reply.body.extend_from_slice(model.prose(tail));
            } else {
                self.reply.tail = tail;
            }
            if let Some(coding) = coding
                && let Some(encoded) = coding.encode(self.reply.content())
            {
                self.reply
                    .header("Content-Encoding", coding.name().as_bytes());
                self.reply.replace_content(&encoded);
            }
        }
        self.finish(request)
    }

    fn describe(&mut self, model: &Model, original: Place) {
        match model.charset(original).header {
            None => self.reply.header("Content-Type", b"text/html"),
            Some("utf-8") => self
                .reply
                .header("Content-Type", b"text/html; charset=utf-8"),
            Some(name) => {
                self.reply.header(
                    "Content-Type",
                    format!("text/html; charset={name}").as_bytes(),
                );
            }
        }
        if let Some(hint) = model.hint(original).filter(|hint| hint.in_header) {
            let agent = match hint.agent {
                Agent::Any => "",
                Agent::Gossamer => "gossamer: ",
                Agent::Other => "otherbot: ",
            };
            self.reply
                .header("X-Robots-Tag", format!("{agent}{}", hint.words).as_bytes());
        }
    }
}

/// The coding of a page that is served compressed where the client takes it; none for others.
fn coding(model: &Model, content: u32, page: u64, accepted: &[u8]) -> Option<Coding> {
    let mut draw = model.draw(Purpose::Encoding, content, page);
    if !draw.chance(model.options.compression) {
        return None;
    }
    let mut preferred = [Coding::Gzip, Coding::Brotli, Coding::Zstd];
    preferred.rotate_left(draw.below(3) as usize);
    Some(choose(accepted, preferred))
}

/// The entity tag and the time of the last change, where the page gives them.
fn validators(
    model: &Model,
    place: Place,
    original: Place,
    state: change::State,
    coding: Option<Coding>,
) -> (Option<String>, Option<f64>) {
    if model.options.validators == 0.0 {
        return (None, None);
    }
    let content = model.hosts.content(place.host);
    let mut draw = model.draw(Purpose::Validator, content, original.page);
    if !draw.chance(model.options.validators) {
        return (None, None);
    }
    let kind = draw.below(4);
    // A near duplicate differs from its original, so its tag does too.
    let near = if let Kind::NearDuplicate { .. } = model.kind(place) {
        place.page
    } else {
        0
    };
    let mark = draw.bits() ^ near.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let coding = coding.unwrap_or(Coding::Identity).name();
    let weak = if kind == 1 { "W/" } else { "" };
    let tag = format!("{weak}\"{mark:x}-{:x}-{coding}\"", state.version);
    match kind {
        0 | 1 => (Some(tag), None),
        2 => (None, Some(state.changed)),
        _ => (Some(tag), Some(state.changed)),
    }
}
