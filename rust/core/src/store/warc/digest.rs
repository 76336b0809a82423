//! SHA-1 digests in the spelling of WARC files: `sha1:` and 32 characters of base 32.

use sha1::{Digest as _, Sha1};

/// A SHA-1 digest.
pub type Digest = [u8; 20];

const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// The digest of `bytes`.
#[must_use]
pub fn sha1(bytes: &[u8]) -> Digest {
    Sha1::digest(bytes).into()
}

/// Appends `sha1:` and the digest in base 32.
pub(crate) fn push(out: &mut Vec<u8>, digest: &Digest) {
    out.extend_from_slice(b"sha1:");
    for group in digest.chunks_exact(5) {
        let bits = group.iter().fold(0u64, |bits, &b| bits << 8 | u64::from(b));
        for place in (0..8).rev() {
            out.push(ALPHABET[(bits >> (place * 5) & 31) as usize]);
        }
    }
}

/// `sha1:` and the digest in base 32.
#[must_use]
pub fn spelled(digest: &Digest) -> String {
    let mut out = Vec::with_capacity(37);
    push(&mut out, digest);
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{sha1, spelled};

    #[test]
    fn known_digests() {
        // The digest of nothing, as every WARC tool spells it.
        assert_eq!(spelled(&sha1(b"")), "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
        assert_eq!(
            spelled(&sha1(b"abc")),
            "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5"
        );
    }
}
