//! The WARC records of a visit, ready to append.

use super::{Policies, Visited};
use crate::fetch::Response;
use crate::outcome::Outcome;
use crate::store::Original;
use crate::store::warc::{self, Digest, Member, Meta, RefersTo};

/// Response and request of a visit, and its outlinks where they are asked for.
pub(super) fn take_records(visited: &mut Visited, response: &Response, policies: &Policies) {
    let mut meta = Meta::new(visited.task.url.as_str(), visited.started);
    meta.ip = response.ip;
    meta.truncated = response
        .truncated
        .and_then(|why| warc::Truncated::from_name(why.warc_reason()?));
    let whole = response.wire_body == response.body;
    let payload = match visited.content {
        // Without a content coding the payload is the content: hashed once.
        Some(content) if whole => content,
        _ => warc::sha1(&response.wire_body),
    };
    visited.received = Some(payload);
    let whole = visited.terms.stored().is_none();
    let (body, written): (&[u8], Digest) = match visited.terms.stored() {
        None => (&response.wire_body, payload),
        Some("head") => {
            meta.truncated = Some(warc::Truncated::Unspecified);
            (&[], warc::sha1(&[]))
        }
        Some(_) => {
            visited.payload = Some(payload);
            return;
        }
    };
    visited.payload = Some(written);
    let head = response.response_head.as_bytes();
    let earlier = unchanged(visited, response, payload);
    // A record without a payload cannot be one with the same payload as another.
    let referred = earlier
        .as_ref()
        .filter(|earlier| whole || earlier.not_modified);
    let main = match referred {
        Some(earlier) => policies.builder.revisit(&meta, head, earlier),
        None => policies.builder.response_of(&meta, head, body, written),
    };
    let refers = referred.and_then(|earlier| earlier.payload_digest);
    let same = earlier.is_some();
    visited.members = with_companions(main, meta, &response.request_head, visited, policies);
    if same {
        visited.outcome = Outcome::NotModified;
    }
    visited.payload = refers.or(visited.payload);
}

/// The stored version of a page that is as it was at the last visit: the server says so, or the
/// payload is the same.
fn unchanged<'a>(
    visited: &'a Visited,
    response: &Response,
    payload: Digest,
) -> Option<RefersTo<'a>> {
    // What is stored in part is stored whole as soon as that is asked for.
    let wanted = visited.terms.stored().is_none();
    let earlier = visited.task.earlier.filter(|one| one.whole || !wanted)?;
    let not_modified = response.outcome == Outcome::NotModified;
    let same = response.outcome == Outcome::Fetched && payload == earlier.payload;
    (not_modified || same).then(|| RefersTo {
        uri: visited.task.url.as_str(),
        date: earlier.date,
        record_id: None,
        payload_digest: Some(earlier.payload),
        not_modified,
    })
}

/// The records of a visit whose payload is stored already: the response refers to that one.
pub(in crate::node) fn revisit_records(
    visited: &Visited,
    original: &Original,
    payload: Digest,
    policies: &Policies,
) -> Vec<Member> {
    let mut meta = Meta::new(visited.task.url.as_str(), visited.started);
    meta.ip = visited.ip;
    let earlier = RefersTo {
        uri: &original.url,
        date: original.date,
        record_id: None,
        payload_digest: Some(payload),
        not_modified: false,
    };
    let main = policies
        .builder
        .revisit(&meta, &visited.response_head, &earlier);
    with_companions(main, meta, &visited.request_head, visited, policies)
}

/// The main record, the request that led to it, and the links that were found.
fn with_companions(
    main: Member,
    meta: Meta<'_>,
    request_head: &[u8],
    visited: &Visited,
    policies: &Policies,
) -> Vec<Member> {
    let builder = &policies.builder;
    let meta = meta.concurrent_to(main.record_id);
    let request = builder.request(&meta, request_head);
    let links = (policies.outlinks_record && !visited.links.followed.is_empty()).then(|| {
        let links = visited.links.followed.iter();
        builder.metadata(&meta, links.map(|link| (link.url.as_str(), "followed")))
    });
    [Some(main), Some(request), links]
        .into_iter()
        .flatten()
        .collect()
}
