//! Hosts that are refused, alone or with all others.

use serde_json::{Value, json};
use toposcope::access::{Caller, Scope};
use toposcope::inventory::{Atomicity, BulkChange, BulkHost, Entity, ErrorKind, Problem, Quotas};
use toposcope::model::{Host, Permission, Protocol, UserId};

use super::{MODES, outcomes};
use crate::support::{
    Document, Fixture, access_denied, bare_host, id, invalid, numbered_hosts, port, reference_invalid,
    refusal, rich_host, uuid,
};

const OUT_OF_RANGE: Problem = Problem::OutOfRange { min: 1, max: 65_535 };

/// Asserts why the fourth host of a request is refused, in both modes.
async fn assert_refused(fixture: &Fixture, fourth: BulkHost, expected: ErrorKind) {
    let hosts = || {
        let mut hosts: Vec<BulkHost> =
            numbered_hosts(fixture.network, 5).into_iter().skip(1).map(Into::into).collect();
        hosts.insert(3, fourth.clone());
        hosts
    };
    assert_eq!(fixture.refusal(fixture.try_bulk(hosts(), Atomicity::AllOrNothing)).await, expected);
    let error = fixture.try_bulk(hosts(), Atomicity::AllOrNothing).await.unwrap_err();
    assert!(error.field().unwrap().starts_with("hosts.3"), "{error}");
    let results = outcomes(fixture.try_bulk(hosts(), Atomicity::PerHost).await.unwrap());
    let stored = Ok(BulkChange::Created);
    let expected = [stored.clone(), stored.clone(), stored.clone(), Err(expected), stored];
    assert_eq!(results, expected);
}

#[tokio::test]
async fn invalid_value_is_named_by_its_path_in_the_request() {
    let not_of_form = |form: &'static str| Problem::NotOfForm { form: form.into() };
    let protocols = Problem::NotAmong { values: ["Tcp", "Udp"].map(str::to_owned).into() };
    for (path, value, field, problem) in [
        ("ports.0.number", json!(0), "ports.0.number", OUT_OF_RANGE),
        ("ports.0.number", json!(65_536), "ports.0.number", OUT_OF_RANGE),
        ("ports.0.number", json!("80"), "ports.0.number", not_of_form("an integer")),
        ("ports.1.protocol", json!("Sctp"), "ports.1.protocol", protocols),
        ("name", json!(null), "name", Problem::Required),
        ("id", json!("x"), "id", not_of_form("a UUID")),
        (
            "interfaces.1.ip_address",
            json!("192.0.2"),
            "interfaces.1.ip_address",
            not_of_form("an IP address"),
        ),
        ("if_entries", json!([{"if_index": 1}]), "if_entries.0.if_descr", Problem::Required),
        ("services.0.bindings.0.port_id", json!(null), "services.0.bindings.0", Problem::InvalidFormat),
        ("services.1.name", json!("x".repeat(65_537)), "services.1.name", Problem::MaxLength { max: 65_536 }),
        ("tags", json!([uuid(9), uuid(9)]), "tags.1", Problem::Duplicate),
        ("interfaces.1.id", json!(uuid((1 << 32) + 1)), "interfaces.1", Problem::Duplicate),
    ] {
        let fixture = Fixture::new().await;
        let mut host = rich_host(1, fixture.network, &[]);
        host.credential_assignments.clear();
        let document = Document::of(&host).with(path, value);
        // Unknown tags are reported before repeated ones.
        let expected = match path {
            "tags" => reference_invalid(Entity::Tag, "hosts.3.tags.1"),
            _ => invalid(&format!("hosts.3.{field}"), problem),
        };
        assert_refused(&fixture, document.into(), expected).await;
    }
    let fixture = Fixture::new().await;
    for text in ["7", "[]", "", "{", "null"] {
        let expected = invalid("hosts.3", Problem::InvalidFormat);
        assert_refused(&Fixture::new().await, BulkHost::from_json(text), expected).await;
    }
    let no_network = BulkHost::from_json(r#"{"name": ""}"#);
    assert_refused(&fixture, no_network, invalid("hosts.3.network_id", Problem::Required)).await;
}

#[tokio::test]
async fn host_must_be_on_a_granted_network_and_stay_there() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    fixture.put(&bare_host(id(90), fixture.other_network)).await;
    fixture.put(&bare_host(id(91), fixture.network)).await;
    let wide = Scope::only([fixture.network, fixture.other_network]);
    let wide = Caller::new(fixture.organization, UserId::nil(), Permission::Member, wide);
    let unknown = reference_invalid(Entity::Network, "hosts.0.network_id");
    let mismatch = ErrorKind::NetworkMismatch { entity: Entity::Host };
    let denied = access_denied(fixture.other_network);
    for (caller, host, network, expected) in [
        (fixture.member(), 1, id(7), unknown.clone()),
        (fixture.member(), 1, foreign.network, unknown.clone()),
        (wide.clone(), 1, foreign.network, unknown),
        (fixture.member(), 1, fixture.other_network, denied.clone()),
        (fixture.member(), 90, fixture.network, denied.clone()),
        (fixture.member(), 91, fixture.other_network, denied),
        (wide, 90, fixture.network, mismatch),
    ] {
        for mode in MODES {
            let hosts = vec![bare_host(id(host), network).into()];
            let refused = async {
                let results = fixture.inventory.hosts().bulk_put(&caller, hosts, mode).await?;
                results.into_iter().try_for_each(|result| result.outcome.map(drop))
            };
            assert_eq!(fixture.refusal(refused).await, expected, "{host} {network} {mode:?}");
        }
    }
}

