//! Import of hosts from JSON lines.

mod chunk;
#[cfg(feature = "csv")]
mod csv;
mod described;
mod document;
mod draft;
mod dry_run;
#[cfg(feature = "csv")]
mod encoding;
mod options;
mod parse;
mod report;
mod rows;
mod times;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use tokio::io::AsyncRead;

pub use options::Import;

use self::chunk::{Chunk, Parsing, split_repeated_ids};
use self::dry_run::DryRunStore;
use self::options::{ImportTarget, require_importer};
use self::parse::{LineParser, ParsedLine, refusal};
use self::rows::ImportRows;
use super::history::Recording;
use super::hosts::{EncodedHost, Hosts};
use super::policy::Review;
use super::records::belongs_to;
use super::schema::network_key;
use super::{Entity, Error, ErrorKind, Inventory};
use crate::access::Caller;
use crate::model::{HostId, Network, NetworkId, OrganizationId};
use crate::store::{Key, Store};
use crate::wire::{ImportReport, Reassignment, Refusal};

impl Hosts<'_> {
    /// Imports hosts from JSON lines, one host per line.
    ///
    /// A line is a host as served by `GET /api/v1/hosts`, or as `POST /api/v1/hosts` takes it. The inventory chooses the
    /// ids and times that a line leaves out, and a host without a source is `Manual`. A line without an id makes a new
    /// host; where its parts have ids of other records, they get new ones. A part belongs to the host that contains it,
    /// whatever host and network it names.
    ///
    /// Blank lines are skipped. Each line is stored or refused on its own; a host with an existing id is replaced. There, a part without
    /// an id is the stored one with the same key, as of a bulk request, and a line without any times is a
    /// description: the host keeps its times, and is not written if it stays as it is.
    /// Odd values from real devices are repaired and counted in the report (see [`Alteration`](crate::wire::Alteration)); any other fault
    /// refuses the line. The input is streamed, and memory use does not grow with its length. Lines are stored in
    /// groups of a few hundred, so that adjacent hosts may exchange ports and services in either order. Reading waits
    /// while a group is stored, so a slow store slows down the sender.
    ///
    /// A host whose id belongs to another organization gets a random id, which the report contains (see
    /// [`Reassignment`]). Importing the same line again creates another host.
    ///
    /// Dropping the future leaves each group stored completely or not begun.
    ///
    /// For others than [the system](crate::access::Caller::system), lines are refused if their network, or that of the host to be replaced,
    /// is outside of the caller's scope, if they would move a host to another network, and if they would remove a service
    /// that virtualizes another host or its services.
    ///
    /// ```
    /// # use toposcope::model::Network;
    /// use toposcope::access::{Caller, Scope};
    /// use toposcope::inventory::Import;
    /// use toposcope::model::{Host, Permission, UserId};
    /// use toposcope::{Inventory, MemoryStore};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let inventory = Inventory::new(MemoryStore::new());
    /// let organization = inventory.organizations().create("Example").await?;
    /// let network = inventory.networks().create(&Caller::system(organization.id), Network::new("Office")).await?;
    /// let caller = Caller::new(organization.id, UserId::nil(), Permission::Member, Scope::only([network.id]));
    ///
    /// let line = serde_json::to_vec(&Host::new(network.id, "printer"))?;
    /// let import = Import::new().only_network(network.id).dry_run();
    /// let report = inventory.hosts().import(&caller, &line[..], import).await?;
    /// assert_eq!((report.imported, report.refused), (1, 0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `PermissionDenied` for a caller below Member; `UserContextRequired`; `AccessDenied` when the caller cannot access the
    /// only network to be imported;
    /// `NotFound` when there is no such organization; `Unreadable` when reading the input fails; `StoreUnavailable`
    /// when the store fails; `ReferenceInvalid` when the only network to be imported does not exist; `Busy` when too
    /// much work of the organization is waiting. Hosts stored before the failure remain; that is all but at most the
    /// last few hundred lines. The last call of [`Import::on_progress`] reports them.
    pub async fn import<R>(self, caller: &Caller, input: R, import: Import<'_>) -> Result<ImportReport, Error>
    where
        R: AsyncRead + Unpin + Send,
    {
        let mut report = ImportReport::default();
        self.inventory.import_hosts_into(caller, input, import, &mut report).await?;
        Ok(report)
    }
}

impl Inventory {
    /// Imports hosts like [`Hosts::import`]. On an error, `report` has the lines that were imported before.
    pub(crate) async fn import_hosts_into<R>(
        &self,
        caller: &Caller,
        input: R,
        import: Import<'_>,
        report: &mut ImportReport,
    ) -> Result<(), Error>
    where
        R: AsyncRead + Unpin + Send,
    {
        self.require_organization(caller).await?;
        require_importer(caller, import.create_networks)?;
        let importer = (!caller.is_system()).then(|| caller.clone());
        self.run_import(caller.organization_id(), importer, input, import, report).await
    }

