//! The rules by which names of ports are matched.

use std::collections::BTreeMap;
use std::fmt;
#[cfg(feature = "service")]
use std::sync::OnceLock;
use std::sync::{Arc, LazyLock};

use super::names;
#[cfg(any(test, feature = "service"))]
use crate::sha256::sha256;

/// The kinds of interfaces that devices name in several ways, in lower case, each with its abbreviation.
const USUAL: &[(&str, &str)] = &[
    ("appgigabitethernet", "ap"),
    ("bridge-aggregation", "bagg"),
    ("bundle-ether", "be"),
    ("eth", "et"),
    ("ethernet", "et"),
    ("fas", "fa"),
    ("fast", "fa"),
    ("fastethernet", "fa"),
    ("fge", "fo"),
    ("fivegigabitethernet", "fi"),
    ("for", "fo"),
    ("fortygigabitethernet", "fo"),
    ("fortygige", "fo"),
    ("fourhundredgigabitethernet", "fh"),
    ("fourhundredgige", "fh"),
    ("ge", "gi"),
    ("gig", "gi"),
    ("gigabitethernet", "gi"),
    ("gige", "gi"),
    ("hge", "hu"),
    ("hun", "hu"),
    ("hundredgigabitethernet", "hu"),
    ("hundredgige", "hu"),
    ("loop", "lo"),
    ("loopback", "lo"),
    ("m-gigabitethernet", "mge"),
    ("management", "ma"),
    ("managementethernet", "ma"),
    ("mg", "ma"),
    ("mgmt", "ma"),
    ("mgmteth", "ma"),
    ("port-channel", "po"),
    ("portchannel", "po"),
    ("route-aggregation", "ragg"),
    ("ser", "se"),
    ("serial", "se"),
    ("ten", "te"),
    ("ten-gigabitethernet", "te"),
    ("tengigabitethernet", "te"),
    ("tengige", "te"),
    ("tf", "twe"),
    ("tunnel", "tu"),
    ("twenty-fivegige", "twe"),
    ("twentyfivegigabitethernet", "twe"),
    ("twentyfivegige", "twe"),
    ("two", "tw"),
    ("twogigabitethernet", "tw"),
    ("vlan", "vl"),
    ("vlan-int", "vl"),
    ("vlan-interface", "vl"),
    ("vlanif", "vl"),
    ("wge", "twe"),
    ("xge", "te"),
    ("xgigabitethernet", "te"),
];

/// Maximum length of the name of a kind and of an abbreviation, in bytes of lower case.
const MAX_LENGTH: usize = 64;

/// Maximum number of kinds of interfaces.
const MAX_KINDS: usize = 1_000;

/// The rules by which names of ports are matched: kinds of interfaces, each with its abbreviation.
///
/// Neighbors name a port in another way than the device itself: `GigabitEthernet0/1` is `Gi0/1`. Two names are those of one
/// port if they are equal when their kinds are abbreviated. A host application overrides the usual rules for devices of
/// other vendors:
///
/// ```
/// use toposcope::discovery::reconcile::PortNames;
///
/// let names = PortNames::new();
/// assert_eq!(names.abbreviated("GigabitEthernet 0/1").unwrap(), "gi0/1");
/// assert_eq!(names.abbreviated("10GE1/0/1").unwrap(), "10ge1/0/1");
///
/// let names = names.with_kind("10GE", "xge")?.with_kind("XGigabitEthernet", "xge")?;
/// assert_eq!(names.abbreviated("10GE1/0/1"), names.abbreviated("XGigabitEthernet1/0/1"));
/// # Ok::<(), toposcope::discovery::reconcile::PortNamesError>(())
/// ```
///
/// [`Inventory::with_port_names`](crate::Inventory::with_port_names) sets them for discovery and topologies.
#[derive(Clone)]
pub struct PortNames(Arc<Kinds>);

#[derive(Clone, Default)]
struct Kinds {
    abbreviations: BTreeMap<Box<str>, Box<str>>,
    /// Whether the name of a kind has a digit, so that it does not end at the first one.
    have_digits: bool,
    /// The digest, once it has been asked for.
    #[cfg(feature = "service")]
    digest: OnceLock<Option<u128>>,
}

impl PortNames {
    /// Returns the usual rules.
    #[must_use]
    pub fn new() -> Self {
        static USUAL_NAMES: LazyLock<PortNames> = LazyLock::new(|| {
            let abbreviations = USUAL.iter().map(|(kind, short)| ((*kind).into(), (*short).into()));
            PortNames(Arc::new(Kinds { abbreviations: abbreviations.collect(), ..Kinds::default() }))
        });
        USUAL_NAMES.clone()
    }

    /// Returns rules without any kind: names are equal up to case and the space before the number.
    #[must_use]
    pub fn without_kinds() -> Self {
        Self(Arc::default())
    }

