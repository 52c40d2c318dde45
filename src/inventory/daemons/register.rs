use serde_json::{Map, Value, json};

use super::discoveries::MAX_OPEN;
use super::{check_version, put_contact};
use crate::access::DaemonCaller;
use crate::inventory::collections::CollectionRecord;
use crate::inventory::daemons::Daemons;
use crate::inventory::discovery::given_ids;
use crate::inventory::policy::Actor;
use crate::inventory::schema::{
    ASSIGNED_LINK, DAEMON, DAEMON_KEY_LINK, DISCOVERY, HOST, OPEN_LINK, daemon_api_key_record_key,
    daemon_record_key, decode, encode, exists, linked, network_key, on_network,
};
use crate::inventory::{Entity, Error, Inventory, validate};
use crate::model::{
    DaemonId, Discovery, DiscoveryDaemon, DiscoveryType, Host, HostId, Source, Timestamp, UserId, derived_id,
    uuids,
};
use crate::store::{Batch, Link, LinkFilter, Precondition, Query, Record};
use crate::wire::NewDaemon;

/// The maximum number of daemons of a network.
const MAX_DAEMONS: u64 = 100;

/// The maximum number of open discoveries of the daemons of one key: half of the queue of its network.
const MAX_OPEN_OF_KEY: u64 = MAX_OPEN / 2;

/// The first work of a daemon.
const FIRST_WORK: &[DiscoveryType] = &[DiscoveryType::SelfReport, DiscoveryType::Network];

/// The first work of a daemon that does all of its work as one type of discovery.
const UNIFIED_WORK: &[DiscoveryType] = &[DiscoveryType::Unified];

/// A daemon to be registered: its id, and its record if it is registered already.
type Admitted = (DaemonId, Option<(Record, DiscoveryDaemon)>);

impl Daemons<'_> {
    /// Registers a daemon on its key's network, creates its host, and queues its first work.
    ///
    /// The daemon keeps its id unless another key's daemon or another network has it. The work is a report of its own
    /// host and then a scan of the network, or both as one discovery. Registering again updates the daemon, returns the
    /// work that it has to the queue, like [`Daemons::announce`](crate::inventory::Daemons::announce), and queues work only if it has
    /// none.
    ///
    /// ```
    /// # use toposcope::model::Network;
    /// # use toposcope::access::Caller;
    /// # use toposcope::inventory::{DaemonStatus, NewDaemon, NewDaemonApiKey};
    /// # use toposcope::model::{DaemonId, DiscoveryType};
    /// # use toposcope::{Inventory, MemoryStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// # let network = inventory.networks().create(&Caller::system(organization.id), Network::new("Office")).await?;
    /// let key = inventory.daemon_api_keys().create(&Caller::system(network.organization_id), NewDaemonApiKey::new(network.id, "scanner")).await?;
    /// let caller = inventory.authenticate_daemon_key(key.plaintext()).await?;
    /// let daemon = inventory.daemons().register(&caller, NewDaemon::new(DaemonId::from_u128(1), "scanner")).await?;
    /// let work = inventory.daemons().request_work(&caller, daemon.id, DaemonStatus::default()).await?;
    /// assert_eq!(work.discovery.map(|discovery| discovery.discovery_type), Some(DiscoveryType::SelfReport));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// - `Invalid`: the name or the version has a wrong length, or there are more than 1,000 subnets.
    /// - `Invalid` with the field `discovery`: the inventory stores hosts [without terms](crate::Inventory::without_host_terms).
    /// - `QuotaExceeded`: the network has 100 daemons, or 100 open discoveries, or the key's daemons have 50 of them, or the
    ///   organization has too many hosts.
    pub async fn register(self, caller: &DaemonCaller, new: NewDaemon) -> Result<DiscoveryDaemon, Error> {
        let name = validate::name("name", &new.name, 100)?;
        check_version("version", new.version.as_deref())?;
        let field = "capabilities.interfaced_subnet_ids";
        let of_request = self.inventory.for_request();
        let inventory = of_request.as_ref().unwrap_or(self.inventory);
        let capabilities = inventory.own_capabilities(caller, new.capabilities, field).await?;
        let new = NewDaemon { name, capabilities, ..new };
        let mut transaction = inventory.reviewed_transaction(caller, Entity::Daemon, new.id);
        loop {
            let (id, stored) = inventory.admit_daemon(caller, new.id).await?;
            let mut batch = Batch::new();
            let ended = inventory.return_work(caller, id, &mut batch).await?;
            let types = if new.is_unified { UNIFIED_WORK } else { FIRST_WORK };
            let is_first = stored.is_none();
            let daemon = match stored {
                Some((record, daemon)) => {
                    let before = inventory.policy.is_some().then(|| daemon.clone());
                    let daemon = register_again(caller, &record, daemon, &new, inventory.now(), &mut batch)?;
                    transaction.review(Actor::Daemon(caller), before.as_ref(), Some(&daemon)).await?;
                    daemon
                }
                None => {
                    inventory.check_new_daemon(caller, types.len() as u64).await?;
                    let (daemon, has_host) = inventory.new_daemon(caller, id, &new).await?;
                    // Refused before its host is created.
                    transaction.review(Actor::Daemon(caller), None, Some(&daemon)).await?;
                    if !has_host && inventory.create_daemon_host(caller, &daemon).await? != daemon.host_id {
                        // Another host has got the id in the meantime.
                        transaction.retry().await?;
                        continue;
                    }
                    let facets = daemon.facets(caller.organization_id);
                    batch.put(daemon_record_key(id), Precondition::Absent, facets, encode(&daemon)?);
                    daemon
                }
            };
            let _turn = inventory.discovery_turn(&mut transaction, caller.network_id).await?;
            if is_first {
                inventory.check_daemons(caller).await?;
            }
            batch.guard(exists(network_key(caller.network_id)));
            batch.guard(exists(daemon_api_key_record_key(caller.key_id)));
            let assigned = linked(DISCOVERY, caller.organization_id, Link::new(ASSIGNED_LINK, id.uuid()));
            if inventory.count(assigned).await? == 0 {
                let queued = types.iter().map(|discovery_type| {
                    let id = inventory.new_id()?;
                    Ok(Discovery::queued(
                        id,
                        caller.network_id,
                        Some(daemon.id),
                        *discovery_type,
                        inventory.now(),
                    ))
                });
                let queued: Vec<Discovery> = queued.collect::<Result<_, Error>>()?;
                inventory.queue_discoveries(caller.organization_id, &queued, &mut batch).await?;
                inventory.check_share_of_key(caller, queued.len() as u64).await?;
            }
            if transaction.commit(batch).await? {
                inventory.forget_credentials(&ended);
                return Ok(daemon);
            }
        }
    }
}

