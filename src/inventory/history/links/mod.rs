//! Links in time: the changes of links that follow from hosts, claims and links that users enter.
//!
//! A commit that changes records from which links follow [touches](touched) its network. A background task then computes the
//! links of the neighborhood, compares them with those that were recorded last, and records the differences, in a commit that
//! requires the version of the network's record. So each difference is recorded once, whichever instance is first, and the next
//! task continues an interrupted one.
//!
//! | File | Contents |
//! |---|---|
//! | `touched` | the hosts and links that a commit touches |
//! | `followers` | the networks that wait for their turn, and the tasks that follow them |
//! | `memory` | the networks whose links are in memory |
//! | `reading` | the records from which links follow, as far as they have changed |
//! | `differences` | the links that differ from the recorded ones |
//! | `pass` | one turn of a network: reading, comparing, recording |
//! | `claims` | changes of claims that no entry shows |
//! | `leads` | the entries that led to differences |
//! | `opening` | the networks that were left behind when a store was closed |
//! | `recorded` | the records |

#[cfg(feature = "topology")]
mod claims;
#[cfg(feature = "topology")]
mod differences;
#[cfg(feature = "topology")]
pub(in crate::inventory::history) mod followers;
#[cfg(feature = "topology")]
mod leads;
#[cfg(feature = "topology")]
mod memory;
#[cfg(feature = "topology")]
mod opening;
#[cfg(feature = "topology")]
mod pass;
#[cfg(feature = "topology")]
mod reading;
#[cfg(feature = "topology")]
pub(in crate::inventory::history) mod recorded;
#[cfg_attr(not(feature = "topology"), allow(dead_code, reason = "without topologies, no links are followed"))]
pub(in crate::inventory::history) mod touched;

#[cfg(feature = "topology")]
use self::touched::Touched;
use self::touched::TouchedNetworks;
use super::Author;
use crate::inventory::{Error, Inventory};
use crate::model::{NetworkId, OrganizationId};
use crate::store::{Batch, StoreError};

impl Inventory {
    /// Commits a batch together with the entries of its changes. Links that follow from it are recorded later.
    pub(in crate::inventory) async fn commit(&self, author: &Author, batch: Batch) -> Result<(), StoreError> {
        let is_followed = cfg!(feature = "topology") && self.recording.is_on();
        let mut touched = if is_followed { TouchedNetworks::of(&batch) } else { TouchedNetworks::default() };
        self.commit_recorded(author, batch, &mut touched).await?;
        #[cfg(feature = "topology")]
        self.follow_touched(author.organization, touched);
        Ok(())
    }

    /// Records the links that follow from the changes of a network, before anything else is done.
    pub(in crate::inventory::history) async fn follow_now(
        &self,
        organization: OrganizationId,
        network: NetworkId,
    ) -> Result<(), Error> {
        #[cfg(feature = "topology")]
        if self.recording.is_on() {
            return self.follow_network((organization, network), Touched::everything()).await;
        }
        tracing::trace!(%organization, %network, "no links are followed");
        Ok(())
    }

    /// Records links that were not recorded when an organization was exported, now that it is restored.
    pub(in crate::inventory) fn follow_restored(&self, organization: OrganizationId) {
        #[cfg(feature = "topology")]
        if self.recording.is_on() {
            self.follow_networks_of(organization);
        }
        tracing::debug!(%organization, "the history of a restored organization continues");
    }

    /// Looks once for links that were not recorded before the store was closed. The first read of the history, or the first change
    /// from which links follow, starts it.
    pub(in crate::inventory::history) fn begin_following(&self) {
        #[cfg(feature = "topology")]
        if self.recording.is_on() {
            self.follow_all_networks();
        }
    }
}

#[cfg(not(feature = "topology"))]
impl TouchedNetworks {
    /// Adds nothing to a batch: no links are followed.
    pub(in crate::inventory::history) fn note_claims(
        &mut self,
        _organization: OrganizationId,
        _with_leads: &std::collections::BTreeSet<NetworkId>,
        _new_id: impl FnMut() -> Result<uuid::Uuid, Error>,
        _batch: &mut Batch,
    ) -> Result<(), Error> {
        Ok(())
    }
}

#[cfg(not(feature = "topology"))]
impl Inventory {
    /// Adds nothing to a batch: no links are followed.
    pub(in crate::inventory::history) fn put_followed_networks(
        &self,
        _organization: OrganizationId,
        _before: &std::collections::BTreeMap<crate::store::Key, crate::store::Record>,
        _batch: &mut Batch,
    ) -> Result<(), Error> {
        Ok(())
    }
}
