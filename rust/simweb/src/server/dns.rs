//! A small name server for `hN.sim.test`: A records, NXDOMAIN for names that are not there.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Shared;

const TTL_SECONDS: u32 = 60;
const TYPE_A: u16 = 1;
const TYPE_ANY: u16 = 255;
const NO_SUCH_NAME: u8 = 3;
const REFUSED: u8 = 5;

/// Answers until told to stop.
pub(crate) fn answer_all(shared: &Shared, socket: &UdpSocket, stopped: &AtomicBool) {
    let mut buffer = [0u8; 1500];
    while !stopped.load(Ordering::Acquire) {
        // A time-out is the moment to look whether to stop.
        let Ok((length, client)) = socket.recv_from(&mut buffer) else {
            continue;
        };
        if let Some(answer) = answer(shared, &buffer[..length]) {
            let _ = socket.send_to(&answer, client);
        }
    }
}

/// The answer to a query of one question; nothing for what is no query.
fn answer(shared: &Shared, query: &[u8]) -> Option<Vec<u8>> {
    if query.len() < 12 || query[2] & 0x80 != 0 || query[4..6] != [0, 1] {
        return None;
    }
    let mut name = Vec::new();
    let mut at = 12;
    loop {
        let length = usize::from(*query.get(at)?);
        at += 1;
        if length == 0 {
            break;
        }
        if length > 63 || name.len() > 255 {
            return None;
        }
        if !name.is_empty() {
            name.push(b'.');
        }
        name.extend_from_slice(query.get(at..at + length)?);
        at += length;
    }
    let kind = u16::from_be_bytes(query.get(at..at + 2)?.try_into().ok()?);
    let question = query.get(12..at + 4)?;
    let hosts = &shared.model.hosts;
    let found = hosts.of_name(&name);
    let ours = name.to_ascii_lowercase().ends_with(b"sim.test");
    let code = match found {
        Some(_) => 0,
        None if ours => NO_SUCH_NAME,
        None => REFUSED,
    };
    let addresses = match found {
        Some(host) if kind == TYPE_A || kind == TYPE_ANY => hosts.addresses(host),
        _ => Vec::new(),
    };
    let mut out = Vec::with_capacity(64 + 16 * addresses.len());
    out.extend_from_slice(&query[..2]);
    // Response, authoritative, recursion desired as asked and available.
    out.extend_from_slice(&[0x84 | query[2] & 1, 0x80 | code, 0, 1]);
    out.extend_from_slice(&(addresses.len() as u16).to_be_bytes());
    out.extend_from_slice(&[0, 0, 0, 0]);
    out.extend_from_slice(question);
    for address in addresses {
        out.extend_from_slice(&[0xc0, 12, 0, 1, 0, 1]);
        out.extend_from_slice(&TTL_SECONDS.to_be_bytes());
        out.extend_from_slice(&[0, 4]);
        out.extend_from_slice(&address.octets());
    }
    Some(out)
}
