//! The shapes of paths as pieces: a path is `/`, a first, a middle and a last part, the page's
//! number and an ending, each taken from a table. Which they are follows from one draw.

use super::sheet::{Pen, Piece};

/// First directories of pages that others hang below. Robots rules never name them.
pub const STEM_WORDS: [&str; 8] = [
    "news", "topics", "guide", "team", "archive", "region", "series", "index",
];
/// First directories of all other pages; robots rules choose among them.
pub const LEAF_WORDS: [&str; 12] = [
    "story", "item", "photo", "review", "private", "draft", "member", "event", "note", "recipe",
    "album", "report",
];
pub const WORDS: [&str; 24] = [
    "amber", "birch", "cedar", "delta", "ember", "flint", "grove", "heath", "islet", "juniper",
    "knoll", "linden", "meadow", "north", "ochre", "prairie", "quartz", "river", "stone",
    "thicket", "upland", "valley", "willow", "zephyr",
];

/// What a shape puts before and after the number. The tables are small, to stay in the first cache.
struct Template {
    /// Stands behind the first directory; where `list`, instead of it.
    first: &'static str,
    list: bool,
    /// Which group of `MIDDLE` the middle and the last word come from.
    middle: [usize; 2],
    /// Where in `ENDING` the ending is.
    ending: usize,
}

const fn template(first: &'static str, middle: [usize; 2], ending: usize) -> Template {
    Template {
        first,
        list: false,
        middle,
        ending,
    }
}

const LISTED: Template = Template {
    first: "list.php?page=",
    list: true,
    middle: [NONE; 2],
    ending: 0,
};

// Groups of `MIDDLE`: no word, a word and a slash, a word and a hyphen.
const NONE: usize = 0;
const SLASH: usize = 1;
const HYPHEN: usize = 2;

/// Endings without a word, then those with one, with the ampersand plain and escaped.
const ENDINGS: [&str; 4] = ["", ".html", "/", ".htm"];
const CATEGORY: usize = ENDINGS.len();

/// Four shapes of stems, eight of leaves, and that of a start page.
static TEMPLATES: [Template; 13] = SHAPES;
const SHAPES: [Template; 13] = [
    template("/p", [NONE, NONE], 1),
    template("/", [SLASH, NONE], 2),
    LISTED,
    template("-", [NONE, NONE], 0),
    template("/p", [NONE, NONE], 1),
    template("/", [SLASH, NONE], 1),
    template("/", [SLASH, NONE], 2),
    template("/view?id=", [NONE, NONE], CATEGORY),
    template("/", [HYPHEN, HYPHEN], 0),
    template("/", [SLASH, SLASH], 3),
    LISTED,
    template("/caf%C3%A9-", [SLASH, NONE], 0),
    Template {
        first: "",
        ..LISTED
    },
];
const LEAVES: usize = 4;
const START: usize = 12;

/// By shape and first directory.
static FIRST: [[Piece<32>; 12]; 13] = {
    let mut all = [[Piece::EMPTY; 12]; 13];
    let mut at = 0;
    while at < 13 * 12 {
        let (shape, word) = (at / 12, at % 12);
        let directory = if SHAPES[shape].list {
            ""
        } else if shape < LEAVES {
            STEM_WORDS[word % STEM_WORDS.len()]
        } else {
            LEAF_WORDS[word]
        };
        all[shape][word] = Piece::join(&[directory, SHAPES[shape].first]);
        at += 1;
    }
    all
};

/// By group and word.
static MIDDLE: [[Piece<16>; 24]; 3] = {
    let mut all = [[Piece::EMPTY; 24]; 3];
    let mut word = 0;
    while word < WORDS.len() {
        all[SLASH][word] = Piece::join(&[WORDS[word], "/"]);
        all[HYPHEN][word] = Piece::join(&[WORDS[word], "-"]);
        word += 1;
    }
    all
};

static ENDING: [Piece<32>; CATEGORY + 2 * 24] = {
    let mut all = [Piece::EMPTY; CATEGORY + 2 * 24];
    let mut at = 0;
    while at < all.len() {
        all[at] = if at < CATEGORY {
            Piece::join(&[ENDINGS[at]])
        } else if at < CATEGORY + 24 {
            Piece::join(&["&cat=", WORDS[at - CATEGORY]])
        } else {
            Piece::join(&["&amp;cat=", WORDS[at - CATEGORY - 24]])
        };
        at += 1;
    }
    all
};

/// The query of a list's page as a link from another page of the list.
static QUERY: Piece<32> = Piece::join(&["?page="]);

/// A page's path, taken apart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    page: u64,
    shape: usize,
    directory: usize,
    words: [usize; 2],
}

impl Shape {
    /// The shape of a page that follows from the bits of its draw.
    #[inline(always)]
    pub fn new(page: u64, structural: bool, bits: u64) -> Shape {
        let high = (bits >> 8) as usize;
        let (shape, directory) = if structural {
            (bits as usize % LEAVES, high % STEM_WORDS.len())
        } else {
            (LEAVES + bits as usize % 8, high % LEAF_WORDS.len())
        };
        Shape {
            page,
            shape: if page == 0 { START } else { shape },
            directory,
            words: [16, 24].map(|shift: u32| (bits >> shift) as usize % WORDS.len()),
        }
    }

    /// The path is `/list.php?page=N`.
    #[inline]
    pub fn is_list(self) -> bool {
        self.shape == 2 || self.shape == 10
    }

    /// Writes the path but its first slash.
    #[inline(always)]
    pub fn write(self, escaped: bool, pen: &mut Pen<'_>) {
        pen.put(&FIRST[self.shape][self.directory]);
        self.write_rest(escaped, pen);
    }

    /// Writes the query of a list's page alone.
    pub fn write_query(self, pen: &mut Pen<'_>) {
        pen.put(&QUERY);
        self.write_rest(false, pen);
    }

    #[inline(always)]
    fn write_rest(self, escaped: bool, pen: &mut Pen<'_>) {
        let [middle, last] = self.middle();
        pen.put(middle);
        pen.put(last);
        pen.put_number(self.page);
        pen.put(self.ending(escaped));
    }

    /// Appends the path, its first slash too.
    pub fn append(self, out: &mut Vec<u8>) {
        let [middle, last] = self.middle();
        out.push(b'/');
        out.extend_from_slice(FIRST[self.shape][self.directory].text());
        out.extend_from_slice(middle.text());
        out.extend_from_slice(last.text());
        if self.page > 0 {
            super::path::push_number(out, self.page);
        }
        out.extend_from_slice(self.ending(false).text());
    }

    #[inline(always)]
    fn middle(self) -> [&'static Piece<16>; 2] {
        let [middle, last] = TEMPLATES[self.shape].middle;
        [&MIDDLE[middle][self.words[0]], &MIDDLE[last][self.words[1]]]
    }

    #[inline(always)]
    fn ending(self, escaped: bool) -> &'static Piece<32> {
        let ending = TEMPLATES[self.shape].ending;
        let word = self.words[0] + usize::from(escaped) * WORDS.len();
        &ENDING[ending + word * usize::from(ending == CATEGORY)]
    }
}
