//! Requests that the records do not allow.

use std::time::Duration;

use serde_json::{Value, json};
use toposcope::inventory::NewShare;
use toposcope::model::{NetworkId, Permission, ShareId, UserApiKeyId};
use uuid::Uuid;

use crate::backend::run_with;
use crate::common::{
    BOUND_PORT, ELSEWHERE, FOREIGN_HOST, FOREIGN_PORT, HOST, LAB, LAB_HOST, NEIGHBOUR, NOBODY, OFFICE, PORT,
    Populated, Produced, Row, VAULT, VAULT_HOST, VAULT_PORT, at, bare, daemon_body, key_path, port_body,
    share_path, with,
};

fn not_found(entity: &str, id: impl Into<Uuid>) -> Value {
    let id = id.into();
    json!({"entity": entity, "id": id})
}

fn keys_and_ports(fixture: &Populated, foreign_key: UserApiKeyId) -> Vec<Row> {
    let mut rows = Vec::new();
    for id in [NOBODY, FOREIGN_PORT.uuid(), Uuid::nil(), HOST.uuid(), fixture.member_key_id.uuid()] {
        let request = fixture.put_port(id, &port_body());
        rows.push(Row::refused_with("port", request, "entity_not_found", not_found("Port", id)));
    }
    let others = [
        NOBODY.into(),
        fixture.other_key_id,
        foreign_key,
        fixture.daemon_key_id.uuid().into(),
        UserApiKeyId::nil(),
        fixture.member.id.uuid().into(),
    ];
    for id in others {
        for request in
            [fixture.put_key(id, &fixture.key_body()), fixture.by_session(bare("DELETE", &key_path(id)))]
        {
            rows.push(Row::refused_with("key", request, "entity_not_found", not_found("User API Key", id)));
        }
    }
    // The error shows the id in canonical form, however the client wrote it.
    let id = Uuid::from_u128(0xabcd_ef01_2345_4678_9abc_def0_1234_5678);
    let request = bare("GET", &share_path(id.simple().to_string().to_uppercase()));
    rows.push(Row::refused_with("share", request, "entity_not_found", not_found("Share", id)));
    rows
}

async fn shares(fixture: &Populated) -> Vec<Row> {
    let inventory = &fixture.inventory;
    let draft = || NewShare::new("a share");
    let mut over = draft();
    over.expires_at = Some(at(1));
    let mut disabled = draft();
    disabled.is_enabled = false;
    let mut ids = vec![ShareId::from(NOBODY), ShareId::nil(), HOST.uuid().into()];
    for share in [over, disabled] {
        ids.push(inventory.shares().create(&fixture.system(), share).await.unwrap().id);
    }
    let deleted = inventory.shares().create(&fixture.system(), draft()).await.unwrap().id;
    inventory.shares().delete(&fixture.system(), deleted).await.unwrap();
    ids.push(deleted);
    fixture.clock.advance(Duration::from_secs(1));
    let row = |id| {
        let request = bare("GET", &share_path(id));
        Row::refused_with("share", request, "entity_not_found", not_found("Share", id))
    };
    ids.into_iter().map(row).collect()
}

fn out_of_reach(fixture: &Populated) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut denied = |name: &str, request, network| {
        let params = json!({"entity": "Network", "id": network});
        rows.push(Row::refused_with(name, request, "entity_access_denied", params));
    };
    for network in [VAULT, NOBODY.into(), ELSEWHERE, NetworkId::nil()] {
        let request = fixture.create_daemon_key(&with(&daemon_body(), "network_id", json!(network)));
        denied("a daemon's key", request, network);
    }
    denied("a port there", fixture.put_port(VAULT_PORT, &port_body()), VAULT);
    let to_vault = with(&port_body(), "network_id", json!(VAULT));
    denied("a port's network", fixture.put_port(PORT, &to_vault), VAULT);
    denied("a move", fixture.put_port(PORT, &with(&to_vault, "host_id", json!(VAULT_HOST))), VAULT);
    denied("a move to nowhere", fixture.put_port(PORT, &with(&to_vault, "host_id", json!(NOBODY))), VAULT);
    for networks in [json!([VAULT]), json!([OFFICE, LAB, VAULT])] {
        let body = with(&fixture.key_body(), "network_ids", networks);
        denied("a key's networks", fixture.put_own_key(&body), VAULT);
    }
    rows
}

