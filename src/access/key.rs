use std::fmt;

use super::{RandomError, RandomSource, SecretDigest};

/// Digits in ascending order; also the set of which the random characters are drawn.
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// The weight of each digit of the checksum; six hold any 32 bits.
const WEIGHTS: [u32; 6] = [916_132_832, 14_776_336, 238_328, 3_844, 62, 1];
const RANDOM_LENGTH: usize = 32;

/// Whose key it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// A user's: `topo_u_`.
    User,
    /// A discovery daemon's: `topo_d_`.
    Daemon,
}

impl KeyKind {
    const fn prefix(self) -> &'static str {
        match self {
            Self::User => "topo_u_",
            Self::Daemon => "topo_d_",
        }
    }
}

/// An API key in plain text, as its owner holds it.
///
/// The prefix of its [kind](KeyKind), 32 random characters of `0-9A-Za-z` (190 bits), and 6 more that are the CRC-32 of
/// everything before them, in base 62, most significant digit first. The checksum is no secret: it tells a mistyped or
/// invented key before anything is looked up, and secret scanners a true one from a lookalike.
///
/// ```
/// use toposcope::access::{KeyKind, KeyText, SystemRandom};
///
/// let key = KeyText::generate(KeyKind::User, &SystemRandom)?;
/// assert!(key.expose().starts_with("topo_u_"));
/// assert_eq!(key.masked().chars().count(), "topo_u_…aB3x".chars().count());
///
/// let presented = KeyText::parse(key.expose()).expect("it is well formed");
/// assert_eq!(presented.digest().lookup(), key.digest().lookup());
/// assert!(presented.digest().verifier().matches(&key.digest().verifier()));
/// # Ok::<(), toposcope::access::RandomError>(())
/// ```
pub struct KeyText {
    kind: KeyKind,
    text: String,
}

impl KeyText {
    /// A new key.
    ///
    /// # Errors
    /// When the source fails, or gives bytes that random ones could not be.
    pub fn generate(kind: KeyKind, random: &dyn RandomSource) -> Result<Self, RandomError> {
        // Six bits of a byte choose one of 62 characters and are thrown away where they are 62 or 63, so that all are
        // equally likely. That more than half of 64 bytes are thrown away happens once in 10^31 times.
        let mut bytes = [0; 2 * RANDOM_LENGTH];
        random.fill(&mut bytes)?;
        let drawn =
            bytes.iter().filter_map(|byte| ALPHABET.get(usize::from(byte & 63))).copied().map(char::from);
        let mut text = kind.prefix().to_owned();
        text.extend(drawn.take(RANDOM_LENGTH));
        if text.len() != kind.prefix().len() + RANDOM_LENGTH {
            return Err(RandomError::new("its bytes are not random"));
        }
        text.extend(checksum(&text));
        Ok(Self { kind, text })
    }

    /// A key as it was presented, or `None` when the text cannot be one: another prefix, length, character or checksum.
    /// Whether the key exists is another question.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, rest) = [KeyKind::User, KeyKind::Daemon]
            .into_iter()
            .find_map(|kind| text.strip_prefix(kind.prefix()).map(|rest| (kind, rest)))?;
        let well_formed = rest.len() == RANDOM_LENGTH + WEIGHTS.len()
            && rest.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let (before, digits) = text.split_at_checked(kind.prefix().len() + RANDOM_LENGTH)?;
        (well_formed && checksum(before).eq(digits.chars())).then(|| Self { kind, text: text.to_owned() })
    }

    /// Whose key it is.
    #[must_use]
    pub const fn kind(&self) -> KeyKind {
        self.kind
    }

    /// The key itself: for the one response that shows it, never for a log or a store.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.text
    }

    /// What is kept of the key.
    #[must_use]
    pub fn digest(&self) -> SecretDigest {
        SecretDigest::of(&self.text)
    }

    /// The key as it is shown from its second showing on: the prefix, `…` and the last 4 characters.
    #[must_use]
    pub fn masked(&self) -> String {
        let end = self.text.len().checked_sub(4).and_then(|start| self.text.get(start..)).unwrap_or_default();
        format!("{}…{end}", self.kind.prefix())
    }
}

fn checksum(text: &str) -> impl Iterator<Item = char> + use<> {
    let crc = crc32fast::hash(text.as_bytes());
    WEIGHTS.into_iter().filter_map(move |weight| {
        let digit = usize::try_from(crc / weight % 62).ok()?;
        ALPHABET.get(digit).copied().map(char::from)
    })
}

impl fmt::Debug for KeyText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "KeyText({}…)", self.kind.prefix())
    }
}
