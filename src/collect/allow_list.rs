use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::str::FromStr;

use ipnet::{IpNet, Ipv4Net};

/// Maximum number of entries. Every packet is compared with all of them.
const MAX_ENTRIES: usize = 4_096;

/// The ranges of which an address is only allowed by an entry that lies wholly within the range.
const SPECIAL_RANGES: [&str; 7] =
    ["0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "::1/128", "fe80::/10", "ff00::/8"];

/// The addresses that a collector may send packets to.
///
/// An entry allows the addresses of its prefix, with these exceptions:
/// - the first and the last address of an IPv4 prefix, unless an entry of 31 or 32 bits names it;
/// - loopback, link-local and multicast addresses, unless an entry lies wholly within their range;
/// - the unspecified address and `255.255.255.255`, always.
///
/// IPv4-mapped IPv6 addresses count as the IPv4 addresses that they stand for.
///
/// ```
/// use toposcope::collect::AllowList;
///
/// let allowed: AllowList = "192.0.2.0/24, 2001:db8::/64".parse()?;
/// assert!(allowed.contains("192.0.2.7".parse()?));
/// assert!(allowed.contains("::ffff:192.0.2.7".parse()?));
/// assert!(!allowed.contains("192.0.2.255".parse()?));
/// assert!(!allowed.contains("198.51.100.7".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowList {
    entries: Vec<AllowedRange>,
    /// The prefixes to which the entries are narrowed.
    only: Option<Vec<IpNet>>,
}

/// An entry.
#[derive(Clone, Debug, PartialEq, Eq)]
struct AllowedRange {
    net: IpNet,
    /// The special range that the entry lies within.
    within: Option<IpNet>,
}

/// The error for text that is no allow-list, and for lists without entries.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AllowListError {
    /// Nothing is allowed.
    #[error("an allow-list requires at least one prefix, such as 192.0.2.0/24")]
    Empty,
    /// There are too many entries.
    #[error("an allow-list has at most 4096 prefixes")]
    TooMany,
    /// An entry is neither a prefix nor an address.
    #[error("{0:?} is neither a prefix, such as 192.0.2.0/24, nor an address")]
    Entry(String),
}

impl AllowList {
    /// Creates a list of prefixes. Bits behind the length of a prefix are ignored.
    ///
    /// # Errors
    /// Returns an error if there are no prefixes, or more than 4,096.
    pub fn new(prefixes: impl IntoIterator<Item = IpNet>) -> Result<Self, AllowListError> {
        let entries: Vec<AllowedRange> =
            prefixes.into_iter().take(MAX_ENTRIES + 1).map(AllowedRange::new).collect();
        match entries.len() {
            0 => Err(AllowListError::Empty),
            1..=MAX_ENTRIES => Ok(Self { entries, only: None }),
            _ => Err(AllowListError::TooMany),
        }
    }

    /// Allows only the addresses of these prefixes that are allowed now. Of more than 4,096 prefixes, the rest is not allowed.
    ///
    /// ```
    /// use toposcope::collect::AllowList;
    ///
    /// let allowed = "192.0.2.0/24".parse::<AllowList>()?.narrowed(["192.0.2.128/25".parse()?, "10.0.0.0/8".parse()?]);
    /// assert!(allowed.contains("192.0.2.129".parse()?));
    /// assert!(!allowed.contains("192.0.2.7".parse()?) && !allowed.contains("10.0.0.7".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn narrowed(self, prefixes: impl IntoIterator<Item = IpNet>) -> Self {
        let prefixes = prefixes.into_iter().take(MAX_ENTRIES).map(|prefix| canonical(prefix.trunc()));
        let is_allowed_now =
            |prefix: &IpNet| self.only.iter().all(|only| only.iter().any(|allowed| allowed.contains(prefix)));
        let only = prefixes.filter(is_allowed_now).collect();
        Self { only: Some(only), ..self }
    }

    /// Returns whether packets may be sent to an address.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        let is_never = address.is_unspecified() || address == IpAddr::V4(Ipv4Addr::BROADCAST);
        !is_never
            && self.only.iter().all(|only| only.iter().any(|prefix| prefix.contains(&address)))
            && self.entries.iter().any(|entry| entry.allows(address))
            && (self.names(address) || !self.entries.iter().any(|entry| entry.has_edge(address)))
    }

    /// Returns the parts of an IPv4 prefix of which the list has addresses, in order and apart from each other.
    pub(super) fn parts_of(&self, net: Ipv4Net) -> Vec<Ipv4Net> {
        let mut parts = overlaps(net, self.entries.iter().map(|entry| entry.net));
        if let Some(only) = &self.only {
            parts = parts.into_iter().flat_map(|part| overlaps(part, only.iter().copied())).collect();
        }
        parts.sort_unstable();
        // Of two prefixes that share addresses, one has the other.
        parts.dedup_by(|later, kept| kept.contains(&*later));
        parts
    }

    /// Returns whether an entry of 31 or 32 bits has an IPv4 address.
    pub(super) fn names(&self, address: IpAddr) -> bool {
        let is_narrow = |entry: &&AllowedRange| matches!(entry.net, IpNet::V4(net) if net.prefix_len() >= 31);
        self.entries.iter().filter(is_narrow).any(|entry| entry.allows(address))
    }
}

