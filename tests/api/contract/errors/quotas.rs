//! Errors when a quota of the organization is used up.

use serde_json::json;
use toposcope::inventory::Quotas;

use crate::common::{Server, ample};
use crate::contract::row::{Produced, Row, check};
use crate::contract::scene::{PORT, Scene, daemon_body, log_in, port_body};

pub(super) async fn rows() -> Produced {
    let scene = Scene::new().await;
    let before = scene.stored().await;
    let mut quotas = Quotas::default();
    quotas.daemon_api_keys_per_network = Some(0);
    quotas.sessions_per_user = Some(0);
    let inventory = scene.world.inventory.clone().with_quotas(quotas);
    let refused = |name, request, entity| {
        Row::refused(name, request, 409, "quota_exceeded", json!({"entity": entity, "limit": 0}))
    };
    let rows = [
        refused("daemon key", scene.create_daemon_key(&daemon_body()), "Daemon API Key"),
        refused("login", log_in(&scene.member.email, crate::common::PASSWORD), "Session"),
    ];
    let mut produced = check(&Server::new(inventory, ample()), rows).await;
    // Operations that do not count against a quota still succeed.
    let update = Row::succeeds("port", scene.put_port(PORT, &port_body()));
    assert_eq!(scene.stored().await, before, "nothing of what is refused is stored");
    let inventory = scene.world.inventory.clone().with_quotas(quotas);
    produced.extend(check(&Server::new(inventory, ample()), [update]).await);
    produced
}

#[tokio::test]
async fn creation_beyond_a_quota_is_refused_with_entity_and_limit() {
    rows().await;
}
