//! Stored layouts of pictures, so that a picture changes no more than its network.

use serde::{Deserialize, Serialize};

use super::layouts::{layout_key, put_layout};
use crate::inventory::schema::{KEPT_LAYOUT, decode, encode, exists, network_key, on_network};
use crate::inventory::{Error, Inventory, unchanged};
use crate::model::{NetworkId, NodeId, OrganizationId, TopologyLayout, TopologyView, derived_id};
use crate::store::{Batch, Facets, Key, Record, StoreErrorKind};

/// The maximum number of stored layouts of a network: one for each view and grouping.
const MAX_KEPT: usize = 8;

/// The picture that a layout belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeptPicture {
    pub(crate) organization: OrganizationId,
    pub(crate) network: NetworkId,
    pub(crate) view: TopologyView,
    /// The grouping by which its containers are made; `None`: it has no containers.
    pub(crate) grouping: Option<&'static str>,
}

/// The positions of the nodes of a picture when it was last drawn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct KeptLayout {
    /// A digest of the nodes, links and containers that were laid out.
    pub(crate) content: String,
    /// The number of nodes when all of them were last placed anew.
    pub(crate) placed: usize,
    /// The number of nodes that were added or removed since.
    pub(crate) changed: usize,
    /// Left edge, upper edge, width and height of each node, in pixels.
    pub(crate) nodes: Vec<(NodeId, [f64; 4])>,
}

/// A layout as it is stored.
#[derive(Clone, Debug, Default)]
pub(crate) struct StoredLayout {
    pub(crate) layout: Option<KeptLayout>,
    record: Option<Record>,
}

impl Inventory {
    /// Returns the layout that is kept of a picture. The access to the network must have been checked.
    pub(crate) async fn kept_layout(&self, picture: &KeptPicture) -> Result<StoredLayout, Error> {
        let record = self.get(kept_key(picture)).await?;
        // A layout that another version has written and this one cannot read is replaced.
        let layout = record.as_ref().and_then(|record| serde_json::from_slice(&record.body).ok());
        Ok(StoredLayout { layout, record })
    }

    /// Keeps a layout in place of another one. Returns whether that one was still kept.
    ///
    /// It passes by the policy and the audit log, because it follows from the records, as links do.
    pub(crate) async fn keep_layout(
        &self,
        picture: &KeptPicture,
        layout: &KeptLayout,
        replaced: &StoredLayout,
    ) -> Result<bool, Error> {
        let mut batch = Batch::new();
        self.put_kept(picture, layout, replaced, &mut batch).await?;
        self.commit_kept(batch).await
    }

    /// Keeps a layout like [`keep_layout`](Self::keep_layout), and has all pictures of the network drawn again.
    pub(crate) async fn replace_layout(
        &self,
        picture: &KeptPicture,
        layout: Option<&KeptLayout>,
        replaced: &StoredLayout,
    ) -> Result<bool, Error> {
        let KeptPicture { organization, network, view, .. } = *picture;
        let mut batch = Batch::new();
        match (layout, &replaced.record) {
            (Some(layout), _) => self.put_kept(picture, layout, replaced, &mut batch).await?,
            (None, Some(record)) => {
                batch.delete(record.key, unchanged(Some(record)));
            }
            (None, None) => {}
        }
        // Writing the users' layout, even unchanged, changes the revision of the topology, so that
        // pictures are drawn again.
        let stored = self.get(layout_key(network, view)).await?;
        let users = match &stored {
            Some(record) => decode(record)?,
            None => TopologyLayout { network_id: network, view, positions: Vec::new() },
        };
        put_layout(organization, &users, stored.as_ref(), &mut batch)?;
        self.commit_kept(batch).await
    }

    /// Adds a layout to a batch, and deletes the oldest ones beyond the maximum number.
    async fn put_kept(
        &self,
        picture: &KeptPicture,
        layout: &KeptLayout,
        replaced: &StoredLayout,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let KeptPicture { organization, network, .. } = *picture;
        if replaced.record.is_none() {
            let mut others = self.store.list(&on_network(KEPT_LAYOUT, organization, network)).await?.records;
            others.sort_by_key(|record| record.version);
            let too_many = (others.len() + 1).saturating_sub(MAX_KEPT);
            for record in others.iter().take(too_many) {
                batch.delete(record.key, unchanged(Some(record)));
            }
        }
        let facets = Facets::default().with_organization(organization.uuid()).with_network(network.uuid());
        batch.put(kept_key(picture), unchanged(replaced.record.as_ref()), facets, encode(layout)?);
        batch.guard(exists(network_key(network)));
        Ok(())
    }

    async fn commit_kept(&self, batch: Batch) -> Result<bool, Error> {
        match self.store.commit(batch).await {
            Ok(()) => Ok(true),
            Err(error) if matches!(error.kind(), StoreErrorKind::Conflict(_)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

fn kept_key(picture: &KeptPicture) -> Key {
    let KeptPicture { network, view, grouping, .. } = picture;
    let grouping = grouping.unwrap_or_default();
    let parts = [network.as_bytes(), view.as_str().as_bytes(), grouping.as_bytes()];
    Key::new(KEPT_LAYOUT, derived_id("kept layout", &parts))
}
