//! Sentences about recognized devices, merges and refusals.

use super::MatchedBy;
use super::compared::{Compared, Distinction};
use super::keys::JoinedHosts;
use super::keys::{common, is_minority};
use crate::discovery::reconcile::identity::{Identity, IdentityKind, Traits};
use crate::discovery::report::{Device, WarningCode};
use crate::model::Host;

/// Maximum number of notes about one device.
const MAX_NOTES: usize = 16;

/// A sentence for people about the recognition of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecognitionNote {
    /// The kind of note.
    pub code: WarningCode,
    /// The sentence. It has the names of hosts, and the values that decided.
    pub text: String,
}

impl RecognitionNote {
    /// Creates a note.
    #[must_use]
    pub const fn new(code: WarningCode, text: String) -> Self {
        Self { code, text }
    }
}

/// Returns the name of a host: its display name, an address, or its id.
#[must_use]
pub fn name_of_host(host: &Host) -> String {
    let address = || host.interfaces.iter().map(|interface| interface.ip_address).min();
    match host.name.trim() {
        "" => address().map_or_else(|| host.id.to_string(), |address| address.to_string()),
        name => name.to_owned(),
    }
}

/// Returns the name of a device: the one that it reports, or an address.
#[must_use]
pub fn name_of_device(device: &Device) -> String {
    let names = [&device.sys_name, &device.hostname, &device.cdp_device_id];
    let address =
        || device.tables.addresses.iter().flat_map(|table| &table.rows).map(|row| row.ip_address).min();
    let name = names.into_iter().flatten().find(|name| !name.trim().is_empty()).cloned();
    name.or_else(|| address().map(|address| address.to_string())).unwrap_or_else(|| "the device".to_owned())
}

/// The device of a report, for sentences about it.
pub(super) struct NotedDevice<'d> {
    pub(super) name: String,
    pub(super) traits: &'d Traits,
}

impl NotedDevice<'_> {
    /// Returns the notes about a recognized device, and about the hosts that it is not.
    pub(super) fn notes(
        &self,
        own: Option<&Compared<'_>>,
        joined: &JoinedHosts<'_, '_>,
        hosts: &[Compared<'_>],
    ) -> Vec<RecognitionNote> {
        let mut notes = Vec::new();
        if let Some(own) = own {
            notes.extend(joined.merged.iter().map(|other| self.merged(own, other)));
            if own.has_new_macs(self.traits) {
                notes.push(self.new_macs(own));
            }
        }
        notes.extend(joined.refused.iter().map(|other| self.refused(other)));
        let is_apart = |one: &&Compared<'_>| {
            own.is_none_or(|own| own.host.id != one.host.id)
                && !joined.merged.iter().chain(&joined.refused).any(|other| other.host.id == one.host.id)
        };
        notes.extend(hosts.iter().filter(is_apart).filter_map(|one| self.apart(one)));
        notes.truncate(MAX_NOTES);
        notes
    }

    fn merged(&self, own: &Compared<'_>, other: &Compared<'_>) -> RecognitionNote {
        let (own_name, name) = (name_of_host(own.host), name_of_host(other.host));
        let common = self.strongest(other).map_or_else(|| "its name".to_owned(), Identity::described);
        let text = if own_name == name {
            format!("Two hosts named {name} became one: the device has {common}")
        } else {
            format!("{name} became a part of {own_name}, which has {common}")
        };
        RecognitionNote { code: WarningCode::HostsMerged, text }
    }

    fn new_macs(&self, own: &Compared<'_>) -> RecognitionNote {
        let one = |traits: &Traits| traits.port_macs.first().map(ToString::to_string).unwrap_or_default();
        let (before, after) = (one(&own.traits), one(self.traits));
        let name = name_of_host(own.host);
        let text = format!(
            "{name} has other MAC addresses, such as {after} for {before}; name and address are the same"
        );
        RecognitionNote { code: WarningCode::MacChanged, text }
    }

    /// Describes a host that the device matches, but that may not be merged.
    fn refused(&self, other: &Compared<'_>) -> RecognitionNote {
        let lacks = |identity: &&Identity| {
            identity.kind() < IdentityKind::Name && !self.traits.identities.contains(*identity)
        };
        let missing = other.traits.identities.iter().find(lacks).map(Identity::described);
        let missing = missing.unwrap_or_else(|| "all values".to_owned());
        let common = self.strongest(other).map_or_else(|| "a name".to_owned(), Identity::described);
        let (device, name) = (&self.name, name_of_host(other.host));
        let text =
            format!("{device} and {name} both have {common}, but the report of {device} lacks {missing}");
        RecognitionNote { code: WarningCode::MergeRefused, text }
    }

    /// Describes a host that shares an identity with the device, but is another one.
    fn apart(&self, other: &Compared<'_>) -> Option<RecognitionNote> {
        let kinds = [
            (MatchedBy::SerialNumber, IdentityKind::SerialNumber),
            (MatchedBy::ChassisId, IdentityKind::ChassisId),
            (MatchedBy::Mac, IdentityKind::Mac),
            (MatchedBy::IpAddress, IdentityKind::IpAddress),
        ];
        let strongest = kinds.into_iter().find_map(|(key, kind)| {
            let is_counted = !is_minority(other, self.traits, kind);
            let identity = common(other, self.traits, kind).next().filter(|_| is_counted)?;
            Some((key, identity.described()))
        });
        let by_name = || {
            let name = self.traits.full_names.intersection(&other.traits.full_names).next()?;
            let is_described = self.traits.describes_itself && !other.traits.sys_names.is_empty();
            is_described.then(|| (MatchedBy::Name, format!("the name {name}")))
        };
        let (key, common) = strongest.or_else(by_name)?;
        let differ = match other.difference(key, self.traits)? {
            Distinction::SerialNumber => "serial numbers",
            Distinction::ChassisId => "chassis ids",
            Distinction::Macs => "MAC addresses",
            Distinction::NameAndAddresses => "names and addresses",
            Distinction::NameAndObject => "names and sysObjectIDs",
        };
        let code = if key == MatchedBy::Mac { WarningCode::MacShared } else { WarningCode::MergeRefused };
        let (device, name) = (&self.name, name_of_host(other.host));
        let text = format!("{device} and {name} both have {common}, but their {differ} differ: two hosts");
        Some(RecognitionNote { code, text })
    }

    /// Returns the strongest identity that the device and a host have in common.
    fn strongest<'i>(&'i self, other: &Compared<'_>) -> Option<&'i Identity> {
        self.traits.identities.iter().find(|identity| other.traits.identities.contains(*identity))
    }
}