#[tokio::test]
async fn unknown_and_foreign_tags_are_refused() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    let mut host = rich_host(1, fixture.network, &fixture.tags);
    host.services[1].tags = vec![fixture.tags[0], foreign.tag];
    host.services.reverse();
    let expected = reference_invalid(Entity::Tag, "hosts.3.services.0.tags.1");
    assert_refused(&fixture, host.into(), expected).await;
}

#[tokio::test]
async fn repeated_id_is_refused() {
    let fixture = Fixture::new().await;
    let again = bare_host(id(3), fixture.network);
    assert_refused(&fixture, again.into(), invalid("hosts.3.id", Problem::Duplicate)).await;
}

#[tokio::test]
async fn two_ports_of_one_number_are_refused() {
    let fixture = Fixture::new().await;
    let mut host = bare_host(id(1), fixture.network);
    host.ports = [id(11), id(12)].map(|part| port(&host, part, 53, Protocol::Tcp)).into();
    let name = "53/Tcp".to_owned();
    assert_refused(&fixture, host.into(), ErrorKind::AlreadyExists { entity: Entity::Port, name }).await;
}

#[tokio::test]
async fn viewers_and_requests_of_no_or_too_many_hosts_are_refused() {
    let fixture = Fixture::new().await;
    let viewer = Caller::new(fixture.organization, UserId::nil(), Permission::Viewer, Scope::all());
    let hosts = vec![bare_host(id(1), fixture.network).into()];
    let refused = fixture.inventory.hosts().bulk_put(&viewer, hosts, MODES[0]).await;
    assert_eq!(refusal(refused), ErrorKind::PermissionDenied);
    for mode in MODES {
        let none: [Host; 0] = [];
        assert_eq!(refusal(fixture.try_bulk(none, mode).await), invalid("hosts", Problem::Empty));
        let many = numbered_hosts(fixture.network, 1001);
        let too_many = invalid("hosts", Problem::MaxLength { max: 1000 });
        assert_eq!(fixture.refusal(fixture.try_bulk(many, mode)).await, too_many);
    }
}

#[tokio::test]
async fn quotas_apply_to_the_request_or_to_each_host() {
    let mut quotas = Quotas::default();
    (quotas.hosts_per_organization, quotas.host_bytes) = (Some(2), Some(10_000));
    let mut fixture = Fixture::new().await;
    fixture.inventory = fixture.inventory.with_quotas(quotas);
    let mut large = bare_host(id(9), fixture.network);
    large.description = Some("x".repeat(10_000));
    let hosts = || {
        let small = numbered_hosts(fixture.network, 3).into_iter().map(BulkHost::from);
        [BulkHost::from(large.clone())].into_iter().chain(small)
    };
    let exceeded = ErrorKind::QuotaExceeded { entity: Entity::Host, limit: 2 };
    let too_large = ErrorKind::TooLarge { entity: Entity::Host, limit: 10_000 };
    let atomic = Atomicity::AllOrNothing;
    assert_eq!(fixture.refusal(fixture.try_bulk(hosts(), atomic)).await, too_large);
    let error = fixture.try_bulk(hosts(), atomic).await.unwrap_err();
    assert_eq!(error.field(), Some("hosts.0"));
    assert_eq!(fixture.refusal(fixture.try_bulk(hosts().skip(1), atomic)).await, exceeded);
    let results = outcomes(fixture.try_bulk(hosts(), Atomicity::PerHost).await.unwrap());
    let created = Ok(BulkChange::Created);
    assert_eq!(results, [Err(too_large), created.clone(), created, Err(exceeded)]);
}

#[test]
fn changes_have_names_in_json() {
    let names = [BulkChange::Created, BulkChange::Updated, BulkChange::Unchanged].map(|change| json!(change));
    assert_eq!(Value::from(names.to_vec()), json!(["created", "updated", "unchanged"]));
}