    async fn run_import<R>(
        &self,
        organization: OrganizationId,
        caller: Option<Caller>,
        input: R,
        import: Import<'_>,
        report: &mut ImportReport,
    ) -> Result<(), Error>
    where
        R: AsyncRead + Unpin + Send,
    {
        #[cfg(feature = "csv")]
        let is_csv = import.is_csv;
        let Import { network, create_networks, dry_run, max_line, mut on_progress, mut identify, .. } =
            import;
        let mut target = ImportTarget { organization, caller, network, create_networks };
        if let Some(network) = network {
            self.check_only_network(&target, network).await?;
        }
        let checking = dry_run.then(|| Arc::new(DryRunStore::new(Arc::clone(&self.store))));
        let mut inventory = self.clone();
        if let Some(checking) = &checking {
            inventory.store = Arc::clone(checking) as Arc<dyn Store>;
            inventory.policy = inventory.policy.map(Review::of_dry_run);
            inventory.recording = Recording::DryRun;
        }
        #[cfg(feature = "csv")]
        let mut rows = if is_csv {
            ImportRows::of_csv(input, max_line, network).await?
        } else {
            ImportRows::of_lines(input, max_line)
        };
        #[cfg(not(feature = "csv"))]
        let mut rows = ImportRows::of_lines(input, max_line);
        #[cfg(feature = "csv")]
        let are_rows = is_csv;
        #[cfg(not(feature = "csv"))]
        let are_rows = false;
        let parser = LineParser {
            inventory: inventory.clone(),
            organization,
            network,
            are_rows,
            began_at: self.now(),
        };
        let mut parsing = Parsing::begin(&parser, &mut rows).await?;
        while let Some(parsed) = parsing {
            let mut chunk = parsed.finish().await?;
            // The next chunk is parsed while this one is stored. If reading it fails, this one is still stored.
            let following = Parsing::begin(&parser, &mut rows).await;
            if let Some(network) = network {
                chunk.refuse_other_networks(network);
            }
            checking.iter().for_each(|checking| checking.begin_group());
            let stored = match target.identify_again(&mut identify).await {
                Ok(()) => {
                    // The policy has its time for each chunk, since an import has any length.
                    let of_chunk = inventory.for_request();
                    of_chunk.as_ref().unwrap_or(&inventory).store_chunk(&target, &mut chunk, report).await
                }
                Err(error) => Err(error),
            };
            chunk.refusals.sort_by_key(|refusal| refusal.line);
            chunk.refusals.into_iter().for_each(|refusal| report.refuse(refusal));
            (report.lines, report.bytes) = (chunk.lines, chunk.bytes);
            on_progress(report);
            stored?;
            parsing = following?;
        }
        Ok(())
    }

    /// Checks the only network of an import.
    async fn check_only_network(&self, target: &ImportTarget, id: NetworkId) -> Result<(), Error> {
        let network = self.get(network_key(id)).await?;
        let is_allowed = target.caller.as_ref().is_none_or(|caller| caller.scope().allows(id));
        if belongs_to(target.organization, network.as_ref())? {
            let denied = ErrorKind::AccessDenied { entity: Entity::Network, id: id.uuid() };
            if is_allowed { Ok(()) } else { Err(denied.into()) }
        } else if target.create_networks && network.is_none() {
            Ok(())
        } else {
            let field = "network_id".to_owned();
            Err(ErrorKind::ReferenceInvalid { entity: Entity::Network, field }.into())
        }
    }

    /// Stores the lines of a chunk. Refused lines are added to its refusals.
    async fn store_chunk(
        &self,
        target: &ImportTarget,
        chunk: &mut Chunk,
        report: &mut ImportReport,
    ) -> Result<(), Error> {
        if let Some(caller) = &target.caller {
            self.refuse_denied_networks(caller, chunk).await?;
        }
        let lines = std::mem::take(&mut chunk.accepted);
        if target.create_networks {
            report.created_networks += self.create_missing_networks(target.organization, &lines).await?;
        }
        let lines = self.reassign_foreign_ids(target.organization, lines, report).await?;
        for part in split_repeated_ids(lines) {
            let part = self.complete_lines(target.organization, part, report, &mut chunk.refusals).await?;
            self.store_lines(target, part, report, &mut chunk.refusals).await?;
        }
        Ok(())
    }

    /// Refuses lines of the organization's networks that the caller cannot access.
    ///
    /// Other networks outside of the scope do not exist for the organization, and are refused like unknown ones.
    async fn refuse_denied_networks(&self, caller: &Caller, chunk: &mut Chunk) -> Result<(), Error> {
        let networks = chunk.accepted.iter().map(|line| line.encoded.host.network_id);
        let outside: BTreeSet<NetworkId> = networks.filter(|id| !caller.scope().allows(*id)).collect();
        let keys: Vec<Key> = outside.into_iter().map(network_key).collect();
        let mut denied = HashSet::new();
        for record in self.store.get(&keys).await?.into_iter().flatten() {
            if belongs_to(caller.organization_id(), Some(&record))? {
                denied.insert(NetworkId::new(record.key.id));
            }
        }
        chunk.refuse(|host| {
            let id = host.network_id;
            denied
                .contains(&id)
                .then(|| ErrorKind::AccessDenied { entity: Entity::Network, id: id.uuid() }.to_string())
        });
        Ok(())
    }

