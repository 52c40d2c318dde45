//! Creation and replacement of many hosts in one request.
//!
//! A request passes through these steps:
//! 1. *Parse* every host ([`input`](super::input)), and refuse repeated ids.
//! 2. *Check* ([`check`]): check references and access, and choose ids ([`ids`]).
//! 3. *Encode* ([`encode`]): set times, validate and encode.
//! 4. *Store* ([`store`]): commit in groups, and check again what other writers have changed in the meantime. A group
//!    is encoded while the one before it is committed.
//!
//! Hosts are decoded and encoded on blocking threads, in jobs of about a megabyte, between which organizations take
//! turns.

mod check;
mod encode;
mod ids;
mod results;
mod store;
mod times;

use std::collections::HashSet;

use bytes::Bytes;

use self::check::{BulkItem, PartIds};
#[cfg(feature = "discovery")]
pub(in crate::inventory) use self::ids::rename_parts;
pub(in crate::inventory) use self::ids::{adopt_parts, rename_host};
use self::results::Results;
pub use self::results::{BulkChange, BulkResult};
pub(in crate::inventory) use self::times::stamp;
use super::input::parse_listed_host;
use super::texts::check_host_texts;
use super::{EncodedHost, HOST};
use crate::access::Caller;
use crate::fair_threads::yield_turn;
use crate::inventory::hosts::Hosts;
use crate::inventory::{Error, Inventory, Problem, require_level};
use crate::model::{Host, HostId, OrganizationId, Permission, Record, Timestamp, uuids};
use crate::store::Query;
use crate::wire::Atomicity;

/// A host of a bulk request: a [`Host`], or a JSON object of the API.
///
/// A JSON object needs no ids and no times, and requires of a host `network_id` and `name`, of an interface
/// `ip_address`, of a port `number` and `protocol`, of a service `name` and `service_definition`, of a binding `type`
/// with the ids that it implies, and of an interface entry `if_index` and `if_descr`. In a [`Host`], the nil id
/// (`HostId::nil()`) counts as missing. A JSON object with `expected_updated_at` replaces only a host with this `updated_at`.
#[derive(Clone, Debug)]
pub struct BulkHost(Input);

#[derive(Clone, Debug)]
enum Input {
    Json(Bytes),
    Host(Box<Host>),
}

impl BulkHost {
    /// The maximum number of hosts in a request.
    pub const MAX: usize = 1000;

    /// Creates a host from the text of a JSON object. The text is parsed only when the request is processed.
    ///
    /// A slice of a request's body shares the memory of the body.
    #[must_use]
    pub fn from_json(object: impl Into<Bytes>) -> Self {
        Self(Input::Json(object.into()))
    }

    fn size(&self) -> usize {
        match &self.0 {
            Input::Json(text) => text.len(),
            Input::Host(host) => host.likely_size(),
        }
    }

    /// Parses the host, and the time at which the client believes that it last changed.
    fn parse(self) -> Result<(Host, Option<Timestamp>), Error> {
        match self.0 {
            Input::Json(text) => parse_listed_host(&text),
            Input::Host(host) => check_host_texts(&host, None).map(|()| (*host, None)),
        }
    }
}

impl From<Host> for BulkHost {
    fn from(host: Host) -> Self {
        Self(Input::Host(Box::new(host)))
    }
}

