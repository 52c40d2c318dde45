use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use uuid::Uuid;

/// The network prefix of a client's address, by which unauthenticated clients are limited.
///
/// All addresses with the same prefix count as one client. A machine usually has a whole IPv6 /64 at its disposal, so
/// a limit by single address would not be effective.
///
/// ```
/// use toposcope::access::PrefixLengths;
///
/// let lengths = PrefixLengths::default();
/// let prefix = |address: &str| address.parse().map(|address| lengths.prefix_of(address));
/// assert_eq!(prefix("2001:db8::1")?, prefix("2001:db8::ffff:ffff:ffff:ffff")?);
/// assert_ne!(prefix("2001:db8::1")?, prefix("2001:db8:0:1::1")?);
/// assert_eq!(prefix("192.0.2.1")?, prefix("::ffff:192.0.2.1")?);
/// assert_ne!(prefix("192.0.2.1")?, prefix("192.0.2.2")?);
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientPrefix(IpAddr);

impl ClientPrefix {
    /// Returns the /48 of an IPv6 prefix, which one client often has at its disposal; `None` for IPv4.
    pub(crate) const fn site(self) -> Option<Self> {
        match self.0 {
            IpAddr::V4(_) => None,
            IpAddr::V6(address) => Some(Self(IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 80 << 80)))),
        }
    }

    /// Returns the first address of the prefix.
    pub(crate) const fn address(self) -> IpAddr {
        self.0
    }

    /// Returns a number that no other prefix has.
    pub(crate) const fn id(self) -> Uuid {
        Uuid::from_u128(match self.0 {
            IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
            IpAddr::V6(address) => address.to_bits(),
        })
    }
}

/// The number of leading address bits that identify a client, for IPv4 and IPv6.
///
/// The default is 32 for IPv4 and 64 for IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrefixLengths {
    ipv4: u8,
    ipv6: u8,
}

impl PrefixLengths {
    const MAX_IPV4: u8 = 32;
    const MAX_IPV6: u8 = 128;

    /// Creates prefix lengths, in bits.
    ///
    /// Values above 32 (IPv4) and 128 (IPv6) are clamped to the whole address. With 0, all addresses of the family
    /// are one client.
    #[must_use]
    pub fn new(ipv4: u8, ipv6: u8) -> Self {
        Self { ipv4: ipv4.min(Self::MAX_IPV4), ipv6: ipv6.min(Self::MAX_IPV6) }
    }

    /// Returns the prefix of an address. An IPv4-mapped IPv6 address has the prefix of the IPv4 address.
    #[must_use]
    pub fn prefix_of(self, address: IpAddr) -> ClientPrefix {
        // A prefix of 0 bits would shift by the whole width, which overflows; its mask is 0.
        ClientPrefix(match address.to_canonical() {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(u32::from(Self::MAX_IPV4 - self.ipv4)).unwrap_or(0);
                IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & mask))
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(u32::from(Self::MAX_IPV6 - self.ipv6)).unwrap_or(0);
                IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & mask))
            }
        })
    }
}

impl Default for PrefixLengths {
    fn default() -> Self {
        Self::new(32, 64)
    }
}
