use std::fmt;

/// A short name: of a kind of record, of a relation, of a sort key, of a unique key.
///
/// At most [`Name::MAX_LENGTH`] bytes of visible ASCII, held inline, so that a name is as cheap to copy and to compare
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
    /// The longest name, in bytes.
    pub const MAX_LENGTH: usize = 16;

    /// A name written in the source.
    ///
    /// # Panics
    /// When the text is no name; in a `const`, where it belongs, that is an error of compilation.
    #[must_use]
    #[allow(clippy::panic, reason = "a constant that is no name must not compile")]
    pub const fn new(text: &'static str) -> Self {
        match Self::from_bytes(text.as_bytes()) {
            Some(name) => name,
            None => panic!("a name is 1 to 16 bytes of visible ASCII"),
        }
    }

    /// A name read back from a medium. `None` when the text is empty, too long, or not visible ASCII.
    #[must_use]
    pub const fn parse(text: &str) -> Option<Self> {
        Self::from_bytes(text.as_bytes())
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let length = self.0.iter().position(|byte| *byte == 0).unwrap_or(Self::MAX_LENGTH);
        self.0.get(..length).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    #[allow(clippy::indexing_slicing, reason = "both indices stay below the length that was checked")]
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
