use std::collections::HashMap;

use bytes::Bytes;
use serde::Deserialize;
use toposcope::access::{Caller, Scope};
use toposcope::inventory::{HostQuery, Import, ImportReport, Inventory};
use toposcope::model::Permission;
use toposcope::store::MemoryStore;
use uuid::Uuid;

/// The result of an uninterrupted import.
pub(crate) struct Expected {
    pub(crate) input: Vec<u8>,
    /// The hosts that are stored together, in the order of the lines.
    pub(crate) chunks: Vec<Vec<Uuid>>,
    pub(crate) documents: HashMap<Uuid, Bytes>,
    pub(crate) report: ImportReport,
}

#[derive(Deserialize)]
struct Identified {
    id: Uuid,
}

/// Returns the id of a document.
pub(crate) fn id_of(document: &[u8]) -> Uuid {
    serde_json::from_slice::<Identified>(document).unwrap().id
}

impl Expected {
    pub(crate) async fn of(input: Vec<u8>) -> Self {
        let inventory = Inventory::new(MemoryStore::new());
        let organization = inventory.create_organization("Real").await.unwrap().id;
        let mut ends = vec![0];
        let import = Import::new().create_missing_networks();
        let import = import.on_progress(|report| ends.push(usize::try_from(report.lines).unwrap()));
        let report = inventory.import_hosts(organization, &input[..], import).await.unwrap();
        assert_eq!((report.refused, report.imported), (0, report.lines), "{report}");
        let caller = Caller::new(organization, Uuid::nil(), Permission::Owner, Scope::all());
        let page = inventory.list_hosts(&caller, &HostQuery::default()).await.unwrap();
        let documents = page.documents.into_iter().map(|document| (id_of(&document), document));
        let lines: Vec<&[u8]> = input.split(|byte| *byte == b'\n').collect();
        let chunk = |ends: &[usize]| lines[ends[0]..ends[1]].iter().map(|line| id_of(line)).collect();
        let chunks = ends.windows(2).map(chunk).collect();
        Self { chunks, documents: documents.collect(), report, input }
    }
}
