//! Links in time, over HTTP.

use serde_json::{Value, json};
use toposcope::model::{HostId, Permission};
use uuid::Uuid;

use crate::backend::run;
use crate::common::{Fixture, LAB, OFFICE, host, send_json, with_key};

const LINKS: &str = "/api/v1/topology/links";

/// Waits until all links that have changed are recorded.
async fn followed(fixture: &Fixture) {
    while fixture.inventory.figures().background_tasks > 0 {
        tokio::task::yield_now().await;
    }
}

#[test]
fn link_is_an_entry_and_part_of_the_diff_for_those_who_see_its_network() {
    run(async || {
        // Only the instance that makes the change knows when its links are recorded.
        let fixture = Fixture::new().await.on_one_instance();
        fixture.put([host(1, OFFICE), host(2, OFFICE)]).await;
        followed(&fixture).await;
        let before = fixture.newest(&fixture.key).await;
        let end = |number| json!({"host_id": HostId::new(Uuid::from_u128(number))});
        let link = json!({"network_id": OFFICE, "source": end(1), "target": end(2)});
        fixture.send(with_key(send_json("POST", LINKS, &link), &fixture.key)).await.data();
        followed(&fixture).await;

        let entries = fixture.changes(&format!("after={before}&entity=Link")).await.entries();
        let [entry] = entries.try_into().unwrap();
        assert_eq!((&entry["action"], &entry["actor"]), (&json!("created"), &json!({"type": "System"})));
        assert_eq!(entry["fields"]["rule"], json!({"after": "manual"}));
        let by_hand = fixture.changes(&format!("after={before}&entity=TopologyLink")).await.entries();
        assert_eq!(entry["cause"], by_hand[0]["position"]);

        let diff_as = async |key: &str| -> Value {
            fixture.server.get_with(key, &format!("/api/v1/changes/diff?from={before}")).await.data().clone()
        };
        let diff = diff_as(&fixture.key).await;
        let links = &diff["links"];
        assert_eq!(links["counts"], json!({"added": 1, "removed": 0, "moved": 0}));
        assert_eq!(links["added"][0]["id"], entry["id"]);
        assert_eq!(links["added"][0]["source"]["id"], json!(HostId::new(Uuid::from_u128(1))));
        assert_eq!((&links["removed"], &links["moved"]), (&json!([]), &json!([])));

        let elsewhere = fixture.key(Permission::Viewer, &[LAB]).await;
        assert_eq!(fixture.changes_as(&elsewhere, "entity=Link").await.entries(), Vec::<Value>::new());
        let here = fixture.key(Permission::Viewer, &[OFFICE]).await;
        assert_eq!(fixture.changes_as(&here, "entity=Link").await.entries().len(), 1);
        assert_eq!(diff_as(&here).await["links"], *links);
    });
}
