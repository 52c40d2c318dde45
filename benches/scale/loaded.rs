//! A loaded inventory and the users that query it.

use std::error::Error;
use toposcope::model::Network;

use tokio::runtime::Runtime;
use toposcope::access::{Caller, PasswordCost, PasswordHasher};
use toposcope::inventory::{HostPage, HostQuery, Inventory};
use toposcope::service::Api;
use toposcope::store::MemoryStore;

use crate::documents::Documents;
use crate::hosts::{self, HostParts, Tags};
use crate::reader::Reader;

/// Number of networks that the hosts are spread over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spread {
    /// The hosts have tags, and some are guests of others.
    Ten,
    /// Benchmark hosts only.
    Thousand,
    /// Like `Ten`, in an inventory without terms; only its memory is measured.
    TenWithoutTerms,
}

impl Spread {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Ten => "10",
            Self::Thousand => "1,000",
            Self::TenWithoutTerms => "10 (without terms)",
        }
    }

    pub(crate) fn named(name: &str) -> Result<Self, String> {
        let found = [Self::Ten, Self::Thousand, Self::TenWithoutTerms]
            .into_iter()
            .find(|spread| spread.name() == name);
        found.ok_or_else(|| format!("there is no inventory of {name} networks"))
    }

    const fn networks(self) -> usize {
        match self {
            Self::Ten | Self::TenWithoutTerms => 10,
            Self::Thousand => 1_000,
        }
    }

    /// Number of networks that each Member sees.
    const fn members(self) -> &'static [usize] {
        match self {
            Self::Ten | Self::TenWithoutTerms => &[10, 3, 1],
            Self::Thousand => &[1_000, 500],
        }
    }
}

/// A loaded inventory.
#[derive(Debug)]
pub(crate) struct LoadedInventory {
    pub(crate) size: usize,
    pub(crate) spread: Spread,
    pub(crate) api: Api,
    /// Empty until [`gather`](Self::gather) is called.
    pub(crate) documents: Documents,
    pub(crate) tags: Tags,
    pub(crate) parts: Vec<HostParts>,
    /// The Owner first, then Members with fewer and fewer networks.
    pub(crate) readers: Vec<Reader>,
    inventory: Inventory,
    runtime: Runtime,
}

impl LoadedInventory {
    pub(crate) fn load(size: usize, spread: Spread) -> Result<Self, Box<dyn Error>> {
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        // Hashing a password at full cost leaves more memory behind than 10,000 hosts take.
        let passwords = PasswordHasher::new().with_cost(PasswordCost::new(8, 1)?);
        let inventory = Inventory::new(MemoryStore::new()).with_passwords(passwords);
        let inventory = match spread {
            Spread::Ten | Spread::Thousand => inventory,
            Spread::TenWithoutTerms => inventory.without_host_terms(),
        };
        let loading = async {
            let organization = inventory.organizations().create("Benchmark").await?.id;
            let mut networks = Vec::new();
            for number in 0..spread.networks() {
                networks.push(
                    inventory
                        .networks()
                        .create(&Caller::system(organization), Network::new(format!("Network {number}")))
                        .await?
                        .id,
                );
            }
            let tags = Tags::create(&inventory, organization).await?;
            let mut readers = vec![Reader::owner(&inventory, organization, spread.name()).await?];
            for count in spread.members() {
                readers.push(
                    Reader::member(&inventory, organization, &networks[..*count], spread.name()).await?,
                );
            }
            let borne = Some(tags).filter(|_| spread != Spread::Thousand);
            let parts = hosts::put(&inventory, organization, &networks, borne, size).await?;
            Ok::<_, Box<dyn Error>>((tags, readers, parts))
        };
        let (tags, readers, parts) = runtime.block_on(loading)?;
        // A cached page would hide the cost of finding it.
        let api = Api::builder(inventory.clone()).rate_limit(None).page_cache(0).build();
        let documents = Documents::default();
        Ok(Self { size, spread, api, documents, tags, parts, readers, inventory, runtime })
    }

    /// Collects the documents that the plain loop copies.
    pub(crate) fn gather(&mut self) -> Result<(), Box<dyn Error>> {
        self.documents = Documents::new(self.list(&self.readers[0], &HostQuery::default())?.documents);
        Ok(())
    }

    pub(crate) fn list(&self, reader: &Reader, query: &HostQuery) -> Result<HostPage, Box<dyn Error>> {
        Ok(self.runtime.block_on(self.inventory.hosts().list(&reader.caller, query))?)
    }
}
