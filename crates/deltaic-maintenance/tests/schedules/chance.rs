//! Chance that repeats: numbers, picks and names that follow from a seed.

use std::sync::{Mutex, PoisonError};

use deltaic_log::Ids;

/// Numbers from a seed (SplitMix64).
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// The numbers of one stream of a seed; streams of one seed have nothing to do with each other.
    pub fn new(seed: u64, stream: u64) -> Chance {
        let mut first = Chance(seed ^ stream.wrapping_mul(0xD1B5_4A32_D192_ED03));
        first.next();
        first
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// True so many times in a thousand.
    pub fn permille(&mut self, permille: usize) -> bool {
        self.below(1000) < permille
    }

    /// One of several.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// One of several by their weights.
    pub fn weighted<T: Copy>(&mut self, of: &[(usize, T)]) -> T {
        let mut at = self.below(of.iter().map(|(weight, _)| weight).sum());
        for (weight, value) in of {
            match at.checked_sub(*weight) {
                None => return *value,
                Some(rest) => at = rest,
            }
        }
        of[0].1
    }

    /// A UUID.
    pub fn uuid(&mut self) -> uuid::Uuid {
        let bits = u128::from(self.next()) << 64 | u128::from(self.next());
        uuid::Builder::from_u128(bits)
            .with_version(uuid::Version::Random)
            .with_variant(uuid::Variant::RFC4122)
            .into_uuid()
    }
}

/// The names and pauses of a writer.
#[derive(Debug)]
pub struct SeededIds(Mutex<Chance>);

impl SeededIds {
    /// Those of a stream.
    pub fn new(chance: Chance) -> SeededIds {
        SeededIds(Mutex::new(chance))
    }
}

impl Ids for SeededIds {
    fn uuid(&self) -> String {
        let mut chance = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        chance.uuid().to_string()
    }

    fn below(&self, bound: u64) -> u64 {
        let mut chance = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if bound == 0 { 0 } else { chance.next() % bound }
    }
}
