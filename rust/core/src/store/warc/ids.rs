//! Record ids: UUIDs of version 7, so that they sort by time and are unique across nodes.

use super::Micros;
use rand::rngs::SmallRng;
use rand::{RngCore, SeedableRng};
use std::cell::RefCell;

/// A record's id; written as `<urn:uuid:…>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecordId(pub [u8; 16]);

struct Source {
    process: u32,
    random: SmallRng,
}

thread_local! {
    // 256 bits of state from the operating system: two streams do not meet.
    static SOURCE: RefCell<Option<Source>> = const { RefCell::new(None) };
}

impl RecordId {
    /// A fresh id for a record of that date.
    #[must_use]
    pub fn new(date: Micros) -> Self {
        let random = SOURCE.with_borrow_mut(|slot| {
            // After a fork parent and child would draw the same numbers.
            let process = std::process::id();
            let source = match slot {
                Some(source) if source.process == process => source,
                _ => slot.insert(Source {
                    process,
                    random: SmallRng::from_os_rng(),
                }),
            };
            (source.random.next_u64(), source.random.next_u64())
        });
        let millis = date / 1000;
        let high = millis << 16 | 0x7000 | random.0 & 0x0fff;
        let low = 0x8000_0000_0000_0000 | random.1 >> 2;
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&high.to_be_bytes());
        bytes[8..].copy_from_slice(&low.to_be_bytes());
        RecordId(bytes)
    }

    /// Appends `<urn:uuid:…>`.
    pub(crate) fn push(self, out: &mut Vec<u8>) {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        out.extend_from_slice(b"<urn:uuid:");
        for (at, byte) in self.0.iter().enumerate() {
            if matches!(at, 4 | 6 | 8 | 10) {
                out.push(b'-');
            }
            out.push(HEX[usize::from(byte >> 4)]);
            out.push(HEX[usize::from(byte & 15)]);
        }
        out.push(b'>');
    }

    /// The id as it stands in a record: `<urn:uuid:…>`.
    #[must_use]
    pub fn spelled(self) -> String {
        let mut out = Vec::with_capacity(47);
        self.push(&mut out);
        String::from_utf8_lossy(&out).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::RecordId;
    use std::collections::HashSet;

    #[test]
    fn ids_are_unique_and_of_version_seven() {
        let mut seen = HashSet::new();
        for _ in 0..10_000 {
            let id = RecordId::new(1_700_000_000_000_000);
            assert_eq!(id.0[6] >> 4, 7);
            assert_eq!(id.0[8] >> 6, 2);
            assert!(seen.insert(id));
        }
        assert_eq!(RecordId([0; 16]).spelled().len(), 47);
    }
}