impl Inventory {
    /// Checks that the open work of a key's daemons, plus `more`, is within the limit of a key.
    async fn check_share_of_key(&self, caller: &DaemonCaller, more: u64) -> Result<(), Error> {
        let (organization, network) = (caller.organization_id, caller.network_id);
        let of_key = Query {
            links: vec![LinkFilter::new(DAEMON_KEY_LINK, [caller.key_id.uuid()])],
            ..on_network(DAEMON, organization, network)
        };
        let daemons: Vec<DaemonId> =
            self.store.list(&of_key).await?.records.iter().map(|daemon| daemon.key.id.into()).collect();
        let mut work = linked(DISCOVERY, organization, Link::new(OPEN_LINK, network.uuid()));
        work.links.push(LinkFilter::new(ASSIGNED_LINK, uuids(&daemons)));
        self.check_quota(Some(MAX_OPEN_OF_KEY), Entity::Discovery, work, more).await
    }

    /// Decides about the id of a daemon, and returns its record if it is registered.
    ///
    /// The daemon gets the id that it has chosen, or else an id that follows from it, or else a random id.
    async fn admit_daemon(&self, caller: &DaemonCaller, given: DaemonId) -> Result<Admitted, Error> {
        let parts = [caller.network_id.uuid(), caller.key_id.uuid(), given.uuid()];
        let derived: DaemonId = derived_id("daemon", &parts.each_ref().map(|id| id.as_bytes().as_slice()));
        for id in [given, derived] {
            if id.is_nil() {
                continue;
            }
            let all = Query { ids: Some(vec![id.uuid()]), ..Query::new(DAEMON) };
            let own = on_network(DAEMON, caller.organization_id, caller.network_id);
            let own = Query { ids: all.ids.clone(), ..own };
            let Some(record) = self.store.list(&own).await?.records.pop() else {
                if self.count(all).await? == 0 {
                    return Ok((id, None));
                }
                continue;
            };
            let daemon: DiscoveryDaemon = decode(&record)?;
            if self.may_take(caller, &daemon).await? {
                return Ok((id, Some((record, daemon))));
            }
        }
        Ok((self.new_random_id()?, None))
    }

