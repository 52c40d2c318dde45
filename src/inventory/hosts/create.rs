//! Creation of a host by a caller: the path of a plain write.
//!
//! ```text
//! parse ----> texts ----> access ----> ids, validate, size ----> policy ----> commit ----> effects
//! parse_host  check_host_  check_       encode_new                references,  one batch    HostEffect
//!             texts        network                                quota
//!                                       ^                                        |
//!                                       +---- the id of a part is taken ---------+
//!                                                             ^                  |
//!                                                             +--- has changed --+
//! ```
//!
//! [`Hosts::create`] is the path for one host, from the texts on. `replace_hosts_if` in `change` has the part from the policy
//! to the effects, with its retries.

use std::slice;

use super::Hosts;
use super::age::keep_age;
use super::assign::{Assignment, TakenIds};
use super::document::EncodedHost;
use super::texts::check_host_texts;
use crate::access::Caller;
use crate::inventory::policy::Actor;
use crate::inventory::{Entity, Error, Inventory, require_level, transaction};
use crate::model::{Host, OrganizationId, Permission, Record, Timestamp};

/// The maximum number of attempts to find ids for the embedded records of a host.
const MAX_ATTEMPTS: usize = 16;

impl Hosts<'_> {
    /// Creates a host with its embedded records, on behalf of a caller.
    ///
    /// The caller must be a Member or above who can access the network of the host.
    ///
    /// The inventory chooses the id and all times. An embedded record keeps its id unless the id is nil or another
    /// record of the organization has it. References between the embedded records follow their new ids.
    ///
    /// ```
    /// # use toposcope::model::Network;
    /// # use toposcope::access::{Caller, Scope};
    /// # use toposcope::inventory::Inventory;
    /// # use toposcope::model::{Host, Interface, Permission, UserId};
    /// # use toposcope::store::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// # let network = inventory.networks().create(&Caller::system(organization.id), Network::new("Office")).await?;
    /// # let caller = Caller::new(organization.id, UserId::nil(), Permission::Member, Scope::all());
    /// let mut draft = Host::new(network.id, "printer");
    /// draft.interfaces.push(Interface::new(&draft, "192.0.2.7".parse()?));
    /// let host = inventory.hosts().create(&caller, draft.clone()).await?;
    /// assert_ne!(host.id, draft.id);
    /// assert_eq!(host.interfaces[0].host_id, host.id);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// - `PermissionDenied`: the caller is below Member.
    /// - `ReferenceInvalid`: the network or a tag is unknown, or an embedded record refers to nothing within the host.
    /// - `AccessDenied`: the caller cannot access the network, or a service that virtualizes the host or a service of it.
    /// - `AlreadyExists`: two ports share number and protocol.
    /// - `Invalid`, `TooLarge` and `QuotaExceeded`: as for [`Hosts::put`](crate::inventory::Hosts::put).
    pub async fn create(self, caller: &Caller, mut host: Host) -> Result<Host, Error> {
        require_level(caller, Permission::Member)?;
        check_host_texts(&host, None)?;
        let organization = caller.organization_id();
        self.inventory.check_network(caller, host.network_id).await?;
        host.id = self.inventory.new_id()?;
        let mut taken = TakenIds::default();
        let of_request = self.inventory.for_request();
        let inventory = of_request.as_ref().unwrap_or(self.inventory);
        for _ in 0..MAX_ATTEMPTS {
            let puts =
                [self.inventory.encode_new(organization, host, taken.clone(), self.inventory.now()).await?];
            let [encoded] = &puts;
            self.inventory.note_answer(&encoded.host, Some(encoded.host.network_id))?;
            let created = inventory.replace_hosts(Actor::Caller(caller), &puts).await?;
            let [encoded] = puts;
            host = encoded.host;
            match created {
                Ok(_) => return Ok(host),
                Err(part) => self.inventory.note_taken(organization, &part, &mut taken).await?,
            }
        }
        Err(transaction::conflict(Entity::Host, host.id))
    }
}

impl Inventory {
    /// Stores a host whose id no other host has. It keeps its times.
    ///
    /// A part whose id another record of the organization has gets a new id, and the times of the host.
    pub(in crate::inventory) async fn put_new_host(
        &self,
        caller: &Caller,
        encoded: &EncodedHost,
    ) -> Result<(), Error> {
        let (organization, actor) = (caller.organization_id(), Actor::Caller(caller));
        let mut taken = TakenIds::default();
        let mut part = match self.replace_hosts(actor, slice::from_ref(encoded)).await? {
            Ok(_) => return Ok(()),
            Err(part) => part,
        };
        for _ in 1..MAX_ATTEMPTS {
            self.note_taken(organization, &part, &mut taken).await?;
            let now = encoded.host.created_at;
            let puts = [self.encode_new(organization, encoded.host.clone(), taken.clone(), now).await?];
            match self.replace_hosts(actor, &puts).await? {
                Ok(_) => return Ok(()),
                Err(other) => part = other,
            }
        }
        Err(transaction::conflict(Entity::Host, encoded.host.id))
    }

    /// Sets the fields that only the server sets in a new host, and encodes it.
    ///
    /// A large host is encoded on a blocking thread.
    pub(super) async fn encode_new(
        &self,
        organization: OrganizationId,
        mut host: Host,
        taken: TakenIds,
        now: Timestamp,
    ) -> Result<EncodedHost, Error> {
        let (inventory, encoder) = (self.clone(), self.host_encoder(organization));
        let bytes = host.likely_size();
        let encode = move || {
            (host.created_at, host.updated_at) = (now, now);
            keep_age(&mut host, None);
            let new_id = || inventory.new_id();
            Assignment { before: None, taken: &taken, now, new_id: &new_id }.apply(&mut host)?;
            encoder.encode(host)
        };
        self.state.offload.run(organization, bytes, encode).await?
    }
}
