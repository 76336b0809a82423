//! Links acknowledged lately, so that a popular one is not sent again and again. A table of fixed
//! size; a link may be forgotten, and is then sent once more, which is harmless.

#[derive(Debug)]
pub(super) struct Recent {
    slots: Vec<u64>,
    pub asked: u64,
    pub hits: u64,
}

impl Recent {
    pub fn new(entries: usize) -> Recent {
        Recent {
            slots: vec![0; entries.next_power_of_two()],
            asked: 0,
            hits: 0,
        }
    }

    fn slot(&self, hash: u64) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    pub fn has(&mut self, hash: u64) -> bool {
        self.asked += 1;
        let known = hash != 0 && self.slots[self.slot(hash)] == hash;
        self.hits += u64::from(known);
        known
    }

    pub fn add(&mut self, hash: u64) {
        let slot = self.slot(hash);
        self.slots[slot] = hash;
    }

    pub fn clear(&mut self) {
        self.slots.fill(0);
    }
}