fn forbidden(fixture: &Populated) -> Vec<Row> {
    let mut rows = Vec::new();
    let body = fixture.key_body();
    for (field, id) in [
        ("organization_id", fixture.abroad.organization.id.uuid()),
        ("organization_id", NOBODY),
        ("organization_id", Uuid::nil()),
        ("user_id", NOBODY),
        ("user_id", Uuid::nil()),
    ] {
        let request = fixture.put_own_key(&with(&body, field, json!(id)));
        let params = json!({"entity": "User API Key"});
        rows.push(Row::refused_with(field, request, "entity_update_forbidden", params));
    }
    for level in [Permission::Admin, Permission::Owner] {
        let request = fixture.put_own_key(&with(&body, "permissions", level.to_string()));
        rows.push(Row::refused("level", request, "auth_permission_denied"));
    }
    rows
}

fn taken(fixture: &Populated) -> Vec<Row> {
    let at = |host, network, number: u16| json!({"host_id": host, "network_id": network, "number": number, "protocol": "Tcp"});
    let exists = |name: &str| json!({"entity": "Port", "name": name});
    let in_use = json!({"entity": "Port", "name": "80/Tcp", "used_by": "Service"});
    vec![
        Row::refused_with(
            "on the same host",
            fixture.put_port(PORT, &at(HOST, OFFICE, 80)),
            "entity_already_exists",
            exists("80/Tcp"),
        ),
        Row::refused_with(
            "on the host it moves to",
            fixture.put_port(PORT, &at(NEIGHBOUR, OFFICE, 443)),
            "entity_already_exists",
            exists("443/Tcp"),
        ),
        Row::refused_with(
            "on the host it moves to, with another number",
            fixture.put_port(PORT, &at(NEIGHBOUR, OFFICE, 22)),
            "entity_already_exists",
            exists("22/Tcp"),
        ),
        Row::refused_with(
            "a service is bound to it",
            fixture.put_port(BOUND_PORT, &at(LAB_HOST, LAB, 8080)),
            "entity_in_use",
            in_use.clone(),
        ),
        Row::refused_with(
            "bound and taken",
            fixture.put_port(BOUND_PORT, &at(NEIGHBOUR, OFFICE, 443)),
            "entity_in_use",
            in_use,
        ),
    ]
}

async fn record_rows() -> Produced {
    let fixture = Populated::new().await;
    let abroad = fixture.user(&fixture.abroad, Permission::Owner, &[]).await;
    let foreign_key = crate::common::key_for(&abroad, Permission::Owner, &[ELSEWHERE]);
    let foreign_key = fixture
        .inventory
        .user_api_keys()
        .create(&fixture.abroad.system(), foreign_key)
        .await
        .unwrap()
        .record()
        .id;
    let shares = shares(&fixture).await;
    let before = fixture.stored().await;
    let rows = [
        keys_and_ports(&fixture, foreign_key),
        shares,
        out_of_reach(&fixture),
        forbidden(&fixture),
        taken(&fixture),
    ];
    let produced = fixture.check(rows.into_iter().flatten()).await;
    assert_eq!(fixture.stored().await, before, "nothing of what is refused is stored");
    produced
}

/// A number is taken only within its protocol. A port does not conflict with itself.
#[test]
fn port_number_is_free_for_the_other_protocol_and_the_port_itself() {
    run_with(Populated::new, async |fixture| {
        let udp = with(&with(&port_body(), "number", 80), "protocol", "Udp");
        fixture
            .check([
                Row::succeeds("its own", fixture.put_port(PORT, &port_body())),
                Row::succeeds("80/Udp beside 80/Tcp", fixture.put_port(PORT, &udp)),
                Row::succeeds("443/Tcp is free now", fixture.put_port(BOUND_PORT, &port_body())),
            ])
            .await;
    });
}

