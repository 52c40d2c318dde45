//! Upgrade of stored facets to their present form, and of stored neighbors to the present rules.
//!
//! Facets are computed when a host is stored. When a version of the library computes others, hosts of earlier versions
//! would be missing from filters and orders until they are stored again.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::document::{decode, set_virtualized_by};
use super::rewrite::{FIRST_HOSTS, MAX_HOSTS, first_bytes};
use super::terms::HostTerms;
use super::virtualization::ServiceNames;
use crate::inventory::custom::IndexedKind;
use crate::inventory::history::Author;
use crate::inventory::schema::{HOST, HOST_FACETS, ORGANIZATION, decode as decode_record, encode};
use crate::inventory::{Entity, Error, Inventory, unchanged};
use crate::model::{Host, OrganizationId};
use crate::store::{Batch, Cursor, Facets, Key, Query, Record, Start, StoreErrorKind};

/// The present form of the facets of hosts. It increases with every change of the terms and sort keys.
const FORM: u32 = 2;

/// The form in which all hosts of a store have been stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct StoredForm {
    form: u32,
    /// Whether the hosts have terms.
    terms: bool,
    /// The form of the facets of users.
    #[serde(default)]
    users: u32,
    /// The custom fields by which the hosts are indexed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    custom: Vec<String>,
    /// The custom fields by which the networks are indexed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    networks: Vec<String>,
    /// The form of the usual rules by which the neighbors of ports were found.
    #[serde(default)]
    neighbors: u32,
    /// The digest of the rules of port names by which the neighbors were found; `None`: the usual rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    port_names: Option<String>,
}

impl StoredForm {
    /// Returns the custom fields by which the records of a kind are indexed.
    fn fields(self, kind: IndexedKind) -> Vec<String> {
        match kind {
            IndexedKind::Hosts => self.custom,
            IndexedKind::Networks => self.networks,
        }
    }
}

/// The present form of the facets of users. It increases when e-mail addresses are compared or found in another way.
const USER_FORM: u32 = 3;

/// The present form of the usual rules by which neighbors are found. It increases when the usual names of ports change.
const NEIGHBOR_FORM: u32 = 1;

/// Number of organizations that are read at a time.
const ORGANIZATIONS: usize = 128;

impl Inventory {
    /// Upgrades stored records to this version and these options. Returns their number.
    ///
    /// These are the hosts and users that an earlier version of the library has stored, hosts that were stored [without
    /// terms](crate::Inventory::without_host_terms), and hosts and networks that were stored without one of the present
    /// [indexes](crate::Inventory::with_custom_index). Neighbors of ports that were resolved by other rules for names
    /// of ports (`with_port_names`, or those of an earlier version) are resolved again.
    ///
    /// Until the upgrade, new filters and orders do not find such records, and users whose e-mail addresses were
    /// compared differently cannot log in. The upgrade changes neither the records nor their `updated_at`, except for
    /// hosts that get other neighbors. [`bootstrap`](crate::Inventory::bootstrap) includes it; an application that does
    /// not use `bootstrap` calls this method once at its start. It costs one read when there is nothing to do. A
    /// million hosts take minutes, and requests are answered meanwhile. Interrupted, it starts over at the next call.
    ///
    /// ```
    /// use toposcope::{Inventory, MemoryStore};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// let inventory = Inventory::new(MemoryStore::new());
    /// assert_eq!(inventory.upgrade().await?, 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Only those that every method may return. Records that cannot be decoded are left as they are.
    pub async fn upgrade(&self) -> Result<u64, Error> {
        let key = host_facets_key();
        let found = self.get(key).await?;
        let stored: Option<StoredForm> = found.as_ref().map(decode_record).transpose()?;
        let terms = self.host_terms == HostTerms::All;
        let names = self.custom_index.names();
        let (custom, networks) = (names.to_vec(), names.to_vec());
        let port_names = self.digest_of_port_names(stored.as_ref());
        let (form, users, neighbors) = (FORM, USER_FORM, form_of_neighbors(stored.as_ref()));
        let present = StoredForm { form, terms, users, custom, networks, neighbors, port_names };
        if stored.as_ref().is_some_and(|stored| *stored == present || stored.form > FORM) {
            return Ok(0);
        }
        // Terms that are not needed do no harm.
        let is_complete = |stored: &StoredForm| {
            let has_index = |name: &String| stored.custom.contains(name);
            stored.form == FORM && (stored.terms || !present.terms) && present.custom.iter().all(has_index)
        };
        let are_networks_complete = match &stored {
            Some(stored) => names.iter().all(|name| stored.networks.contains(name)),
            None => names.is_empty(),
        };
        let networks = if are_networks_complete { 0 } else { self.upgrade_all_networks().await? };
        let hosts = if stored.as_ref().is_some_and(is_complete) { 0 } else { self.upgrade_all().await? };
        let is_found_by = |stored: &StoredForm| {
            (stored.neighbors, &stored.port_names) == (present.neighbors, &present.port_names)
        };
        let are_neighbors_current = stored.as_ref().is_some_and(is_found_by);
        let neighbors = if are_neighbors_current { 0 } else { self.upgrade_all_neighbors().await? };
        let are_users_complete = stored.is_some_and(|stored| stored.users == USER_FORM);
        let users = if are_users_complete { 0 } else { self.upgrade_users().await? };
        let count = hosts + networks + neighbors + users;
        let mut batch = Batch::new();
        batch.put(key, unchanged(found.as_ref()), Facets::default(), encode(&present)?);
        match self.store.commit(batch).await {
            // Another process has done the same.
            Err(error) if matches!(error.kind(), StoreErrorKind::Conflict(_)) => Ok(count),
            outcome => Ok(outcome.map(|()| count)?),
        }
    }

