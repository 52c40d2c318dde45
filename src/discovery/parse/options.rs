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
    /// XML of nmap (`-oX`), also of an interrupted run.
    Nmap,
    /// `lldpctl -f json` and `-f json0`.
    Lldpctl,
    /// Output of net-snmp's `snmpwalk`, numeric or symbolic, of one device.
    Snmpwalk,
    /// A recording of snmpsim, of one device.
    Snmprec,
    /// `ip -j neigh`, `ip neigh`, `arp -an`, and `show ip arp` of Cisco.
    Arp,
    /// A [`Report`](crate::discovery::Report) as JSON.
    Report,
}

/// The error for text that names no format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a format; the formats are nmap, lldpctl, snmpwalk, snmprec, arp and report")]
#[non_exhaustive]
pub struct FormatError;

impl Format {
    /// All formats.
    pub const ALL: &[Self] =
        &[Self::Nmap, Self::Lldpctl, Self::Snmpwalk, Self::Snmprec, Self::Arp, Self::Report];

    /// Returns the name used in query strings and on command lines.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Nmap => "nmap",
            Self::Lldpctl => "lldpctl",
            Self::Snmpwalk => "snmpwalk",
            Self::Snmprec => "snmprec",
            Self::Arp => "arp",
            Self::Report => "report",
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
    /// Required for [`Format::Lldpctl`] and [`Format::Arp`], and for walks in which the device does not name itself.
    pub reporter: Option<ReporterId>,
    /// Whether the input has all rows of the tables it contains. The default is `false`.
    ///
    /// Tables of input that ends early are truncated even so. Tables of [`Format::Report`] state it themselves.
    pub complete: bool,
    /// The number of rows, devices included, that a report may have. The default is 500,000. Further rows are skipped.
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
