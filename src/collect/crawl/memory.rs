//! The state that a crawl leaves for the next one.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::again::DeviceState;
use super::secrets::SecretPlace;
use crate::model::Timestamp;

/// Maximum number of addresses that are remembered. Beyond it, those that answered last are kept.
const MAX_ADDRESSES: usize = 65_536;

/// The version of the form that is written.
const VERSION: u32 = 1;

/// The knowledge of a crawl that makes the next one shorter.
///
/// The application keeps it, such as in a file, and gives it to [`Crawl::with_memory`](super::Crawl::with_memory). It contains no secrets: of
/// those to which devices have answered, it has the places in the lists of the application. Its JSON form is opaque and has a
/// version; another version is an error, after which an empty memory makes the next crawl read everything.
///
/// ```
/// use toposcope::collect::crawl::CrawlMemory;
///
/// let memory = CrawlMemory::default();
/// let json = serde_json::to_string(&memory)?;
/// assert_eq!(serde_json::from_str::<CrawlMemory>(&json)?, memory);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CrawlMemory {
    version: MemoryVersion,
    addresses: BTreeMap<IpAddr, RememberedAddress>,
}

/// The only version that is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
struct MemoryVersion;

impl From<MemoryVersion> for u32 {
    fn from(_: MemoryVersion) -> Self {
        VERSION
    }
}

impl TryFrom<u32> for MemoryVersion {
    type Error = String;

    fn try_from(version: u32) -> Result<Self, String> {
        let is_known = version == VERSION;
        is_known
            .then_some(Self)
            .ok_or_else(|| format!("version {version} of a crawl's memory is not supported"))
    }
}

/// An address that has answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct RememberedAddress {
    at: Timestamp,
    secret: SecretPlace,
    /// The state of the device that was read there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state: Option<Box<DeviceState>>,
}

impl CrawlMemory {
    /// Forgets the state of the device that was read at an address. The next crawl reads all its tables.
    ///
    /// This is to be done if its report could not be stored, and if the inventory warns of unchanged tables that it does not
    /// have ([`TableUnknown`](crate::discovery::report::WarningCode::TableUnknown)).
    pub fn forget(&mut self, address: IpAddr) {
        if let Some(known) = self.addresses.get_mut(&address.to_canonical()) {
            known.state = None;
        }
    }

    pub(super) fn secret(&self, address: IpAddr) -> Option<SecretPlace> {
        self.addresses.get(&address).map(|known| known.secret)
    }

    pub(super) fn state(&self, address: IpAddr) -> Option<Box<DeviceState>> {
        self.addresses.get(&address)?.state.clone()
    }

    /// Notes that an address has answered to a secret.
    pub(super) fn note_answer(&mut self, address: IpAddr, secret: SecretPlace, at: Timestamp) {
        match self.addresses.get_mut(&address) {
            Some(known) => (known.at, known.secret) = (at, secret),
            None => {
                self.make_room();
                self.addresses.insert(address, RememberedAddress { at, secret, state: None });
            }
        }
    }

    /// Notes the state of the device at an address that has answered.
    pub(super) fn note_state(&mut self, address: IpAddr, state: Option<Box<DeviceState>>) {
        if let Some(known) = self.addresses.get_mut(&address) {
            known.state = state;
        }
    }

    /// Drops the older half of the addresses if there are too many.
    fn make_room(&mut self) {
        if self.addresses.len() < MAX_ADDRESSES {
            return;
        }
        let mut times: Vec<Timestamp> = self.addresses.values().map(|known| known.at).collect();
        let (_, median, _) = times.select_nth_unstable(MAX_ADDRESSES / 2);
        let median = *median;
        self.addresses.retain(|_, known| known.at > median);
    }
}