    /// Returns the custom fields by which all stored records of a kind are indexed.
    pub(in crate::inventory) async fn indexed_fields(&self, kind: IndexedKind) -> Result<Vec<String>, Error> {
        let stored: Option<StoredForm> =
            self.get(host_facets_key()).await?.as_ref().map(decode_record).transpose()?;
        Ok(stored.map(|stored| stored.fields(kind)).unwrap_or_default())
    }

    /// Returns the form in which all records of the store are, after an upgrade.
    pub(in crate::inventory) async fn form_of_facets(&self) -> Result<serde_json::Value, Error> {
        self.upgrade().await?;
        let stored = self.get(host_facets_key()).await?;
        Ok(stored.as_ref().map(decode_record).transpose()?.unwrap_or_default())
    }

    #[cfg(feature = "discovery")]
    fn digest_of_port_names(&self, _: Option<&StoredForm>) -> Option<String> {
        self.port_names.digest().map(|digest| format!("{digest:032x}"))
    }

    /// Without discovery, neighbors stay as they are.
    #[cfg(not(feature = "discovery"))]
    #[allow(clippy::unused_self, reason = "with discovery, the inventory has rules")]
    fn digest_of_port_names(&self, stored: Option<&StoredForm>) -> Option<String> {
        stored?.port_names.clone()
    }

    #[cfg(feature = "discovery")]
    async fn upgrade_all_neighbors(&self) -> Result<u64, Error> {
        self.upgrade_organizations(|organization| self.upgrade_neighbors(organization)).await
    }

    #[cfg(not(feature = "discovery"))]
    #[allow(clippy::unused_self, clippy::unused_async, reason = "as with discovery")]
    async fn upgrade_all_neighbors(&self) -> Result<u64, Error> {
        Ok(0)
    }

    async fn upgrade_all(&self) -> Result<u64, Error> {
        self.upgrade_organizations(|organization| self.upgrade_hosts(organization)).await
    }

    async fn upgrade_all_networks(&self) -> Result<u64, Error> {
        self.upgrade_organizations(|organization| self.upgrade_networks(organization)).await
    }

    /// Upgrades records of every organization. Returns their number.
    async fn upgrade_organizations<F>(&self, upgrade: impl Fn(OrganizationId) -> F) -> Result<u64, Error>
    where
        F: Future<Output = Result<u64, Error>>,
    {
        let mut count = 0;
        let mut organizations = Query { limit: Some(ORGANIZATIONS), ..Query::new(ORGANIZATION) };
        loop {
            let page = self.store.list(&organizations).await?;
            for record in &page.records {
                match upgrade(record.key.id.into()).await {
                    Ok(upgraded) => count += upgraded,
                    // It was deleted meanwhile.
                    Err(error) if error.is_of_missing_organization() => {}
                    Err(error) => return Err(error),
                }
            }
            let Some(cursor) = page.next else { return Ok(count) };
            organizations.start = Start::After(cursor);
        }
    }

    async fn upgrade_hosts(&self, organization: OrganizationId) -> Result<u64, Error> {
        let mut query =
            Query { organization: Some(organization.uuid()), limit: Some(FIRST_HOSTS), ..Query::new(HOST) };
        let mut total = 0;
        loop {
            let mut transaction =
                self.transaction(Author::system(organization), Entity::Organization, organization);
            let (last, count) = loop {
                let records = first_bytes(self.store.list(&query).await?.records);
                let Some(last) = records.last().map(|record| record.key.id) else { return Ok(total) };
                let count = records.len();
                let batch = self.with_present_facets(organization, records).await?;
                if batch.writes().is_empty() || transaction.commit(batch).await? {
                    break (last, count);
                }
            };
            total += count as u64;
            query.start = Start::After(Cursor::new(Vec::new(), last));
            query.limit = Some((2 * count).min(MAX_HOSTS));
        }
    }

    /// Returns the batch that stores hosts again, as they are, with the facets of this version.
    async fn with_present_facets(
        &self,
        organization: OrganizationId,
        records: Vec<Record>,
    ) -> Result<Batch, Error> {
        let (encoder, index) = (self.host_encoder(organization), self.custom_index.clone());
        let bytes = records.iter().map(|record| record.body.len()).sum();
        let compute = move || {
            let computed = records.into_iter().filter_map(|record| match decode::<Host>(&record) {
                Ok(host) => {
                    let mut facets = encoder.facets(&host);
                    index.add_to(&mut facets, &host.custom);
                    Some((facets, record, host))
                }
                Err(error) => {
                    tracing::warn!("a stored host was left out of an upgrade: {}", error.with_causes());
                    None
                }
            });
            computed.collect::<Vec<_>>()
        };
        let computed = self.state.offload.run(organization, bytes, compute).await?;
        let (mut names, mut batch) = (ServiceNames::default(), Batch::new());
        for (mut facets, record, host) in computed {
            let name = self.virtualized_by(organization, &host, &mut names, &mut batch).await?;
            set_virtualized_by(&mut facets, &name);
            batch.put(record.key, unchanged(Some(&record)), facets, record.body.clone());
        }
        Ok(batch)
    }
}

/// Returns the form of the neighbors after an upgrade. Without discovery, they stay as they are.
fn form_of_neighbors(stored: Option<&StoredForm>) -> u32 {
    if cfg!(feature = "discovery") { NEIGHBOR_FORM } else { stored.map_or(0, |stored| stored.neighbors) }
}

/// Returns the key of the form in which the hosts are stored.
const fn host_facets_key() -> Key {
    Key::new(HOST_FACETS, Uuid::nil())
}
