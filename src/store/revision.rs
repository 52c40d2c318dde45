/// In which state the records of one kind and organization are: as long as it is the same, so are they.
///
/// It tells nothing else. Which of two comes first cannot be seen, and what a store gives may be another after it was opened
/// anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Revision(u128);

impl Revision {
    /// For the backend that tells it: a number that it gives to no other state of the same records, also not after a restart.
    #[must_use]
    pub const fn new(number: u128) -> Self {
        Self(number)
    }

    /// The number.
    #[must_use]
    pub const fn number(self) -> u128 {
        self.0
    }
}
