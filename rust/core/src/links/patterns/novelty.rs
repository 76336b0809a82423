//! Novelty: how much of a page's text was not seen on its host before, and where the rest was.
//!
//! Takes samples of a page's text (hashes of runs of three words, the same ones wherever they stand; of a short page its
//! words); gives the share that is new, and whether what is known stands on one page that is much larger: a message
//! that is also in its thread is a page by itself, while a raw or printed view is a page once more, and a list is made of
//! many. Text that was seen first in a view of a page (`/ID/print` of `/ID/`) is still that page's own: the order in which
//! both were visited does not matter. Tables of fixed sizes, in memory only: what was seen long ago, or by another process, counts as new, which makes
//! us more patient.

/// Pages whose sizes are remembered, by the last bits of their number.
const PAGES: usize = 1 << 18;
/// Patterns that a page may be a view of.
pub(super) const BASES: usize = 9;
/// What stands on so many pages is their frame (navigation, licence), if there is so much text besides.
const FRAME: u8 = 8;
const TEXT: usize = 6;
/// Samples of new text from which a page has its whole novelty: some 64 words. A title in a form is not much of a page.
const MUCH: f32 = 8.0;
/// A page is part of another if ten times its samples are at most so many times those of the other …
const LARGER: usize = 25;
/// … and so many of ten of its samples stand there.
const MOST: usize = 6;

#[derive(Debug, Default)]
pub struct Novelty {
    known: Known,
    /// What is remembered of each page, by its number.
    pages: Vec<Page>,
    next: u32,
}

/// The patterns of a page, as far as they say whose text it shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Whose {
    pub pattern: u32,
    /// The patterns that it may be a view of; 0: none.
    pub bases: [u32; BASES],
}

#[derive(Clone, Copy, Debug, Default)]
struct Page {
    /// Samples of its text.
    size: u16,
    bases: [u32; BASES],
}

/// What is known of a page's text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Text {
    /// The share that is new on its host.
    pub fresh: f32,
    /// The rest is part of one larger page.
    pub is_part: bool,
}

impl Novelty {
    /// What is known of a page by its samples; `None`: it has no text. `is_page`: it is a page by its own right, whose
    /// text is known afterwards. A feed or a raw view does not make the page worthless that it was made of.
    pub fn of(&mut self, host: u64, samples: &[u32], is_page: bool, whose: Whose) -> Option<Text> {
        if samples.is_empty() {
            return None;
        }
        if self.pages.is_empty() {
            self.pages = vec![Page::default(); PAGES];
        }
        let page = self.next;
        self.next = self.next.wrapping_add(u32::from(is_page)) & PAGE_BITS;
        let (mut fresh, mut frame) = (0, 0);
        let mut known = Vec::with_capacity(samples.len());
        for sample in samples {
            let hash =
                (u64::from(*sample) ^ host.rotate_left(17)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let hash = (hash >> 32) as u32;
            match self.known.get(hash) {
                None if is_page => {
                    fresh += 1;
                    self.known.insert(hash, page);
                }
                None => {
                    // What is no page is compared with pages and with its kind.
                    let hash = hash.rotate_left(16) ^ NO_PAGE;
                    match self.known.get(hash) {
                        None => {
                            fresh += 1;
                            self.known.insert(hash, page);
                        }
                        // What stands in many files, such as a licence, is their frame.
                        Some(slot) => {
                            frame += usize::from(slot.pages() >= FRAME);
                            slot.count();
                        }
                    }
                }
                Some(slot) => {
                    let first = self.pages[slot.page() as usize % PAGES];
                    if slot.pages() >= FRAME {
                        frame += 1;
                    } else if is_page && whose.pattern != 0 && first.bases.contains(&whose.pattern)
                    {
                        fresh += 1;
                        slot.take(page);
                    } else if slot.page() != page {
                        known.push(slot.page());
                    }
                    if is_page {
                        slot.count();
                    }
                }
            }
        }
        // Of a page that is hardly more than its frame the frame is the text.
        let text = Some(samples.len() - frame).filter(|text| *text >= TEXT);
        let text = text.unwrap_or(samples.len());
        if is_page {
            self.pages[page as usize % PAGES] = Page {
                size: text.try_into().unwrap_or(u16::MAX),
                bases: whose.bases,
            };
        }
        let much = (samples.len() as f32).min(MUCH);
        Some(Text {
            fresh: fresh as f32 / (text as f32).max(much),
            is_part: is_page && self.is_part(&mut known, text),
        })
    }

    /// Whether most of the known samples stand on one page that is larger than this one of so many.
    fn is_part(&self, known: &mut [u32], samples: usize) -> bool {
        known.sort_unstable();
        let runs = known.chunk_by(|one, other| one == other);
        let Some(best) = runs.max_by_key(|run| run.len()) else {
            return false;
        };
        let page = best.first().map_or(0, |page| *page as usize % PAGES);
        let larger = usize::from(self.pages[page].size);
        best.len() * 10 >= samples * MOST && larger * 10 >= samples * LARGER
    }
}

/// Parts the samples of what is no page from those of pages.
const NO_PAGE: u32 = 0x5bd1_e995;
/// The bits of a page's number.
const PAGE_BITS: u32 = (1 << 24) - 1;
/// Slots at first and at most (8 bytes each): the samples of some hundred thousand pages.
const LEAST: usize = 1 << 16;
const LARGEST: usize = 1 << 23;
/// Slots that a sample may be in.
const NEAR: usize = 8;

/// A sample that is known: its hash, the page that had it first (24 bits) and how many had it (8 bits). All zero: free.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    hash: u32,
    page: u32,
}