impl Hosts<'_> {
    /// Creates hosts, or replaces the hosts of the same ids, on behalf of a caller.
    ///
    /// The caller must be a Member or above.
    ///
    /// Results are in the order of the hosts, at most [`BulkHost::MAX`]. A host replaces all that its predecessor
    /// contains; its network cannot change.
    ///
    /// - *Ids.* A host without an id gets a new one. If the id belongs to another organization, the host gets a random
    ///   id, which its result contains. A part keeps its id if the replaced host has it or no other host of the
    ///   organization does, and gets a new one otherwise. With `AllOrNothing`, a part may also move from one host of the
    ///   request to another. References within the request follow new ids.
    /// - *Owners.* `host_id`, `network_id` and `service_id` of parts are set to the record that contains them.
    /// - *Times.* Given times are ignored. `created_at` of replaced hosts and parts stays, and `updated_at` changes only
    ///   with their content. A host that would not change is not written.
    ///
    /// [`AllOrNothing`](Atomicity::AllOrNothing) makes one commit. [`PerHost`](Atomicity::PerHost) commits several
    /// hundred hosts at a time; a dropped future leaves each of these groups stored or not begun. If the store
    /// fails or is busy after the first group, the remaining results contain that error.
    ///
    /// ```
    /// # use toposcope::model::Network;
    /// use toposcope::access::{Caller, Scope};
    /// use toposcope::inventory::{Atomicity, BulkChange, BulkHost};
    /// use toposcope::model::{Host, Permission, UserId};
    /// use toposcope::{Inventory, MemoryStore};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// let inventory = Inventory::new(MemoryStore::new());
    /// let organization = inventory.organizations().create("Example").await?;
    /// let network = inventory.networks().create(&Caller::system(organization.id), Network::new("Office")).await?;
    /// let caller = Caller::new(organization.id, UserId::nil(), Permission::Member, Scope::only([network.id]));
    ///
    /// let json = format!(r#"{{"network_id": "{}", "name": "camera"}}"#, network.id);
    /// let hosts = vec![Host::new(network.id, "printer").into(), BulkHost::from_json(json)];
    /// let results = inventory.hosts().bulk_put(&caller, hosts, Atomicity::AllOrNothing).await?;
    /// assert!(results.iter().all(|result| matches!(result.outcome, Ok(BulkChange::Created))));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// For the request: `PermissionDenied`; `Invalid` with the field `hosts` for an empty or too long list; `Busy` when
    /// too much work of the organization is waiting.
    ///
    /// For the request if it is `AllOrNothing`, and otherwise for a host. [`Error::field`] is the path of the value in the
    /// request, such as `hosts.3.ports.0.number`, or of the host, such as `hosts.3`:
    /// - `Invalid`: a value is missing or wrong, or two hosts have the same id.
    /// - `AccessDenied`: the caller cannot access the network of the host or of the host to be replaced, or a service that newly
    ///   virtualizes the host or a service of it.
    /// - `NetworkMismatch`: the host to be replaced is on another network.
    /// - `Outdated`: the host to be replaced has changed since its `expected_updated_at`; `NotFound`: there is none.
    /// - `InUse`: a service that the host no longer has virtualizes a host or a service.
    /// - `ReferenceInvalid`, `AlreadyExists`, `TooLarge`, `QuotaExceeded`, `Conflict`: as for
    ///   [`Hosts::put`](crate::inventory::Hosts::put).
    pub async fn bulk_put(
        self,
        caller: &Caller,
        hosts: Vec<BulkHost>,
        atomicity: Atomicity,
    ) -> Result<Vec<BulkResult>, Error> {
        require_level(caller, Permission::Member)?;
        if hosts.is_empty() {
            return Err(Error::invalid("hosts", Problem::Empty));
        }
        if hosts.len() > BulkHost::MAX {
            return Err(Error::invalid("hosts", Problem::MaxLength { max: BulkHost::MAX }));
        }
        let mut results = Results::new(hosts.len(), atomicity);
        let done = self.inventory.pending_answer.as_ref().map(|pending| pending.done()).unwrap_or_default();
        for (index, (id, change)) in done {
            results.set_id(index, id);
            results.set(index, Ok(change));
        }
        let items = self.inventory.parse_hosts(caller.organization_id(), hosts, &mut results).await?;
        let hosts = self.inventory.check_hosts(caller, items, PartIds::Unchecked, &mut results).await?;
        let of_request = self.inventory.for_request();
        of_request.as_ref().unwrap_or(self.inventory).store_hosts(caller, hosts, &mut results).await?;
        results.finish()
    }
}

