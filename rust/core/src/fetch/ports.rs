//! Ports that belong to other services: the list of "bad ports" of the WHATWG Fetch standard.
//!
//! A link can name any port, and some services act on the lines of an HTTP request as if they were
//! theirs. So nothing is sent there, whatever the address.

/// In ascending order.
const BAD: [u16; 82] = [
    1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
    103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
    512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
    995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668,
    6669, 6679, 6697, 10080,
];

/// Whether no web server is asked at this port. Port 0 is no port at all.
pub(super) fn is_bad(port: u16) -> bool {
    port == 0 || BAD.binary_search(&port).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{BAD, is_bad};

    #[test]
    fn ports_of_mail_and_of_the_web() {
        assert!(BAD.is_sorted());
        for port in [0, 1, 22, 25, 6667, 10080] {
            assert!(is_bad(port), "{port}");
        }
        for port in [80, 81, 443, 8000, 8080, 8443, 10081, 65535] {
            assert!(!is_bad(port), "{port}");
        }
    }
}