fn tags(fixture: &Populated) -> Vec<Row> {
    let [red, green, blue] = fixture.home.tags;
    let foreign = fixture.abroad.tags[0];
    let mut rows = Vec::new();
    for (tags, field) in [
        (vec![NOBODY], "tags.0"),
        (vec![foreign.uuid()], "tags.0"),
        (vec![Uuid::nil()], "tags.0"),
        (vec![OFFICE.uuid()], "tags.0"),
        (vec![red.uuid(), foreign.uuid()], "tags.1"),
        (vec![red.uuid(), green.uuid(), blue.uuid(), NOBODY], "tags.3"),
        (vec![red.uuid(), green.uuid(), NOBODY, foreign.uuid()], "tags.2"),
    ] {
        let params = json!({"entity": "Tag", "field": field});
        for request in [
            fixture.create_daemon_key(&with(&daemon_body(), "tags", json!(tags))),
            fixture.put_own_key(&with(&fixture.key_body(), "tags", json!(tags))),
        ] {
            rows.push(Row::refused_with(field, request, "entity_reference_invalid", params.clone()));
        }
    }
    rows
}

fn networks(fixture: &Populated) -> Vec<Row> {
    let mut rows = Vec::new();
    for (networks, field) in [
        (vec![NOBODY], "network_ids.0"),
        (vec![ELSEWHERE.uuid()], "network_ids.0"),
        (vec![HOST.uuid()], "network_ids.0"),
        (vec![OFFICE.uuid(), NOBODY], "network_ids.1"),
        (vec![OFFICE.uuid(), LAB.uuid(), OFFICE.uuid(), ELSEWHERE.uuid()], "network_ids.3"),
        // An own network without a grant is a different error, which is checked later.
        (vec![VAULT.uuid(), NOBODY], "network_ids.1"),
    ] {
        let body = with(&fixture.key_body(), "network_ids", json!(networks));
        let params = json!({"entity": "Network", "field": field});
        let request = fixture.put_own_key(&body);
        rows.push(Row::refused_with(field, request, "entity_reference_invalid", params));
    }
    for network in [NOBODY, ELSEWHERE.uuid(), Uuid::nil(), HOST.uuid()] {
        let params = json!({"entity": "Network", "field": "network_id"});
        let request = fixture.put_port(PORT, &with(&port_body(), "network_id", json!(network)));
        rows.push(Row::refused_with("the network", request, "entity_reference_invalid", params));
    }
    rows
}

fn hosts(fixture: &Populated) -> Vec<Row> {
    let mut rows = Vec::new();
    for host in [NOBODY, FOREIGN_HOST.uuid(), Uuid::nil(), OFFICE.uuid(), PORT.uuid()] {
        let params = json!({"entity": "Host", "field": "host_id"});
        let request = fixture.put_port(PORT, &with(&port_body(), "host_id", json!(host)));
        rows.push(Row::refused_with("the host", request, "entity_reference_invalid", params));
    }
    for (name, host, network) in [
        ("the same host, another network", HOST, LAB),
        ("another host, the same network", LAB_HOST, OFFICE),
        ("a host of a network that was not granted", VAULT_HOST, OFFICE),
    ] {
        let body = with(&with(&port_body(), "host_id", json!(host)), "network_id", json!(network));
        let params = json!({"entity": "Host"});
        let request = fixture.put_port(PORT, &body);
        rows.push(Row::refused_with(name, request, "entity_network_mismatch", params));
    }
    rows
}

/// Of several invalid references, the one checked first is reported.
fn order(fixture: &Populated) -> Vec<Row> {
    let wrong = json!({"host_id": NOBODY, "network_id": NOBODY, "number": 80, "protocol": "Tcp"});
    let params = json!({"entity": "Network", "field": "network_id"});
    let network = fixture.put_port(BOUND_PORT, &wrong);
    let missing = fixture.put_port(FOREIGN_PORT, &wrong);
    vec![
        Row::refused_with("network before host", network, "entity_reference_invalid", params),
        Row::refused_with(
            "the port before all of it",
            missing,
            "entity_not_found",
            json!({"entity": "Port", "id": FOREIGN_PORT}),
        ),
    ]
}

async fn reference_rows() -> Produced {
    let fixture = Populated::new().await;
    let before = fixture.stored().await;
    let rows = [tags(&fixture), networks(&fixture), hosts(&fixture), order(&fixture)];
    let produced = fixture.check(rows.into_iter().flatten()).await;
    assert_eq!(fixture.stored().await, before, "nothing of what is refused is stored");
    produced
}

pub(super) async fn rows() -> Produced {
    let mut produced = record_rows().await;
    produced.extend(reference_rows().await);
    produced
}