impl Inventory {
    /// Parses hosts that have no result yet, gives ids to those without, and refuses repeated ids.
    async fn parse_hosts(
        &self,
        organization: OrganizationId,
        hosts: Vec<BulkHost>,
        results: &mut Results,
    ) -> Result<Vec<BulkItem>, Error> {
        let done: HashSet<usize> = results.done().map(|(index, ..)| index).collect();
        let hosts = hosts.into_iter().enumerate().filter(|(index, _)| !done.contains(index));
        let inputs = hosts.map(|(index, host)| (host.size(), (index, host))).collect();
        let parse = |(index, host): (usize, BulkHost)| (index, host.parse());
        let parsed = self.in_jobs(organization, inputs, parse).await?;
        // A repeated request refuses what the first one would have refused.
        let mut seen: HashSet<HostId> = results.done().map(|(_, id, _)| id).collect();
        let mut items = Vec::with_capacity(parsed.len());
        for (index, parsed) in parsed {
            let mut host = match parsed {
                Ok((host, expected)) => {
                    results.expect(index, expected);
                    host
                }
                Err(error) => {
                    results.fail(index, error)?;
                    continue;
                }
            };
            if host.id.is_nil() {
                host.id = self.new_id()?;
                results.assign_id(index, host.id);
            } else {
                results.set_id(index, host.id);
            }
            if seen.insert(host.id) {
                items.push(BulkItem { index, host });
            } else {
                results.fail(index, Error::invalid("id", Problem::Duplicate))?;
            }
        }
        Ok(items)
    }

    /// Runs work on hosts, each given with its size in bytes, on blocking threads.
    pub(in crate::inventory) async fn in_jobs<T: Send + 'static, U: Send + 'static>(
        &self,
        organization: OrganizationId,
        inputs: Vec<(usize, T)>,
        work: impl Fn(T) -> U + Clone + Send + 'static,
    ) -> Result<Vec<U>, Error> {
        let mut outputs = Vec::with_capacity(inputs.len());
        let mut inputs = inputs.into_iter();
        while inputs.len() > 0 {
            let (mut job, mut bytes) = (Vec::new(), 0);
            while bytes < JOB_BYTES
                && let Some((size, input)) = inputs.next()
            {
                bytes += size;
                job.push(input);
            }
            let work = work.clone();
            let work = move |input| {
                yield_turn();
                work(input)
            };
            let run = move || job.into_iter().map(work).collect::<Vec<U>>();
            outputs.extend(self.state.offload.run(organization, bytes, run).await?);
        }
        Ok(outputs)
    }

    /// Returns which of these host ids belong to other organizations, without reading any host.
    pub(in crate::inventory) async fn foreign_host_ids(
        &self,
        organization: OrganizationId,
        ids: Vec<HostId>,
    ) -> Result<HashSet<HostId>, Error> {
        let mut foreign = HashSet::new();
        let mut undecided = vec![ids];
        while let Some(mut ids) = undecided.pop() {
            let all = Query { ids: Some(uuids(&ids)), ..Query::new(HOST) };
            let own = Query { organization: Some(organization.uuid()), ..all.clone() };
            if ids.len() == 1 {
                // Counted before and after: an own host that is created or deleted meanwhile is not foreign.
                let was_own = self.count(own.clone()).await? > 0;
                if !was_own && self.count(all).await? > 0 && self.count(own).await? == 0 {
                    foreign.extend(ids);
                }
            } else if !ids.is_empty() && self.count(all).await? > self.count(own).await? {
                undecided.push(ids.split_off(ids.len() / 2));
                undecided.push(ids);
            }
        }
        Ok(foreign)
    }
}

impl Inventory {
    /// Gives an encoded host another id.
    pub(in crate::inventory) async fn reassign_host(
        &self,
        organization: OrganizationId,
        encoded: EncodedHost,
        id: HostId,
    ) -> Result<EncodedHost, Error> {
        let EncodedHost { mut host, tags, .. } = encoded;
        rename_host(&mut host, id);
        let mut encoded = self.host_encoder(organization).encode_in(&self.state.offload, host).await?;
        // The paths of the tags are those of the document, whose lists are not sorted.
        encoded.tags = tags;
        Ok(encoded)
    }
}

/// The size of a job in bytes of JSON, which takes about 10 ms.
const JOB_BYTES: usize = 1024 * 1024;
