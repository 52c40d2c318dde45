//! Import of hosts from JSON lines.

mod checked_hosts;
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
mod removed_parts;
mod report;
mod row_fields;
mod rows;
mod storing;
mod times;
mod unplaced;

use std::sync::Arc;

use tokio::io::AsyncRead;

pub use options::Import;

use self::checked_hosts::CheckedHosts;
use self::chunk::Parsing;
use self::dry_run::DryRunStore;
use self::options::{ImportTarget, require_importer};
use self::parse::LineParser;
use self::rows::ImportRows;
use self::storing::Storing;
use super::history::Recording;
use super::hosts::Hosts;
use super::policy::Review;
use super::records::belongs_to;
use super::schema::network_key;
use super::{Entity, Error, ErrorKind, Inventory};
use crate::access::Caller;
use crate::model::{NetworkId, OrganizationId};
use crate::store::Store;
use crate::wire::ImportReport;

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
    /// After three refused lines of a host, its further ones are refused without reading it: the work for a line stays in proportion to what
    /// was sent and stored.
    ///
    /// A host whose id belongs to another organization gets a random id, which the report contains (see
    /// [`Reassignment`](crate::wire::Reassignment)). Importing the same line again creates another host.
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
    /// `PermissionDenied` for a caller below Member; `SessionRequired`; `AccessDenied` when the caller cannot access the
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
        let parser = LineParser {
            inventory: inventory.clone(),
            organization,
            network,
            row_fields: rows.fields(),
            began_at: self.now(),
        };
        let mut checked_hosts = CheckedHosts::default();
        let are_rows = parser.row_fields.is_some();
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
                    let inventory = of_chunk.as_ref().unwrap_or(&inventory);
                    let (target, checked_hosts, chunk) = (&target, &mut checked_hosts, &mut chunk);
                    Storing { inventory, target, report, checked_hosts, are_rows, chunk }.store().await
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
}
