//! Access to the import of reports, by caller and network.

use toposcope::access::Caller;
use toposcope::model::{NetworkId, Permission, User};

use super::*;
use crate::backend::run_with;
use crate::common::{ELSEWHERE, LAB, NOBODY, Upload, key_for};

fn report() -> String {
    report_of(switch(1, &["192.0.2.1"]), FIRST).to_string()
}

#[test]
fn import_requires_a_member_with_access_to_the_network() {
    run_with(Fixture::new, async |fixture| {
        let target = |network: NetworkId| format!("{IMPORT}?format=report&network_id={network}");
        let viewer = fixture.key(Permission::Viewer, &[OFFICE]).await;
        let refused = fixture.send(request(&target(OFFICE), &report(), &viewer)).await;
        refused.refuses(403, "auth_permission_denied");
        let stranger = fixture.key(Permission::Member, &[LAB]).await;
        let denied = fixture.send(request(&target(OFFICE), &report(), &stranger)).await;
        let expected = json!({"entity": "Network", "id": OFFICE});
        assert_eq!(*denied.refuses(403, "entity_access_denied"), expected);
        for network in [ELSEWHERE, NOBODY.into()] {
            let unknown = fixture.send(request(&target(network), &report(), &fixture.key)).await;
            let expected = json!({"entity": "Network", "id": network});
            assert_eq!(*unknown.refuses(404, "entity_not_found"), expected);
        }
        assert_eq!(hosts(&fixture).await, Vec::<Value>::new());
        let member = fixture.key(Permission::Member, &[OFFICE]).await;
        fixture.send(request(&target(OFFICE), &report(), &member)).await.data();
    });
}

#[test]
fn daemon_imports_only_into_the_network_of_its_key() {
    run_with(Fixture::new, async |fixture| {
        let key = daemon_key(&fixture, OFFICE).await;
        for network in [LAB, ELSEWHERE, NOBODY.into()] {
            let target = format!("{IMPORT}?format=report&network_id={network}");
            let denied = fixture.send(request(&target, &report(), &key)).await;
            let expected = json!({"entity": "Network", "id": network});
            assert_eq!(*denied.refuses(403, "entity_access_denied"), expected);
        }
        assert_eq!(hosts(&fixture).await, Vec::<Value>::new());
        for (target, outcome) in [
            (format!("{IMPORT}?format=report"), "created"),
            (format!("{IMPORT}?format=report&network_id={OFFICE}"), "unchanged"),
        ] {
            let reply = fixture.send(request(&target, &report(), &key)).await;
            assert_eq!(reply.data()["hosts"][0]["outcome"], outcome);
        }
        assert_eq!(hosts(&fixture).await[0]["network_id"], json!(OFFICE));
    });
}

#[test]
fn daemon_never_merges_hosts_but_a_user_may() {
    run_with(Fixture::new, async |fixture| {
        let by_serial = json!({"serial_number": "SN-0001"});
        let by_address = json!({"tables": {"addresses": {"rows": [{"ip_address": "192.0.2.1"}]}}});
        for device in [by_serial, by_address] {
            import_report(&fixture, &report_of(device, FIRST)).await;
        }
        assert_eq!(hosts(&fixture).await.len(), 2);
        let whole = report_of(switch(1, &["192.0.2.1"]), SECOND).to_string();
        let key = daemon_key(&fixture, OFFICE).await;
        fixture.send(import("format=report", &whole, &key)).await.data();
        assert_eq!(hosts(&fixture).await.len(), 2);
    });
}

/// Sends a report whose body arrives only after the rights of the sender have changed.
async fn import_after(fixture: &Fixture, key: &str, change: impl AsyncFnOnce()) -> Reply {
    let server = fixture.server.clone();
    let upload = Upload::begin(&server, import("format=report", "", key)).await;
    change().await;
    upload.finish(&report()).await
}

#[test]
fn sender_whose_rights_end_while_the_body_arrives_is_refused() {
    run_with(Fixture::new, async |fixture| {
        let inventory = &fixture.inventory;
        let user = fixture.user(&fixture.home, Permission::Member, &[OFFICE]).await;
        let key = inventory
            .user_api_keys()
            .create(&fixture.system(), key_for(&user, Permission::Member, &[OFFICE]))
            .await
            .unwrap();
        let deleted = async || {
            inventory
                .user_api_keys()
                .delete(&Caller::system(key.record().organization_id), key.record().id)
                .await
                .unwrap();
        };
        let reply = import_after(&fixture, key.plaintext(), deleted).await;
        reply.refuses(401, "auth_not_authenticated");

        let key = inventory
            .user_api_keys()
            .create(&fixture.system(), key_for(&user, Permission::Member, &[OFFICE]))
            .await
            .unwrap();
        let demoted = async || {
            let demote = |user: &mut User| {
                user.permissions = Permission::Viewer;
                Ok(())
            };
            let owner = fixture.owner(&fixture.home).through_session();
            inventory.records().update(&owner, user.id, demote).await.unwrap();
        };
        let reply = import_after(&fixture, key.plaintext(), demoted).await;
        reply.refuses(403, "auth_permission_denied");

        let daemon = inventory
            .daemon_api_keys()
            .create(&fixture.system(), NewDaemonApiKey::new(OFFICE, "a daemon"))
            .await
            .unwrap();
        let deleted =
            async || inventory.daemon_api_keys().delete(&fixture.system(), daemon.record().id).await.unwrap();
        let reply = import_after(&fixture, daemon.plaintext(), deleted).await;
        reply.refuses(401, "auth_not_authenticated");
        assert_eq!(hosts(&fixture).await, Vec::<Value>::new());
    });
}