impl AllowedRange {
    fn new(net: IpNet) -> Self {
        let net = canonical(net.trunc());
        let special = SPECIAL_RANGES.iter().filter_map(|range| range.parse::<IpNet>().ok());
        let within = special.into_iter().find(|range| range.contains(&net));
        Self { net, within }
    }

    fn allows(&self, address: IpAddr) -> bool {
        if !self.net.contains(&address) {
            return false;
        }
        // An entry that lies within a special range allows what it contains; any other entry allows no special address.
        self.within.is_some() || !is_special(address)
    }

    fn has_edge(&self, address: IpAddr) -> bool {
        match (self.net, address) {
            (IpNet::V4(net), IpAddr::V4(address)) => is_edge(net, address),
            _ => false,
        }
    }
}

/// Returns the prefixes of the addresses that an IPv4 prefix shares with others.
fn overlaps(net: Ipv4Net, others: impl Iterator<Item = IpNet>) -> Vec<Ipv4Net> {
    let shared = others.filter_map(|other| match other {
        IpNet::V4(other) if net.contains(&other) => Some(other),
        IpNet::V4(other) => other.contains(&net).then_some(net),
        IpNet::V6(_) => None,
    });
    shared.collect()
}

/// Returns whether an address is the first or the last of a prefix that has such addresses.
pub(super) fn is_edge(net: Ipv4Net, address: Ipv4Addr) -> bool {
    net.prefix_len() < 31 && (address == net.network() || address == net.broadcast())
}

fn is_special(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let [first, ..] = address.octets();
            first == 0 || address.is_loopback() || address.is_link_local() || address.is_multicast()
        }
        IpAddr::V6(address) => {
            address.is_loopback() || address.is_unicast_link_local() || address.is_multicast()
        }
    }
}

/// Returns the IPv4 prefix that an IPv4-mapped one stands for.
fn canonical(net: IpNet) -> IpNet {
    let IpNet::V6(mapped) = net else { return net };
    let (Some(address), Some(length)) =
        (mapped.network().to_ipv4_mapped(), mapped.prefix_len().checked_sub(96))
    else {
        return net;
    };
    Ipv4Net::new(address, length).map_or(net, IpNet::V4)
}

impl FromStr for AllowList {
    type Err = AllowListError;

    /// Reads prefixes and addresses, separated by commas or spaces.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split(|character: char| character == ',' || character.is_whitespace());
        let parts = parts.filter(|part| !part.is_empty()).take(MAX_ENTRIES + 1);
        let prefix = |part: &str| {
            let address = || part.parse::<IpAddr>().map(IpNet::from);
            let prefix = part.parse::<IpNet>().or_else(|_| address());
            prefix.map_err(|_| AllowListError::Entry(part.chars().take(64).collect()))
        };
        Self::new(parts.map(prefix).collect::<Result<Vec<_>, _>>()?)
    }
}

impl fmt::Display for AllowList {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, entry) in self.entries.iter().enumerate() {
            if position > 0 {
                formatter.write_str(", ")?;
            }
            write!(formatter, "{}", entry.net)?;
        }
        Ok(())
    }
}
