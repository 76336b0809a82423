//! What host policies decided, until somebody takes it to tell people. Filled by answers at the door
//! `hosts`, emptied by [`super::super::Node::take_host_decisions`]; bound: [`MOST`]; beyond it decisions
//! are counted, and their hosts' records still have them.

/// Decisions that are kept.
const MOST: usize = 20;

/// A decision of a policy that changed something for a host or one of its URL patterns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostDecision {
    pub host: String,
    /// What was decided, in words.
    pub what: String,
    pub reason: String,
}

#[derive(Debug, Default)]
pub(in crate::node) struct HostNews {
    decisions: Vec<HostDecision>,
    left_out: u64,
}

impl HostNews {
    pub fn add(&mut self, host: &str, what: Vec<String>, reason: &str) {
        if self.decisions.len() >= MOST {
            self.left_out += 1;
            return;
        }
        self.decisions.push(HostDecision {
            host: host.to_owned(),
            what: what.join(", "),
            reason: reason.to_owned(),
        });
    }

    /// What there is, and how many more were not kept.
    pub fn take(&mut self) -> (Vec<HostDecision>, u64) {
        let left_out = std::mem::take(&mut self.left_out);
        (std::mem::take(&mut self.decisions), left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_is_counted() {
        let mut news = HostNews::default();
        for number in 0..MOST + 3 {
            let what = vec!["given up".to_owned(), "delay 5 s".to_owned()];
            news.add(&format!("{number}.test"), what, "nothing new");
        }
        let (kept, left_out) = news.take();
        assert_eq!((kept.len(), left_out), (MOST, 3));
        assert_eq!(kept[0].what, "given up, delay 5 s");
        assert_eq!(news.take(), (Vec::new(), 0));
    }
}
