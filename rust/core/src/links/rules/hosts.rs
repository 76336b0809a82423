//! Host names and domains by hash: one look-up for each label of a name, however many names there are.

use ahash::AHashMap;

/// What belongs to names.
#[derive(Clone, Debug)]
pub(crate) struct Names<T>(AHashMap<Box<str>, T>);

impl<T> Default for Names<T> {
    fn default() -> Names<T> {
        Names(AHashMap::new())
    }
}

impl<T> Names<T> {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.get(name)
    }

    /// What belongs to the name and to each name above it, the longest first.
    pub fn above<'a>(&'a self, hostname: &'a str) -> impl Iterator<Item = &'a T> {
        let mut rest = Some(hostname);
        std::iter::from_fn(move || {
            let name = rest?;
            rest = name.split_once('.').map(|(_, parent)| parent);
            Some(self.0.get(name))
        })
        .flatten()
    }
}

impl<T: Default> Names<T> {
    /// What belongs to the name, made if there is nothing yet.
    pub fn entry(&mut self, name: &str) -> &mut T {
        self.0.entry(name.into()).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_what_the_names_above_it_have() {
        let mut names = Names::<u8>::default();
        for (name, value) in [("example.org", 1), ("www.example.org", 2), ("org", 3)] {
            *names.entry(name) = value;
        }
        let above = |name: &str| names.above(name).copied().collect::<Vec<u8>>();
        assert_eq!(above("a.www.example.org"), [2, 1, 3]);
        assert_eq!(above("notexample.org"), [3]);
        assert!(above("127.0.0.1").is_empty());
        assert_eq!(names.get("example.org"), Some(&1));
    }
}
