//! Keys and records as a crawl's frontier writes them (`frontier/queued.rs` of the core).
//!
//! ```text
//! key of a queued URL    host key (8) ++ band (1) ++ seq (8)
//! record of a queued URL version, flags, score (2), tries, free tries, depth, referrer, path
//! key of a host          host key (8)
//! ```

/// Bytes of a queued URL's key.
pub const QUEUE_KEY: usize = 17;
/// The key of a queued URL.
pub type QueueKey = [u8; QUEUE_KEY];
/// The key of a host.
pub type HostKey = [u8; 8];

/// The band of start pages.
const FIRST_BAND: u8 = 0;
/// The band of all other URLs.
const BAND: u8 = 3;
/// The band byte of URLs that wait for a time; there are none here, it ends a host's ready ones.
const WAITING: u8 = 0xff;

/// Bytes of a host's record.
const HOST_RECORD: usize = 100;
/// Version, flags, score, tries, free tries and depth.
const HEADER: usize = 7;

/// A bijection on 64 bits that looks random: host keys are hashes of names.
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The key of a host, by its number.
pub fn host_key(host: u32) -> HostKey {
    mixed(u64::from(host)).to_be_bytes()
}

/// The key of the `nth` URL that came to a host: the start page first, then in order of coming.
pub fn queue_key(host: u32, nth: u32) -> QueueKey {
    let mut key = [0; QUEUE_KEY];
    key[..8].copy_from_slice(&host_key(host));
    key[8] = if nth == 0 { FIRST_BAND } else { BAND };
    key[9..].copy_from_slice(&u64::from(nth).to_be_bytes());
    key
}

/// The end, exclusive, of the ready URLs of the host that `key` belongs to.
pub fn queue_end(key: &QueueKey) -> [u8; 9] {
    let mut end = [WAITING; 9];
    end[..8].copy_from_slice(&key[..8]);
    end
}

/// Two bytes by which a record shows whose it is. They stand where a score stands.
fn score(host: u32, nth: u32) -> [u8; 2] {
    let bytes = mixed((u64::from(host) << 32) | u64::from(nth)).to_le_bytes();
    [bytes[0], bytes[1]]
}

/// The record of a host's `nth` URL.
pub fn queued(host: u32, nth: u32, from: &str, path: &str) -> Vec<u8> {
    const VERSION: u8 = 2;
    const HTTPS: u8 = 1;
    let [high, low] = score(host, nth);
    let mut record = Vec::with_capacity(HEADER + 2 + from.len() + path.len());
    let depth = if nth == 0 { 0 } else { 3 };
    record.extend_from_slice(&[VERSION, HTTPS, high, low, 0, 0, depth]);
    // As a number of 7 bits a byte, low ones first: no referrer here has 2^14 bytes.
    let length = from.len();
    if length < 0x80 {
        record.push(length as u8);
    } else {
        record.extend_from_slice(&[(length & 0x7f) as u8 | 0x80, (length >> 7) as u8]);
    }
    record.extend_from_slice(from.as_bytes());
    record.extend_from_slice(path.as_bytes());
    record
}

/// The path in a record, if it is the record of that host's `nth` URL.
pub fn path_of(record: &[u8], host: u32, nth: u32) -> Option<&str> {
    if record.get(2..4)? != score(host, nth) {
        return None;
    }
    let first = usize::from(*record.get(HEADER)?);
    let path = if first < 0x80 {
        record.get(HEADER + 1 + first..)?
    } else {
        let length = (first & 0x7f) | (usize::from(*record.get(HEADER + 1)?) << 7);
        record.get(HEADER + 2 + length..)?
    };
    std::str::from_utf8(path)
        .ok()
        .filter(|path| path.starts_with('/'))
}

/// The record of a host: its name, the ends of its queue, and numbers that change with each visit.
pub fn host(host: u32, taken: u32, end: u32) -> Vec<u8> {
    let mut record = Vec::with_capacity(HOST_RECORD);
    let visit = mixed((u64::from(host) << 32) | u64::from(taken));
    for number in [
        u64::from(end),
        u64::from(taken),
        visit,
        visit.rotate_left(32),
    ] {
        record.extend_from_slice(&number.to_le_bytes());
    }
    record.extend_from_slice(format!("www.site{host}.example").as_bytes());
    record.resize(HOST_RECORD, 0);
    record
}

/// Scheme and authority of a host.
pub fn site(host: u32) -> String {
    format!("https://www.site{host}.example")
}