impl Slot {
    fn page(self) -> u32 {
        self.page & PAGE_BITS
    }

    fn pages(self) -> u8 {
        (self.page >> 24) as u8
    }

    /// It is this page's.
    fn take(&mut self, page: u32) {
        self.page = page | u32::from(self.pages()) << 24;
    }

    fn count(&mut self) {
        self.page = self.page.saturating_add(1 << 24);
    }
}

/// A table that grows up to a bound; beyond it what was seen longest ago is forgotten.
#[derive(Debug, Default)]
struct Known {
    slots: Vec<Slot>,
    used: usize,
}

impl Known {
    fn near(&self, hash: u32) -> std::ops::Range<usize> {
        let bits = self.slots.len().trailing_zeros();
        let first = (u64::from(hash) << bits >> 32) as usize;
        let first = first.min(self.slots.len() - NEAR);
        first..first + NEAR
    }

    fn get(&mut self, hash: u32) -> Option<&mut Slot> {
        if self.slots.is_empty() {
            return None;
        }
        let near = self.near(hash);
        self.slots[near]
            .iter_mut()
            .find(|slot| slot.hash == hash && slot.page != 0)
    }

    fn insert(&mut self, hash: u32, page: u32) {
        if self.used * 3 >= self.slots.len() * 2 && self.slots.len() < LARGEST {
            self.grow();
        }
        let near = self.near(hash);
        // A free one, or the one of the oldest page.
        let slot = self.slots[near].iter_mut().min_by_key(|slot| {
            if slot.page == 0 {
                (0, 0)
            } else {
                (1, slot.page())
            }
        });
        if let Some(slot) = slot {
            self.used += usize::from(slot.page == 0);
            *slot = Slot {
                hash,
                page: page | 1 << 24,
            };
        }
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(LEAST);
        let old = std::mem::replace(&mut self.slots, vec![Slot::default(); size]);
        self.used = 0;
        for slot in old.into_iter().filter(|slot| slot.page != 0) {
            let near = self.near(slot.hash);
            if let Some(free) = self.slots[near].iter_mut().find(|slot| slot.page == 0) {
                *free = slot;
                self.used += 1;
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn text(fresh: f32, is_part: bool) -> Option<Text> {
        Some(Text { fresh, is_part })
    }

    const NOBODY: Whose = Whose {
        pattern: 1,
        bases: [0; BASES],
    };

    #[test]
    fn what_was_seen_in_a_view_first_is_still_the_pages() {
        let mut novelty = Novelty::default();
        let message = |of: u32| (0..20).map(move |n| (of * 100 + n) * 7_919);
        let thread: Vec<u32> = (0..4).flat_map(message).collect();
        let whose = |pattern, base| Whose {
            pattern,
            bases: [base, 0, 0, 0, 0, 0, 0, 0, 0],
        };
        let view = whose(7, 5);
        let page = whose(5, 2);
        assert_eq!(novelty.of(1, &thread, true, view), text(1.0, false));
        let message: Vec<u32> = message(2).collect();
        assert_eq!(novelty.of(1, &message, true, page), text(1.0, false));
        assert_eq!(novelty.of(1, &message, true, page), text(0.0, false));
        assert_eq!(novelty.of(1, &message, true, view), text(0.0, false));
    }

    #[test]
    fn what_was_seen_on_on_the_host_is_not_new() {
        let mut novelty = Novelty::default();
        let page: Vec<u32> = (0..60).map(|n| n * 7_919).collect();
        let other: Vec<u32> = (0..60).map(|n| n * 104_729 + 3).collect();
        assert_eq!(novelty.of(1, &page, true, NOBODY), text(1.0, false));
        assert_eq!(novelty.of(1, &page, true, NOBODY), text(0.0, false));
        assert_eq!(novelty.of(2, &page, true, NOBODY), text(1.0, false));
        let mixed = [&page[..30], &other[..30]].concat();
        assert_eq!(novelty.of(1, &mixed, true, NOBODY), text(0.5, false));
        assert_eq!(novelty.of(1, &[], true, NOBODY), None);
    }

    #[test]
    fn a_message_is_part_of_its_thread_and_a_list_is_made_of_many() {
        let mut novelty = Novelty::default();
        let message = |of: u32| (0..20).map(move |n| (of * 100 + n) * 7_919);
        let thread: Vec<u32> = (0..4).flat_map(message).collect();
        novelty.of(1, &thread, true, NOBODY);
        assert_eq!(
            novelty.of(1, &message(2).collect::<Vec<_>>(), true, NOBODY),
            text(0.0, true)
        );
        for alone in 10..14 {
            novelty.of(1, &message(alone).collect::<Vec<_>>(), true, NOBODY);
        }
        let list: Vec<u32> = (10..14).flat_map(|of| message(of).take(5)).collect();
        assert_eq!(novelty.of(1, &list, true, NOBODY), text(0.0, false));
        // Another view of a message that was seen by itself.
        assert_eq!(
            novelty.of(1, &message(11).collect::<Vec<_>>(), true, NOBODY),
            text(0.0, false)
        );
    }

    #[test]
    fn what_every_page_has_does_not_count_and_a_feed_takes_nothing_away() {
        let mut novelty = Novelty::default();
        let frame: Vec<u32> = (0..80).map(|n| n * 7_919).collect();
        let page = |of: u32| {
            let own = (0..10).map(|n| (of * 1_000 + n) * 104_729 + 1);
            frame.iter().copied().chain(own).collect::<Vec<_>>()
        };
        for of in 1..12 {
            novelty.of(1, &page(of), true, NOBODY);
        }
        assert_eq!(novelty.of(1, &page(20), false, NOBODY), text(1.0, false));
        assert_eq!(novelty.of(1, &page(20), false, NOBODY), text(0.0, false));
        assert_eq!(novelty.of(1, &page(20), true, NOBODY), text(1.0, false));
        assert_eq!(novelty.of(1, &page(20), true, NOBODY), text(0.0, false));
        assert_eq!(novelty.of(1, &frame, true, NOBODY), text(0.0, false));
    }
}
