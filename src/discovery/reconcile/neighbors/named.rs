//! The identity of a neighbor that a row of an LLDP or CDP table states.
//!
//! The module also finds the host that the row names.

use std::collections::BTreeSet;

use crate::discovery::reconcile::identity::{Identity, IdentityKind, chassis_mac};
use crate::discovery::reconcile::names;
use crate::discovery::report::{CdpRow, LldpRow};
use crate::model::{LldpChassisId, LldpChassisIdSubtype, MacAddress};

/// The identities of a neighbor that a row states. `I` is the form in which an index has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Named<I = Identity> {
    pub(crate) chassis: Option<I>,
    pub(crate) chassis_mac: Option<MacAddress>,
    /// Other identities that stand in place of a chassis id.
    pub(crate) others: Vec<I>,
    pub(crate) names: Vec<I>,
    pub(crate) short_names: Vec<I>,
    pub(crate) addresses: Vec<I>,
}

/// The hosts among which a neighbor is found.
pub(crate) trait KnownHosts<I> {
    /// The type that stands for a host.
    type Host: Copy + Ord;

    /// Adds the hosts that have an identity.
    fn add_holders(&self, identity: &I, holders: &mut BTreeSet<Self::Host>);

    /// Returns whether a host may announce a MAC address as its chassis id.
    fn may_announce(&self, host: Self::Host, address: MacAddress) -> bool;
}

/// The host that a row names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NamedHost<H> {
    /// No known host.
    Nothing,
    /// One host.
    Only(H),
    /// Several hosts have the identities.
    Several(BTreeSet<H>),
}

impl Named {
    pub(crate) fn by_lldp(row: &LldpRow) -> Self {
        Self::by_announcement(
            &row.chassis_id,
            row.sys_name.as_deref(),
            row.mgmt_addrs.iter().map(String::as_str),
        )
    }

    /// Reads the identities that a neighbor announces by LLDP.
    pub(crate) fn by_announcement<'a>(
        id: &LldpChassisId,
        sys_name: Option<&str>,
        addresses: impl Iterator<Item = &'a str>,
    ) -> Self {
        Self::new(id, sys_name.and_then(names::device_name).as_deref(), addresses)
    }

    pub(crate) fn by_cdp(row: &CdpRow) -> Self {
        Self::by_device_id(&row.device_id, row.address.as_deref())
    }

    /// Reads a device id of CDP. It is a name, possibly with a serial number, or a MAC address.
    pub(crate) fn by_device_id(device_id: &str, address: Option<&str>) -> Self {
        let name = names::cdp_name(device_id);
        let chassis = names::cdp_mac(device_id).map_or_else(|| device_id.to_owned(), |mac| mac.to_string());
        // A name alone is not a chassis id.
        let id = LldpChassisId { subtype: LldpChassisIdSubtype::InterfaceName, value: chassis };
        let mut named = Self::new(&id, name.as_deref(), address.into_iter());
        let serial_number = names::cdp_serial_number(device_id);
        named.others.extend(serial_number.as_deref().and_then(Identity::of_serial_number));
        named
    }

    fn new<'a>(id: &LldpChassisId, name: Option<&str>, addresses: impl Iterator<Item = &'a str>) -> Self {
        let ip = |text: &str| Identity::of_ip(text.trim().parse().ok()?);
        let chassis_mac = chassis_mac(id);
        let is_address = id.subtype == LldpChassisIdSubtype::NetworkAddress;
        let address = if is_address { ip(&id.value) } else { None };
        // Telephones and access points announce the digits of their address as a text of their own.
        let is_local = id.subtype == LldpChassisIdSubtype::LocallyAssigned && chassis_mac.is_none();
        let digits = if is_local { names::mac(&id.value) } else { None };
        let all = name.into_iter().flat_map(Identity::of_name);
        let (names, short_names): (Vec<Identity>, Vec<Identity>) =
            all.partition(|name| name.kind() == IdentityKind::Name);
        // Short names of two full names are equal in different domains, too. A full name has only those hosts as others
        // whose own name is the short one.
        let is_short = |short: &Identity| names.contains(&short.to_name());
        let short_names =
            short_names.into_iter().map(|short| if is_short(&short) { short } else { short.to_name() });
        let short_names = short_names.collect();
        Self {
            chassis: Identity::of_chassis_id(id),
            chassis_mac,
            others: chassis_mac.or(digits).and_then(Identity::of_mac).into_iter().chain(address).collect(),
            names,
            short_names,
            addresses: addresses.filter_map(ip).collect(),
        }
    }
}

impl<I> Named<I> {
    /// Converts the identities to another form.
    #[cfg(feature = "topology")]
    pub(crate) fn map<J>(self, form: impl Fn(I) -> J) -> Named<J> {
        let all = |identities: Vec<I>| identities.into_iter().map(&form).collect();
        Named {
            chassis: self.chassis.map(&form),
            chassis_mac: self.chassis_mac,
            others: all(self.others),
            names: all(self.names),
            short_names: all(self.short_names),
            addresses: all(self.addresses),
        }
    }

    /// Returns all identities.
    pub(crate) fn identities(&self) -> impl Iterator<Item = &I> {
        let strong = self.chassis.iter().chain(&self.others);
        strong.chain(&self.names).chain(&self.short_names).chain(&self.addresses)
    }

    /// Finds the host that a row names.
    ///
    /// The host is found by its chassis id, or else by its name, or else by its address. The weaker keys distinguish
    /// several hosts with one chassis id or name.
    pub(crate) fn find<K: KnownHosts<I>>(&self, known: &K) -> NamedHost<K::Host> {
        let by_chassis = holders(known, self.chassis.iter());
        let strongest = if by_chassis.is_empty() { holders(known, self.others.iter()) } else { by_chassis };
        let weaker = |identities: &[I]| {
            let mut found = holders(known, identities.iter());
            found.retain(|host| self.chassis_mac.is_none_or(|stated| known.may_announce(*host, stated)));
            found
        };
        let mut found = strongest;
        for identities in [&self.names, &self.short_names, &self.addresses] {
            if found.len() == 1 {
                break;
            }
            let step = weaker(identities);
            if found.is_empty() {
                found = step;
            } else {
                let narrowed: BTreeSet<K::Host> = found.intersection(&step).copied().collect();
                if !narrowed.is_empty() {
                    found = narrowed;
                }
            }
        }
        match found.first().copied() {
            None => NamedHost::Nothing,
            Some(host) if found.len() == 1 => NamedHost::Only(host),
            Some(_) => NamedHost::Several(found),
        }
    }
}

fn holders<'i, I: 'i, K: KnownHosts<I>>(
    known: &K,
    identities: impl Iterator<Item = &'i I>,
) -> BTreeSet<K::Host> {
    let mut holders = BTreeSet::new();
    identities.for_each(|identity| known.add_holders(identity, &mut holders));
    holders
}
