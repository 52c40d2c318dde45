//! The order in which the secrets of the host application are tried.

use std::collections::HashSet;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::collect::secret::SnmpSecret;
use crate::collect::snmp::MAX_SECRETS;

/// Maximum number of secrets whose successes are counted.
const MAX_COUNTED: usize = 256;

/// The secret to which an address has answered, without the secret itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SecretPlace {
    /// Its place in the list that the host application returned for the address.
    place: usize,
    /// Whether it is a user of SNMPv3.
    pub(super) is_v3: bool,
}

/// A secret with its place in the list of the host application.
#[derive(Clone, Debug)]
pub(super) struct PlacedSecret {
    pub(super) secret: SnmpSecret,
    place: usize,
}

impl PlacedSecret {
    pub(super) const fn place(&self) -> SecretPlace {
        SecretPlace { place: self.place, is_v3: self.secret.is_v3() }
    }
}

/// The secrets to which devices have answered.
#[derive(Debug, Default)]
pub(super) struct WorkedSecrets {
    /// The secrets, each with the number of addresses that have answered to it.
    counts: Vec<(SnmpSecret, usize)>,
    /// The addresses of devices that have answered to a user of SNMPv3. They are sent no community.
    secured: HashSet<IpAddr>,
}

impl WorkedSecrets {
    /// Returns the secrets that are tried for an address, in this order: the one to which it has answered before, users of
    /// SNMPv3, communities; and of these, first those to which most others have answered.
    pub(super) fn order(
        &self,
        address: IpAddr,
        secrets: Vec<SnmpSecret>,
        former: Option<SecretPlace>,
    ) -> Vec<PlacedSecret> {
        let is_secured = self.secured.contains(&address) || former.is_some_and(|former| former.is_v3);
        let placed = secrets.into_iter().enumerate().map(|(place, secret)| PlacedSecret { secret, place });
        let mut placed: Vec<_> = placed.filter(|placed| placed.secret.is_v3() || !is_secured).collect();
        placed.sort_by_cached_key(|placed| {
            let is_former = former == Some(placed.place());
            let count = self.counts.iter().find(|(secret, _)| secret.is_same(&placed.secret));
            let count = count.map_or(0, |(_, count)| *count);
            (!is_former, !placed.secret.is_v3(), usize::MAX - count)
        });
        placed.truncate(MAX_SECRETS);
        placed
    }

    /// Notes that an address has answered to a secret.
    pub(super) fn note(&mut self, address: IpAddr, worked: &SnmpSecret) {
        if worked.is_v3() {
            self.secured.insert(address);
        }
        if let Some((_, count)) = self.counts.iter_mut().find(|(secret, _)| secret.is_same(worked)) {
            *count += 1;
        } else if self.counts.len() < MAX_COUNTED {
            self.counts.push((worked.clone(), 1));
        }
    }

    /// Notes the addresses of a device that has answered to a user of SNMPv3.
    pub(super) fn secure(&mut self, addresses: &[IpAddr]) {
        self.secured.extend(addresses);
    }
}