    /// Returns whether a caller may take a daemon of its network.
    ///
    /// The daemon must have been registered with the caller's key, or with a key that no longer exists.
    async fn may_take(&self, caller: &DaemonCaller, daemon: &DiscoveryDaemon) -> Result<bool, Error> {
        let Some(key) = daemon.api_key_id.filter(|key| *key != caller.key_id) else { return Ok(true) };
        Ok(self.get(daemon_api_key_record_key(key)).await?.is_none())
    }

    /// Refuses another daemon if the network has the maximum number of them.
    async fn check_daemons(&self, caller: &DaemonCaller) -> Result<(), Error> {
        let daemons = on_network(DAEMON, caller.organization_id, caller.network_id);
        self.check_quota(Some(MAX_DAEMONS), Entity::Daemon, daemons, 1).await
    }

    /// Refuses another daemon with this much work if it would exceed a limit.
    async fn check_new_daemon(&self, caller: &DaemonCaller, work: u64) -> Result<(), Error> {
        self.check_daemons(caller).await?;
        let open = linked(DISCOVERY, caller.organization_id, Link::new(OPEN_LINK, caller.network_id.uuid()));
        self.check_quota(Some(MAX_OPEN), Entity::Discovery, open, work).await?;
        self.check_share_of_key(caller, work).await
    }

    /// Returns a new daemon, and whether its host exists.
    async fn new_daemon(
        &self,
        caller: &DaemonCaller,
        id: DaemonId,
        new: &NewDaemon,
    ) -> Result<(DiscoveryDaemon, bool), Error> {
        let (host_id, has_host) = self.host_of_daemon(caller, id).await?;
        let now = self.now();
        let daemon = DiscoveryDaemon {
            id,
            network_id: caller.network_id,
            host_id,
            user_id: UserId::nil(),
            api_key_id: Some(caller.key_id),
            name: new.name.clone(),
            url: String::new(),
            mode: new.mode,
            version: new.version.clone(),
            capabilities: new.capabilities.clone(),
            is_unreachable: false,
            standby: false,
            last_seen: now,
            last_report_at: None,
            tags: Vec::new(),
            created_at: now,
            updated_at: now,
        };
        Ok((daemon, has_host))
    }

    /// Returns the id of a daemon's host, and whether the host exists.
    ///
    /// The id follows from the daemon, so that a registration that failed halfway can be repeated. It is random if other
    /// hosts have the ids that follow.
    async fn host_of_daemon(&self, caller: &DaemonCaller, daemon: DaemonId) -> Result<(HostId, bool), Error> {
        let network = caller.network_id;
        let id: HostId = derived_id("daemon host", &[network.as_bytes(), daemon.as_bytes()]);
        for id in given_ids(network, id) {
            if self.discovered_host(caller, id).await?.is_some() {
                return Ok((id, true));
            }
            let all = Query { ids: Some(vec![id.uuid()]), ..Query::new(HOST) };
            if self.count(all).await? == 0 {
                return Ok((id, false));
            }
        }
        Ok((self.new_random_id()?, false))
    }

    /// Creates the host of a daemon, and returns its id.
    async fn create_daemon_host(
        &self,
        caller: &DaemonCaller,
        daemon: &DiscoveryDaemon,
    ) -> Result<HostId, Error> {
        let (id, now) = (daemon.host_id, daemon.created_at);
        let mut host = Host::with_id(id, caller.network_id, daemon.name.clone());
        host.source = Source::Discovery { metadata: vec![metadata(daemon.id, id, now)] };
        Ok(self.discover_host(caller, host, now).await?.id)
    }
}

fn register_again(
    caller: &DaemonCaller,
    record: &Record,
    mut daemon: DiscoveryDaemon,
    new: &NewDaemon,
    now: Timestamp,
    batch: &mut Batch,
) -> Result<DiscoveryDaemon, Error> {
    let change = |daemon: &mut DiscoveryDaemon| {
        daemon.api_key_id = Some(caller.key_id);
        daemon.name.clone_from(&new.name);
        daemon.mode = new.mode;
        daemon.version.clone_from(&new.version);
        daemon.capabilities.clone_from(&new.capabilities);
    };
    put_contact(caller, record, &mut daemon, now, change, batch)?;
    Ok(daemon)
}

/// Returns the metadata of a host that a daemon reports to run on.
fn metadata(daemon: DaemonId, host: HostId, now: Timestamp) -> Map<String, Value> {
    let metadata = json!({"type": "SelfReport", "daemon_id": daemon, "host_id": host, "date": now});
    match metadata {
        Value::Object(metadata) => metadata,
        _ => Map::new(),
    }
}
