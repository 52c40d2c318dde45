//! API keys and session ids, and the digests that are stored of them.

use std::fmt;

use base64ct::{Base64UrlUnpadded, Encoding};
use ctutils::CtEq;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::random::{RandomError, RandomSource};

use crate::invariant::Invariant;

/// The digits of base 62 in ascending order, and the alphabet of the random characters.
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// The place values of the checksum's base-62 digits. Six digits hold any 32-bit number.
const WEIGHTS: [u32; 6] = [916_132_832, 14_776_336, 238_328, 3_844, 62, 1];
const RANDOM_LENGTH: usize = 32;

/// The kind of an API key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum KeyKind {
    /// A user's key, with the prefix `topo_u_`.
    User,
    /// A discovery daemon's key, with the prefix `topo_d_`.
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

/// An API key in plain text.
///
/// It consists of the prefix of its [kind](KeyKind), 32 random characters of `0-9A-Za-z` (190 bits), and a checksum
/// of 6 characters: the CRC-32 of everything before it, in base 62, most significant digit first. The checksum is not
/// secret. It rejects a mistyped key before any look-up and lets secret scanners recognize real keys.
pub(crate) struct KeyText {
    kind: KeyKind,
    text: String,
}

impl KeyText {
    /// Generates a new key. Fails if the random source fails, or if its bytes are clearly not random.
    pub(crate) fn generate(kind: KeyKind, random: &dyn RandomSource) -> Result<Self, RandomError> {
        // Rejection sampling: six bits of a byte select a character, and the values 62 and 63 are discarded. More
        // than half of 64 bytes are discarded with a probability of 10^-31.
        let mut bytes = [0; 2 * RANDOM_LENGTH];
        random.fill(&mut bytes)?;
        let characters =
            bytes.iter().filter_map(|byte| ALPHABET.get(usize::from(byte & 63))).copied().map(char::from);
        let mut text = kind.prefix().to_owned();
        text.extend(characters.take(RANDOM_LENGTH));
        if text.len() != kind.prefix().len() + RANDOM_LENGTH {
            return Err(RandomError::new("the bytes of the random source are not random"));
        }
        text.extend(checksum(&text));
        Ok(Self { kind, text })
    }

    /// Parses a key. Returns `None` if the prefix, the length, a character or the checksum is wrong.
    ///
    /// A well-formed key need not exist.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (kind, rest) = [KeyKind::User, KeyKind::Daemon]
            .into_iter()
            .find_map(|kind| text.strip_prefix(kind.prefix()).map(|rest| (kind, rest)))?;
        let is_well_formed = rest.len() == RANDOM_LENGTH + WEIGHTS.len()
            && rest.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let (before, digits) = text.split_at_checked(kind.prefix().len() + RANDOM_LENGTH)?;
        (is_well_formed && checksum(before).eq(digits.chars())).then(|| Self { kind, text: text.to_owned() })
    }

    /// Returns the kind of the key.
    pub(crate) const fn kind(&self) -> KeyKind {
        self.kind
    }

    /// Returns the plain text, for the one response that contains it. It must never be logged or stored.
    pub(crate) fn expose(&self) -> &str {
        &self.text
    }

    /// Returns the digest that is stored of the key.
    pub(crate) fn digest(&self) -> SecretDigest {
        SecretDigest::of(&self.text)
    }

    /// Returns the key in masked form: the prefix, `…` and the last 4 characters.
    pub(crate) fn masked(&self) -> String {
        let end =
            self.text.len().checked_sub(4).and_then(|start| self.text.get(start..)).asserted_or_default();
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

/// The id of a session in plain text, as in the browser's cookie.
///
/// It consists of 256 random bits in base64url without padding: 43 characters.
pub(crate) struct SessionId(String);

impl SessionId {
    /// Generates the id of a new session.
    pub(crate) fn generate(random: &dyn RandomSource) -> Result<Self, RandomError> {
        let mut bytes = [0; 32];
        random.fill(&mut bytes)?;
        Ok(Self(Base64UrlUnpadded::encode_string(&bytes)))
    }

    /// Parses an id. Returns `None` if the text does not encode 256 bits.
    ///
    /// The session of a well-formed id need not exist.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        let decoded = Base64UrlUnpadded::decode(text, &mut bytes).ok()?;
        (decoded.len() == 32).then(|| Self(text.to_owned()))
    }

    /// Returns the plain text, for the cookie. It must never be logged or stored.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// Returns the digest that is stored of the id.
    pub(crate) fn digest(&self) -> SecretDigest {
        SecretDigest::of(&self.0)
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SessionId(..)")
    }
}

/// The SHA-256 digest of an API key or a session id.
///
/// Only this digest is stored. Unlike passwords, these secrets do not need a slow hash: they have at least 190 random
/// bits, which cannot be guessed.
///
/// The two halves have different uses. The index of a store does not compare in constant time, so over many attempts
/// its timing could reveal how much of a guess is correct. A record is therefore looked up by the first half alone,
/// and the second half is compared in constant time.
#[derive(Clone, Copy)]
pub(crate) struct SecretDigest {
    lookup: [u8; 16],
    verifier: [u8; 16],
}

impl SecretDigest {
    pub(super) fn of(text: &str) -> Self {
        let (mut lookup, mut verifier) = ([0; 16], [0; 16]);
        for (half, byte) in lookup.iter_mut().chain(&mut verifier).zip(Sha256::digest(text)) {
            *half = byte;
        }
        Self { lookup, verifier }
    }

    /// Returns the first half, by which the record is looked up in a store.
    pub(crate) const fn lookup(&self) -> [u8; 16] {
        self.lookup
    }

    /// Returns the second half, which verifies the record that was found.
    pub(crate) const fn verifier(&self) -> Verifier {
        Verifier(self.verifier)
    }
}

impl fmt::Debug for SecretDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SecretDigest(..)")
    }
}

/// The half of a [`SecretDigest`] that is compared in constant time.
///
/// It does not implement `PartialEq`, whose comparison would not be constant-time. Serde represents it as its 16
/// bytes.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Verifier([u8; 16]);

impl Verifier {
    /// Returns whether both belong to the same secret, in constant time.
    pub(crate) fn matches(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).to_bool()
    }
}

impl fmt::Debug for Verifier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Verifier(..)")
    }
}
