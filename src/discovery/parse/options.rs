use crate::model::{HostId, Timestamp};
use crate::text_enum::{listed, text_enum};

text_enum! {
    /// The format of the input of [`parse`](super::parse()).
    #[non_exhaustive]
    pub enum Format {
        /// XML of nmap (`-oX`) and of tools that write the same, such as masscan, also of an interrupted run.
        ///
        /// A file may have several runs, one appended to the other. The results of a later run replace those of an
        /// earlier one for the same ports of the same address.
        Nmap = "nmap",
        /// `lldpctl -f json` and `-f json0`.
        Lldpctl = "lldpctl",
        /// Output of net-snmp's `snmpwalk`, numeric or symbolic, of one device.
        Snmpwalk = "snmpwalk",
        /// A recording of snmpsim, of one device.
        Snmprec = "snmprec",
        /// An ARP table or IPv6 neighbor table. It is the output of `ip`, `arp`, `ndp`, `netsh` or `arp-scan`, or has a
        /// heading that names the columns of the addresses, as switches and routers print it.
        ///
        /// It may also be the JSON of `ip -j neigh`, Arista EOS, Cisco NX-OS, Junos, OPNsense, RouterOS or PowerShell, or
        /// have cells between commas, semicolons or tabs, with a first line that names both addresses and the interface.
        Arp = "arp",
        /// `ip -j addr` and `ip -j link`; `-d` adds the kinds of interfaces, VLANs and bonds.
        IpAddr = "ip_addr",
        /// `ip -j route` and `ip -j -6 route`, also both in one file, one after the other.
        ///
        /// The table is complete only if the file has the output of both commands, since each prints the routes of one
        /// family.
        IpRoute = "ip_route",
        /// `bridge -j fdb`.
        BridgeFdb = "bridge_fdb",
        /// `bridge -j vlan`.
        BridgeVlan = "bridge_vlan",
        /// A [`Report`](crate::discovery::Report) as JSON.
        Report = "report",
        /// Any of the others, recognized by the content.
        Auto = "auto",
    }

    /// The error for text that names no format.
    #[error("not a format; the formats are {}", listed(Format::TEXTS))]
    pub struct FormatError;
}

impl Format {
    /// Returns whether the input is documents of JSON that commands of one device print.
    pub(super) const fn has_documents(self) -> bool {
        match self {
            Self::Lldpctl | Self::Arp | Self::IpAddr | Self::IpRoute | Self::BridgeFdb | Self::BridgeVlan => {
                true
            }
            Self::Nmap | Self::Snmpwalk | Self::Snmprec | Self::Report | Self::Auto => false,
        }
    }
}

/// The device that a report comes from, if the input does not name it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ReporterId {
    /// The id of a host.
    Host(HostId),
    /// A `sysName`.
    SysName(String),
}

/// Reads a host's id if the text is a UUID, and a `sysName` otherwise.
impl From<&str> for ReporterId {
    fn from(text: &str) -> Self {
        text.parse().map_or_else(|_| Self::SysName(text.to_owned()), Self::Host)
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
    /// Required for [`Format::Lldpctl`], [`Format::Arp`], [`Format::IpAddr`], [`Format::IpRoute`],
    /// [`Format::BridgeFdb`] and [`Format::BridgeVlan`], and for walks in which the device does not name itself.
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