    /// Adds a kind of interfaces with its abbreviation, or gives a kind another one.
    ///
    /// A kind is the part of a name before its number, in any case. It may have digits itself, as `10GE` has: of
    /// several kinds that match, the longest counts. A kind that is its own abbreviation is not abbreviated.
    ///
    /// # Errors
    /// For a text that is empty, ends in a digit or has more than 64 bytes, and for more than 1,000 kinds.
    pub fn with_kind(self, kind: &str, abbreviation: &str) -> Result<Self, PortNamesError> {
        let (kind, abbreviation) = (text_of(kind)?, text_of(abbreviation)?);
        let mut kinds = self.0;
        let table = Arc::make_mut(&mut kinds);
        table.have_digits |= kind.bytes().any(|byte| byte.is_ascii_digit());
        table.abbreviations.insert(kind, abbreviation);
        #[cfg(feature = "service")]
        table.digest.take();
        if table.abbreviations.len() > MAX_KINDS {
            return Err(PortNamesError::TooMany);
        }
        Ok(Self(kinds))
    }

    /// Returns the kinds of interfaces, each with its abbreviation, in lower case and sorted.
    pub fn kinds(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.abbreviations.iter().map(|(kind, short)| (&**kind, &**short))
    }

    /// Returns the name of a port in lower case with the abbreviation of its kind; `None` for a blank text.
    #[must_use]
    pub fn abbreviated(&self, name: &str) -> Option<String> {
        let mut name = names::trimmed(name)?.to_lowercase();
        let is_digit = |character: char| character.is_ascii_digit();
        let digits = name.find(is_digit).unwrap_or(name.len());
        let kind = name.get(..digits)?.trim_end();
        let found = match self.0.have_digits {
            true => self.longest_kind(&name),
            false => self.0.abbreviations.get(kind).map(|short| (digits, &**short)),
        };
        match found {
            Some((end, short)) => name.replace_range(..end, short),
            None => name.replace_range(kind.len()..digits, ""),
        }
        Some(name)
    }

    /// Returns the abbreviation of the longest kind that a name begins with, and where its number begins.
    fn longest_kind(&self, name: &str) -> Option<(usize, &str)> {
        let mut ends = Vec::new();
        let mut is_within = false;
        for (place, character) in name.char_indices().take_while(|(place, _)| *place <= 2 * MAX_LENGTH) {
            if character.is_ascii_digit() && !is_within {
                ends.push(place);
            }
            is_within = character.is_ascii_digit();
        }
        if ends.is_empty() {
            ends.push(name.len());
        }
        ends.into_iter().rev().find_map(|end| {
            let short = self.0.abbreviations.get(name.get(..end)?.trim_end())?;
            Some((end, &**short))
        })
    }

    /// Returns a number that differs for different rules; `None` for the usual ones.
    #[cfg(feature = "service")]
    pub(crate) fn digest(&self) -> Option<u128> {
        *self.0.digest.get_or_init(|| {
            if *self == Self::new() {
                return None;
            }
            // No text has a control character.
            let table: String =
                self.kinds().map(|(kind, short)| format!("{kind}\u{1}{short}\u{2}")).collect();
            sha256(table.as_bytes()).first_chunk().map(|bytes| u128::from_be_bytes(*bytes))
        })
    }
}

impl PartialEq for PortNames {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.abbreviations == other.0.abbreviations
    }
}

impl Eq for PortNames {}

impl fmt::Debug for PortNames {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self.kinds()).finish()
    }
}

/// The usual rules.
impl Default for PortNames {
    fn default() -> Self {
        Self::new()
    }
}

/// The error for an invalid rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PortNamesError {
    /// A text is blank, has a control character, ends in a digit or has more than 64 bytes.
    #[error("a kind of ports and its abbreviation have 1 to 64 bytes, and no digit at the end")]
    Text,
    /// There are more than 1,000 kinds.
    #[error("there are more than 1,000 kinds of ports")]
    TooMany,
}

/// Returns a text as it is compared.
fn text_of(text: &str) -> Result<Box<str>, PortNamesError> {
    let text = names::trimmed(text).map(str::to_lowercase).unwrap_or_default();
    let is_odd = text.is_empty()
        || text.len() > MAX_LENGTH
        || text.contains(char::is_control)
        || text.ends_with(|last: char| last.is_ascii_digit());
    if is_odd { Err(PortNamesError::Text) } else { Ok(text.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_names_are_those_by_which_stored_neighbors_were_found() {
        // Stores remember no digest of them. With others, `NEIGHBOR_FORM` of `inventory/hosts/upgrade.rs` must increase.
        let table: String = USUAL.iter().map(|(kind, short)| format!("{kind}={short} ")).collect();
        let digest: String =
            sha256(table.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digest, "b8f574fe5754c419");
        assert!(USUAL.is_sorted());
    }
}
