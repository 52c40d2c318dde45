//! Warnings about one address or name on two hosts.

use std::collections::{BTreeMap, BTreeSet};

use super::Reconciler;
use crate::discovery::reconcile::{Identity, IdentityKind};
use crate::discovery::report::{Warning, WarningCode};
use crate::inventory::Error;
use crate::inventory::schema::host_key;
use crate::model::{Host, HostId};
use crate::store::{Key, Version};

/// Maximum number of hosts that one report is compared with.
const MAX_COMPARED: usize = 4_096;

/// Maximum number of values that one report is warned about.
const MAX_VALUES: usize = 10_000;

/// Progress of the search for duplicate values, for one report.
#[derive(Debug, Default)]
pub(super) struct Duplicates {
    /// The values that the answer counts already.
    values: BTreeSet<Identity>,
    /// The number of hosts that were compared.
    compared: usize,
}

impl Reconciler {
    /// Adds warnings about identities of a device that several hosts have.
    ///
    /// `candidates` are the hosts that had one of the identities before the device was stored, and `host` is the host
    /// that matches the device.
    pub(super) async fn note_duplicates(
        &mut self,
        identities: &[Identity],
        candidates: &BTreeMap<HostId, Version>,
        host: Option<HostId>,
    ) -> Result<(), Error> {
        let room = MAX_COMPARED.saturating_sub(self.duplicates.compared);
        let others: Vec<HostId> =
            candidates.keys().filter(|id| Some(**id) != host).take(room).copied().collect();
        if others.is_empty() {
            return Ok(());
        }
        self.duplicates.compared += others.len();
        // Read again, because the device may have taken a value from another host.
        let keys: Vec<Key> = host.into_iter().chain(others).map(host_key).collect();
        let mut holders: BTreeMap<&Identity, Vec<String>> = BTreeMap::new();
        for record in self.inventory.store.get(&keys).await?.into_iter().flatten() {
            let host: Host = self.inventory.decode_host(self.organization, &record).await?;
            let own: BTreeSet<Identity> = Identity::of_host(&host).into_iter().collect();
            let shared = identities.iter().filter(|identity| own.contains(*identity));
            for identity in shared.filter(|identity| code_of(identity.kind()).is_some()) {
                holders.entry(identity).or_default().push(host.name.clone());
            }
        }
        for (identity, names) in holders {
            if let [first, second, ..] = names.as_slice() {
                self.warn_of_duplicate(identity, [first, second]);
            }
        }
        Ok(())
    }

    fn warn_of_duplicate(&mut self, identity: &Identity, [first, second]: [&str; 2]) {
        let Some(code) = code_of(identity.kind()) else { return };
        let values = &mut self.duplicates.values;
        if values.len() >= MAX_VALUES || !values.insert(identity.clone()) {
            return;
        }
        if let Some(warning) = self.answer.warnings.iter_mut().find(|warning| warning.code == code) {
            warning.count = warning.count.saturating_add(1);
            return;
        }
        let example = format!("{} is on {} and {}", identity.described(), shown(first), shown(second));
        self.answer.warnings.push(Warning::new(code, 1, None).with_example(&example));
    }
}

fn shown(name: &str) -> &str {
    if name.is_empty() { "a host without a name" } else { name }
}

/// Returns the code of the warning about a value; `None`: values of this kind are no reason for a warning.
const fn code_of(kind: IdentityKind) -> Option<WarningCode> {
    match kind {
        IdentityKind::IpAddress => Some(WarningCode::AddressOnTwoHosts),
        IdentityKind::Mac => Some(WarningCode::MacOnTwoHosts),
        IdentityKind::Name => Some(WarningCode::NameOnTwoHosts),
        IdentityKind::SerialNumber | IdentityKind::ChassisId | IdentityKind::ShortName => None,
    }
}
