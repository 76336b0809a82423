//! Bounded text with white space collapsed: anchor texts and titles.

/// A text that grows to a limit and no further.
#[derive(Debug)]
pub struct Collapsed {
    text: String,
    most: usize,
    /// White space was met since the last word.
    space: bool,
    /// A word did not fit: nothing behind it is taken.
    full: bool,
}

impl Collapsed {
    /// An empty text of at most `most` bytes.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Collapsed {
            text: String::new(),
            most,
            space: false,
            full: false,
        }
    }

    /// Appends `more`, as far as it fits; cut between characters.
    pub fn push(&mut self, more: &str) {
        let mut rest = more;
        while !self.full && !rest.is_empty() {
            let word_at = rest.find(|c: char| !is_blank(c)).unwrap_or(rest.len());
            self.space |= word_at > 0;
            rest = &rest[word_at..];
            let end = rest.find(is_blank).unwrap_or(rest.len());
            if end > 0 {
                self.word(&rest[..end]);
            }
            rest = &rest[end..];
        }
    }

    /// What comes next is another word.
    pub fn end_word(&mut self) {
        self.space = true;
    }

    fn word(&mut self, word: &str) {
        if self.space && !self.text.is_empty() && self.text.len() < self.most {
            self.text.push(' ');
        }
        self.space = false;
        let room = self.most - self.text.len();
        let fits = super::extract::cut(word, room);
        self.text.push_str(fits);
        self.full = fits.len() < word.len();
    }

    #[must_use]
    pub fn text(&self) -> &str {
        self.text.trim_end_matches(' ')
    }

    #[must_use]
    pub fn into_text(self) -> String {
        let length = self.text().len();
        let mut text = self.text;
        text.truncate(length);
        text
    }

    /// Empties the text; its memory is kept.
    pub fn clear(&mut self) {
        self.text.clear();
        self.space = false;
        self.full = false;
    }
}

/// White space and controls; a zero byte has no place in a text either.
fn is_blank(c: char) -> bool {
    c <= ' ' || c == '\u{a0}'
}
