//! Bytes without a pattern, the same at each run, so that a failure comes back.

/// A small deterministic generator (SplitMix64). What must be unpredictable is the codec's own.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which is not zero.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        // The remainder is below a usize, and a usize fits.
        (self.next() % (limit as u64)) as usize
    }

    pub(crate) fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Vec<u8> {
        let words = (0..length.div_ceil(8)).map(|_| self.next().to_le_bytes());
        let mut bytes: Vec<u8> = words.flatten().collect();
        bytes.truncate(length);
        bytes
    }

    /// 32 bytes: a key.
    pub(crate) fn key(&mut self) -> [u8; 32] {
        std::array::from_fn(|_| self.byte())
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
