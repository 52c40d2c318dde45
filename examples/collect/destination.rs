//! The place where reports go: an inventory of one's own, or a running service.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::pin::Pin;

use toposcope::access::{Caller, Scope};
use toposcope::collect::crawl::CrawlMemory;
use toposcope::discovery::Report;
use toposcope::discovery::report::WarningCode;
use toposcope::inventory::{Bootstrap, DiscoverOptions, DiscoveryReport};
use toposcope::model::{NetworkId, Permission, Timestamp, TopologyView};
use toposcope::topology::Topologies;
use toposcope::topology::graph::GraphOptions;
use toposcope::topology::render::Theme;
use toposcope::{Inventory, MemoryStore};

use super::failure::Failure;
use super::files::{self, FileFormat};
use super::print;

pub(crate) type DestinationFuture<'d, T> = Pin<Box<dyn Future<Output = T> + 'd>>;

/// The answers to reports, in their order. The reports without an answer were not stored.
#[derive(Default)]
pub(crate) struct Answers {
    /// The answers, or the reasons why one report alone is refused.
    pub(crate) answers: Vec<Result<DiscoveryReport, String>>,
    /// The reason why there are no further answers.
    pub(crate) failure: Option<Failure>,
}

/// The place where reports go.
pub(crate) trait Destination {
    /// Delivers reports of devices.
    fn deliver(&self, reports: Vec<Report>) -> DestinationFuture<'_, Answers>;

    /// Ends a crawl, and prints what has come of it.
    fn finish<'d>(&'d self, output: &'d mut dyn Write) -> DestinationFuture<'d, Result<(), Failure>>;
}

/// Returns whether a device must be read again as a whole.
pub(crate) fn lacks_tables(answer: &DiscoveryReport) -> bool {
    answer.warnings.iter().any(|warning| warning.code == WarningCode::TableUnknown)
}

/// An inventory in memory or in a folder, of which a map is drawn.
pub(crate) struct KeptInventory<'p> {
    inventory: Inventory,
    caller: Caller,
    network: NetworkId,
    /// The folder for the map.
    folder: &'p Path,
    #[cfg(feature = "sled")]
    store: Option<std::sync::Arc<toposcope::SledStore>>,
}

impl<'p> KeptInventory<'p> {
    /// Opens the inventory in a folder, or a new one in memory.
    pub(crate) async fn open(data: Option<&Path>, folder: &'p Path) -> Result<Self, Failure> {
        #[cfg(feature = "sled")]
        let (inventory, store) = match data {
            None => (Inventory::new(MemoryStore::new()), None),
            Some(data) => {
                let store = toposcope::SledStore::open(data).await.map_err(|error| {
                    let advice = "If another program has it open, end that, or report to it with --server";
                    Failure::because(format_args!("{} cannot be opened. {advice}", data.display()), &error)
                })?;
                let store = std::sync::Arc::new(store);
                (Inventory::new(std::sync::Arc::clone(&store)), Some(store))
            }
        };
        #[cfg(not(feature = "sled"))]
        let inventory = match data {
            None => Inventory::new(MemoryStore::new()),
            Some(_) => return Err(Failure::new("Folders are not part of this build. Add --features sled.")),
        };
        let first = Bootstrap::new("Example", "owner@example.net").network("Collected");
        let start = inventory.bootstrap(first).await?;
        let caller = Caller::new(start.organization.id, start.owner.id, Permission::Owner, Scope::all());
        Ok(Self {
            inventory,
            caller,
            network: start.network.id,
            folder,
            #[cfg(feature = "sled")]
            store,
        })
    }

    /// Closes the folder. Everything that was reported is kept without it, too.
    pub(crate) async fn close(self) -> Result<(), Failure> {
        #[cfg(feature = "sled")]
        if let Some(store) = self.store {
            let closed = store.close().await;
            closed.map_err(|error| {
                Failure::because("The folder was not closed in order; nothing is lost", &error)
            })?;
        }
        Ok(())
    }

    async fn draw(&self, output: &mut dyn Write) -> Result<(), Failure> {
        let options = GraphOptions::new(TopologyView::L2);
        let topologies = Topologies::new(self.inventory.clone());
        let graph = topologies.graph(&self.caller, self.network, options).await?;
        if graph.nodes.is_empty() {
            return print(output, "No device reports a neighbor, so there is nothing to draw.\n");
        }
        let picture = files::picture(&graph, "Collected", Some(Timestamp::now()), Theme::default());
        for path in files::write(self.folder, &picture, &[FileFormat::Page])? {
            print(output, &format!("{}\n", path.display()))?;
        }
        Ok(())
    }
}

impl Destination for KeptInventory<'_> {
    fn deliver(&self, reports: Vec<Report>) -> DestinationFuture<'_, Answers> {
        Box::pin(async move {
            let options = DiscoverOptions::new(self.network);
            let result = self.inventory.discovery().reconcile_all(&self.caller, reports, options).await;
            let (answers, failure) = match result {
                Ok(answers) => (answers, None),
                Err(failed) => (failed.answers, Some(failed.error.into())),
            };
            Answers { answers: answers.into_iter().map(Ok).collect(), failure }
        })
    }

    fn finish<'d>(&'d self, output: &'d mut dyn Write) -> DestinationFuture<'d, Result<(), Failure>> {
        Box::pin(self.draw(output))
    }
}

/// The file with what the next crawl needs.
pub(crate) struct MemoryFile(PathBuf);

impl MemoryFile {
    /// Names the file of an inventory in a folder.
    pub(crate) fn of(data: &Path) -> Self {
        let mut path = data.as_os_str().to_owned();
        path.push(".crawl.json");
        Self(path.into())
    }

    /// Reads the file. A missing one is empty.
    pub(crate) fn read(&self) -> Result<CrawlMemory, Failure> {
        let name = self.0.display();
        match fs::read(&self.0) {
            Ok(json) => serde_json::from_slice(&json).map_err(|error| {
                Failure::because(
                    format_args!("{name} cannot be read. Delete it, and everything is read again"),
                    &error,
                )
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(CrawlMemory::default()),
            Err(error) => Err(Failure::because(format_args!("{name} cannot be read"), &error)),
        }
    }

    /// Replaces the file as a whole.
    pub(crate) fn write(&self, memory: &CrawlMemory) -> Result<(), Failure> {
        let failed = |error: io::Error| {
            Failure::because(format_args!("{} cannot be written", self.0.display()), &error)
        };
        let json = serde_json::to_vec(memory).map_err(|error| failed(error.into()))?;
        let mut draft = self.0.clone().into_os_string();
        draft.push(".new");
        fs::write(&draft, json).and_then(|()| fs::rename(&draft, &self.0)).map_err(failed)
    }
}
