use toposcope::inventory::{Import, Inventory};
use toposcope::store::MemoryStore;

use super::real;
use crate::support::documents;

/// Maximum length of the compared documents; longer ones differ from shorter ones in length only.
const LONGEST: usize = 20_000;

#[tokio::test]
async fn what_the_list_serves_is_imported_elsewhere_and_once_more_byte_for_byte() {
    let Some(real) = real() else { return };
    let mut served = documents(&real.inventory, real.organization).await;
    served.retain(|document| document.len() <= LONGEST);
    assert!(served.len() > 1500);
    let lines = served.join(&b'\n');
    let inventory = Inventory::new(MemoryStore::new());
    let organization = inventory.create_organization("Elsewhere").await.unwrap().id;
    for round in 0..2 {
        let import = Import::new().create_missing_networks();
        let report = inventory.import_hosts(organization, &lines[..], import).await.unwrap();
        let count = served.len() as u64;
        assert_eq!((report.imported, report.replaced, report.refused), (count, round * count, 0));
        assert!(report.alterations.is_empty(), "{report}");
        assert!(documents(&inventory, organization).await == served, "round {round}");
    }
}