    /// Gives random ids to hosts whose ids belong to other organizations.
    ///
    /// A host that occurs again gets the same id, as long as the report contains it.
    async fn reassign_foreign_ids(
        &self,
        organization: OrganizationId,
        lines: Vec<ParsedLine>,
        report: &ImportReport,
    ) -> Result<Vec<ParsedLine>, Error> {
        let ids = lines.iter().map(|line| line.encoded.host.id).collect();
        let foreign = self.foreign_host_ids(organization, ids).await?;
        if foreign.is_empty() {
            return Ok(lines);
        }
        let known = report.reassignments.iter().map(|known| (known.given_id, known.id));
        let mut new_ids: HashMap<HostId, HostId> = known.collect();
        let mut reassigned = Vec::with_capacity(lines.len());
        for mut line in lines {
            let given = line.encoded.host.id;
            if foreign.contains(&given) {
                let id = match new_ids.get(&given) {
                    Some(id) => *id,
                    None => self.new_random_id()?,
                };
                new_ids.insert(given, id);
                line.encoded = self.reassign_host(organization, line.encoded, id).await?;
                line.reassignment = Some(Reassignment { line: line.line, given_id: given, id });
            }
            reassigned.push(line);
        }
        Ok(reassigned)
    }

    /// Stores lines together or, if that fails, one by one.
    ///
    /// Thus only faulty lines are refused.
    async fn store_lines(
        &self,
        target: &ImportTarget,
        lines: Vec<ParsedLine>,
        report: &mut ImportReport,
        refusals: &mut Vec<Refusal>,
    ) -> Result<(), Error> {
        let (encoded, rest): (Vec<EncodedHost>, Vec<_>) = lines
            .into_iter()
            .map(|parsed| {
                (parsed.encoded, (parsed.line, parsed.is_new, parsed.alterations, parsed.reassignment))
            })
            .unzip();
        let together = self.put_lines(target, &encoded).await?;
        for (host, (line, is_new, alterations, reassignment)) in encoded.iter().zip(&rest) {
            let replaced = match &together {
                Ok(ids) => Ok(ids.contains(&host.host.id)),
                Err(_) if *is_new => self.put_new_line(target, host).await?.map(|()| false),
                Err(_) => {
                    let alone = self.put_lines(target, std::slice::from_ref(host)).await?;
                    alone.map(|ids| !ids.is_empty())
                }
            };
            match replaced {
                Ok(replaced) => report.accept(replaced, alterations, *reassignment),
                Err(error) => refusals.push(refusal(*line, &error)),
            }
        }
        Ok(())
    }

    /// Stores hosts with distinct ids. Separates errors that refuse a host from those that end the import.
    async fn put_lines(
        &self,
        target: &ImportTarget,
        hosts: &[EncodedHost],
    ) -> Result<Result<Vec<HostId>, Error>, Error> {
        unless_fatal(self.put_hosts(&target.importer(), hosts).await)
    }

    /// Stores the host of a line without an id. Its parts get new ids where parts of other hosts have theirs.
    async fn put_new_line(
        &self,
        target: &ImportTarget,
        host: &EncodedHost,
    ) -> Result<Result<(), Error>, Error> {
        let stored = self.put_new_host(&target.importer(), host).await;
        unless_fatal(stored)
    }

    /// Creates missing networks named by the lines. Returns how many.
    async fn create_missing_networks(
        &self,
        organization: OrganizationId,
        lines: &[ParsedLine],
    ) -> Result<u64, Error> {
        let named: BTreeSet<NetworkId> = lines.iter().map(|parsed| parsed.encoded.host.network_id).collect();
        let keys: Vec<Key> = named.iter().map(|id| network_key(*id)).collect();
        let found = self.store.get(&keys).await?;
        let mut created = 0;
        for (id, _) in named.into_iter().zip(found).filter(|(_, record)| record.is_none()) {
            let network = Network::new(id.to_string());
            match self.networks().create_with_id(&Caller::system(organization), id, network).await {
                Ok(_) => created += 1,
                // Another writer created it. The validation of the hosts determines the owner.
                Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(created)
    }
}

/// Separates errors that refuse a host from those that end the import.
fn unless_fatal<T>(stored: Result<T, Error>) -> Result<Result<T, Error>, Error> {
    match stored.as_ref().map_err(Error::kind) {
        Err(
            ErrorKind::StoreUnavailable
            | ErrorKind::PolicyUnavailable
            | ErrorKind::Internal
            | ErrorKind::Busy,
        ) => stored.map(Ok),
        _ => Ok(stored),
    }
}
