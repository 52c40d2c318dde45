//! The links that differ from the recorded ones.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;

use super::followers::FollowedKey;
use super::reading::Decided;
use super::recorded::{RecordedEnds, document, recorded_link_key, recorded_links};
use crate::inventory::history::recording::difference::differences;
use crate::inventory::schema::decode;
use crate::inventory::{Error, Inventory};
use crate::model::{LinkId, NetworkId};
use crate::store::{Key, Query, Record, Start};
use crate::topology::links::Links;

/// The number of recorded links that are read at a time.
const READ_TOGETHER: usize = 500;

/// A link that differs from its recorded document.
#[derive(Debug)]
pub(super) struct DifferingLink {
    pub(super) key: Key,
    pub(super) before: Option<Record>,
    pub(super) after: Option<Bytes>,
}

impl Inventory {
    /// Compares the links of a network with those that were recorded last.
    pub(super) async fn differing_links(
        &self,
        key: FollowedKey,
        links: &Links,
        decided: &Decided,
    ) -> Result<Vec<DifferingLink>, Error> {
        match decided {
            Decided::All => self.compare_all(key, links).await,
            Decided::Some(ids) => self.compare_some(key.1, links, ids).await,
        }
    }

    async fn compare_some(
        &self,
        network: NetworkId,
        links: &Links,
        ids: &BTreeSet<LinkId>,
    ) -> Result<Vec<DifferingLink>, Error> {
        let ids: Vec<LinkId> = ids.iter().copied().collect();
        let mut differing = Vec::new();
        for some in ids.chunks(READ_TOGETHER) {
            let keys: Vec<Key> = some.iter().map(|id| recorded_link_key(network, *id)).collect();
            let recorded = self.store.get(&keys).await?;
            for ((id, key), before) in some.iter().zip(keys).zip(recorded) {
                differing.extend(differing_link(network, links, *id, key, before)?);
            }
        }
        Ok(differing)
    }

    async fn compare_all(&self, key: FollowedKey, links: &Links) -> Result<Vec<DifferingLink>, Error> {
        let mut query = Query { limit: Some(READ_TOGETHER), ..recorded_links(key) };
        let (network, mut differing) = (key.1, Vec::new());
        let mut unseen: BTreeMap<Key, LinkId> =
            links.links().map(|link| (recorded_link_key(network, link.id), link.id)).collect();
        loop {
            let page = self.store.list(&query).await?;
            for record in page.records {
                let id = match unseen.remove(&record.key) {
                    Some(id) => id,
                    None => decode::<RecordedEnds>(&record)?.id,
                };
                differing.extend(differing_link(network, links, id, record.key, Some(record))?);
            }
            tokio::task::yield_now().await;
            match page.next {
                Some(next) => query.start = Start::After(next),
                None => break,
            }
        }
        for (place, (key, id)) in unseen.into_iter().enumerate() {
            differing.extend(differing_link(network, links, id, key, None)?);
            if place % READ_TOGETHER == 0 {
                tokio::task::yield_now().await;
            }
        }
        Ok(differing)
    }
}

/// Compares a link with its recorded document. `None`: it is the same.
fn differing_link(
    network: NetworkId,
    links: &Links,
    id: LinkId,
    key: Key,
    before: Option<Record>,
) -> Result<Option<DifferingLink>, Error> {
    let after = links.get(id).map(|link| document(network, link)).transpose()?;
    let is_same = match (&before, &after) {
        (None, None) => true,
        (Some(before), Some(after)) => before.body == *after || !differs(&before.body, after)?,
        _ => false,
    };
    Ok((!is_same).then_some(DifferingLink { key, before, after }))
}

/// Returns whether an entry would have content: another release may have written the same in another way.
fn differs(before: &Bytes, after: &Bytes) -> Result<bool, Error> {
    let text = |body| std::str::from_utf8(body).map_err(Error::internal);
    Ok(!differences(text(before)?, text(after)?).map_err(Error::internal)?.is_empty())
}
