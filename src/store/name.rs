use std::fmt;

/// The short name of a record kind, a relation, a sort key or a unique key.
///
/// It has 1 to [`Name::MAX_LENGTH`] bytes of visible ASCII, stored inline, so that a name is as cheap to copy and to compare
/// as a number.
///
/// ```
/// use toposcope::store::Name;
///
/// const HOST: Name = Name::new("host");
/// assert_eq!(HOST.as_str(), "host");
/// assert_eq!(Name::parse("host"), Some(HOST));
/// assert_eq!(Name::parse("not a name"), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name([u8; Self::MAX_LENGTH]);

impl Name {
    /// Maximum length of a name, in bytes.
    pub const MAX_LENGTH: usize = 16;

    /// Creates a name from a constant.
    ///
    /// # Panics
    /// If the text is not a valid name. In a `const`, where this function belongs, that is a compile error.
    #[must_use]
    #[allow(clippy::panic, reason = "a constant that is not a valid name must not compile")]
    pub const fn new(text: &'static str) -> Self {
        match Self::from_bytes(text.as_bytes()) {
            Some(name) => name,
            None => panic!("a name must have 1 to 16 bytes of visible ASCII"),
        }
    }

    /// Parses a name. Returns `None` if the text is empty, too long, or not visible ASCII.
    #[must_use]
    pub const fn parse(text: &str) -> Option<Self> {
        Self::from_bytes(text.as_bytes())
    }

    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let length = self.0.iter().position(|byte| *byte == 0).unwrap_or(Self::MAX_LENGTH);
        self.0.get(..length).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    #[allow(clippy::indexing_slicing, reason = "both indices stay below the checked length")]
    const fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.is_empty() || bytes.len() > Self::MAX_LENGTH {
            return None;
        }
        let mut name = [0; Self::MAX_LENGTH];
        let mut index = 0;
        while index < bytes.len() {
            if !bytes[index].is_ascii_graphic() {
                return None;
            }
            name[index] = bytes[index];
            index += 1;
        }
        Some(Self(name))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", self.as_str())
    }
}
