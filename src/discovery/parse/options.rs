use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::model::Timestamp;

/// The format of the input of [`parse`](super::parse()).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Format {
    /// XML of nmap (`-oX`) and of tools that write the same, such as masscan, also of an interrupted run.
    ///
    /// A file may have several runs, one appended to the other. What a later run found replaces what an earlier one
    /// found of the same ports of the same address.
    Nmap,
    /// `lldpctl -f json` and `-f json0`.
    Lldpctl,
    /// Output of net-snmp's `snmpwalk`, numeric or symbolic, of one device.
    Snmpwalk,
    /// A recording of snmpsim, of one device.
    Snmprec,
    /// An ARP table or IPv6 neighbor table: of `ip`, `arp` or `ndp`, or one whose heading names the columns of the
    /// addresses, as switches and routers print it.
    Arp,
    /// `ip -j addr` and `ip -j link`; `-d` adds the kinds of interfaces, VLANs and bonds.
    IpAddr,
    /// `bridge -j fdb`.
    BridgeFdb,
    /// `bridge -j vlan`.
    BridgeVlan,
    /// A [`Report`](crate::discovery::Report) as JSON.
    Report,
    /// Any of the others, recognized by the content.
    Auto,
}

/// The error for text that names no format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a format; the formats are nmap, lldpctl, snmpwalk, snmprec, arp, ip_addr, bridge_fdb, bridge_vlan, report and auto"
)]
#[non_exhaustive]
pub struct FormatError;

impl Format {
    /// All formats.
    pub const ALL: &[Self] = &[
        Self::Nmap,
        Self::Lldpctl,
        Self::Snmpwalk,
        Self::Snmprec,
        Self::Arp,
        Self::IpAddr,
        Self::BridgeFdb,
        Self::BridgeVlan,
        Self::Report,
        Self::Auto,
    ];

    /// Returns the name used in query strings and on command lines.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Nmap => "nmap",
            Self::Lldpctl => "lldpctl",
            Self::Snmpwalk => "snmpwalk",
            Self::Snmprec => "snmprec",
            Self::Arp => "arp",
            Self::IpAddr => "ip_addr",
            Self::BridgeFdb => "bridge_fdb",
            Self::BridgeVlan => "bridge_vlan",
            Self::Report => "report",
            Self::Auto => "auto",
        }
    }
}

impl FromStr for Format {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Self, FormatError> {
        Self::ALL.iter().copied().find(|format| format.as_str() == text).ok_or(FormatError)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// The device that a report comes from, if the input does not name it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ReporterId {
    /// The id of a host.
    Host(Uuid),
    /// A `sysName`.
    SysName(String),
}

/// Reads a host's id if the text is a UUID, and a `sysName` otherwise.
impl From<&str> for ReporterId {
    fn from(text: &str) -> Self {
        Uuid::try_parse(text).map_or_else(|_| Self::SysName(text.to_owned()), Self::Host)
    }
}

/// The information that [`parse`](super::parse()) needs in addition to the input.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParseOptions {
    /// When the input was made or received. Input that states an earlier time of its own keeps that.
    pub observed_at: Timestamp,
    /// The device that the input comes from.
    ///
    /// Required for [`Format::Lldpctl`], [`Format::Arp`], [`Format::IpAddr`], [`Format::BridgeFdb`] and
    /// [`Format::BridgeVlan`], and for walks in which the device does not name itself.
    pub reporter: Option<ReporterId>,
    /// Whether the input has all rows of the tables it contains. The default is `false`.
    ///
    /// Tables of input that ends early are truncated even so. Tables of [`Format::Report`] state it themselves.
    pub complete: bool,
    /// The number of rows, devices included, that a report may have. The default is 500,000. Further rows are skipped, and
    /// so are interfaces of a device beyond 100,000.
    pub max_rows: u64,
}

impl ParseOptions {
    /// Creates options with default values.
    #[must_use]
    pub const fn new(observed_at: Timestamp) -> Self {
        Self { observed_at, reporter: None, complete: false, max_rows: 500_000 }
    }

    /// Names the device that the input comes from.
    #[must_use]
    pub fn with_reporter(self, reporter: ReporterId) -> Self {
        Self { reporter: Some(reporter), ..self }
    }

    /// States that the input has all rows of the tables it contains.
    #[must_use]
    pub fn with_complete_tables(self) -> Self {
        Self { complete: true, ..self }
    }

    /// Sets the number of rows that a report may have.
    #[must_use]
    pub fn with_max_rows(self, max_rows: u64) -> Self {
        Self { max_rows, ..self }
    }
}
