//! Effects of the answers of a policy: refusals, silence, panics, and changes in the meantime.

use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use http::Request;
use serde_json::{Value, json};
use toposcope::inventory::{ApplicationCode, ApplicationError, ErrorKind, Inventory, Policy, ProposedChange};
use toposcope::model::{Host, HostId, Network, NetworkId, OrganizationId, Permission};
use toposcope::wire::{ErrorCode, Failure, Meta};
use uuid::Uuid;

use crate::backend::{run, run_with};
use crate::common::{
    ELSEWHERE, Fixture, HOSTS, OFFICE, Reply, Server, ample, host, send_json, with_header, with_key,
};

/// Refuses hosts with the name "forbidden", hangs at "silent", and panics at "broken".
struct ByName;

#[async_trait]
impl Policy for ByName {
    async fn check(&self, change: &ProposedChange<'_>) -> Result<(), ApplicationError> {
        let host = change.after::<Host>().or(change.before());
        match host.map_or("", |host| host.name.as_str()) {
            "forbidden" => {
                let message = "Hosts must not have this name.";
                Err(ApplicationError::new(ApplicationCode::new("policy.forbidden_name", 422), message)
                    .at("name"))
            }
            "silent" => pending().await,
            "broken" => panic!("the rule is broken"),
            _ => Ok(()),
        }
    }
}

/// A server whose policy decides by the name of a host.
struct Scene {
    fixture: Fixture,
    server: Server,
}

impl Scene {
    async fn new() -> Self {
        let fixture = Fixture::new().await;
        let server = Server::new(fixture.inventory.clone().with_policy(ByName), ample());
        Self { fixture, server }
    }

    async fn send(&self, request: Request<String>) -> Reply {
        self.server.send(with_key(request, &self.fixture.key)).await
    }

    async fn post(&self, body: &Value) -> Reply {
        self.send(send_json("POST", HOSTS, body)).await
    }

    async fn names(&self) -> Vec<String> {
        let hosts = self.fixture.list("limit=0&order_by=name").await;
        let hosts = hosts.data().as_array().unwrap();
        hosts.iter().map(|host| host["name"].as_str().unwrap().to_owned()).collect()
    }
}

fn draft(name: &str) -> Value {
    json!({"network_id": OFFICE, "name": name})
}

#[test]
fn refusal_is_answered_with_the_code_of_the_host_application_and_stores_nothing() {
    run_with(Scene::new, async |scene| {
        let refused = scene.post(&draft("forbidden")).await;
        assert_eq!(*refused.refuses(422, "policy.forbidden_name"), json!({"field": "name"}));
        assert_eq!(refused.json["error"], "Hosts must not have this name.");
        let created = scene.post(&draft("allowed")).await.data().clone();
        let path = format!("{HOSTS}/{}", created["id"].as_str().unwrap());
        let update = scene.send(send_json("PUT", &path, &draft("forbidden"))).await;
        update.refuses(422, "policy.forbidden_name");
        assert_eq!(scene.names().await, ["allowed"]);

        // A deletion shows the record before it.
        scene.fixture.put([Host { name: "forbidden".to_owned(), ..host(1, OFFICE) }]).await;
        let path = format!("{HOSTS}/{}", Uuid::from_u128(1));
        let deletion = scene.send(send_json("DELETE", &path, &Value::Null)).await;
        deletion.refuses(422, "policy.forbidden_name");
        assert_eq!(scene.names().await, ["allowed", "forbidden"]);
    });
}

#[test]
fn repeated_request_is_refused_again_with_the_same_key() {
    run_with(Scene::new, async |scene| {
        for _ in 0..2 {
            let request = send_json("POST", HOSTS, &draft("forbidden"));
            let request = with_header(request, "idempotency-key", "one");
            scene.send(request).await.refuses(422, "policy.forbidden_name");
        }
        assert!(scene.names().await.is_empty());
    });
}

#[test]
fn bulk_request_refuses_one_of_its_hosts() {
    run_with(Scene::new, async |scene| {
        let hosts = json!([draft("one"), draft("forbidden"), draft("three")]);
        let bulk = |is_atomic: bool| {
            send_json("POST", "/api/v1/hosts/bulk", &json!({"hosts": hosts, "atomic": is_atomic}))
        };
        let refused = scene.send(bulk(true)).await;
        assert_eq!(*refused.refuses(422, "policy.forbidden_name"), json!({"field": "hosts.1.name"}));
        assert!(scene.names().await.is_empty());

        let results = scene.send(bulk(false)).await.data().clone();
        let outcomes: Vec<&Value> = (0..3).map(|index| &results[index]["outcome"]).collect();
        assert_eq!(outcomes, ["created", "failed", "created"]);
        let error = &results[1]["error"];
        assert_eq!(error["code"], "policy.forbidden_name");
        assert_eq!(error["params"], json!({"field": "hosts.1.name"}));
        assert_eq!(scene.names().await, ["one", "three"]);
    });
}

#[test]
fn deletion_of_several_records_states_which_one_is_refused() {
    run_with(Scene::new, async |scene| {
        let hosts = [host(1, OFFICE), Host { name: "forbidden".to_owned(), ..host(2, OFFICE) }];
        let ids = hosts.each_ref().map(|host| host.id);
        scene.fixture.put(hosts).await;
        let missing = HostId::from_u128(0x99);
        let body = json!([ids[0], missing, ids[1]]);
        let refused = scene.send(send_json("POST", "/api/v1/hosts/bulk-delete", &body)).await;
        assert_eq!(*refused.refuses(422, "policy.forbidden_name"), json!({"field": "ids.2"}));
        assert_eq!(scene.names().await.len(), 2);
    });
}

#[test]
fn import_refuses_one_of_its_lines() {
    run_with(Scene::new, async |scene| {
        let lines = ["one", "forbidden", "three"].map(|name| draft(name).to_string()).join("\n");
        let request = send_json("POST", "/api/v1/hosts/import", &Value::Null).map(|_| lines);
        let report = scene.send(with_header(request, "content-type", "application/x-ndjson")).await;
        let report = report.data();
        assert_eq!((&report["imported"], &report["refused"]), (&json!(2), &json!(1)));
        let refusal = json!({
            "line": 2, "field": "name", "reason": "Hosts must not have this name.", "code": "policy.forbidden_name",
        });
        assert_eq!(report["refusals"], json!([refusal]));
        assert_eq!(scene.names().await, ["one", "three"]);
    });
}

#[cfg(feature = "discovery")]
#[test]
fn report_ignores_the_refused_device() {
    run_with(Scene::new, async |scene| {
        let device =
            |name: &str, number: u8| json!({"sys_name": name, "serial_number": format!("SN-{number}")});
        let devices = json!([device("one", 1), device("forbidden", 2), device("three", 3)]);
        let report = json!({
            "reporter": {"name": "c"}, "observed_at": "2026-08-01T12:00:00Z", "devices": devices,
        });
        let target = format!("/api/v1/discovery/import?network_id={OFFICE}&format=report");
        let request = send_json("POST", &target, &Value::Null).map(|_| report.to_string());
        let request = with_header(request, "content-type", "application/octet-stream");
        let report = scene.send(request).await.data().clone();
        assert_eq!(report["hosts"][1]["outcome"], "ignored");
        assert_eq!(report["hosts"][1]["reason"], "Hosts must not have this name.");
        let codes: Vec<&Value> =
            report["hosts"].as_array().unwrap().iter().map(|host| &host["code"]).collect();
        assert_eq!(codes, [&Value::Null, &json!("policy.forbidden_name"), &Value::Null]);
        assert_eq!(scene.names().await, ["one", "three"]);
    });
}

#[test]
fn refused_value_of_a_part_is_named_within_the_part() {
    struct NoTelnet;

    #[async_trait]
    impl Policy for NoTelnet {
        async fn check(&self, change: &ProposedChange<'_>) -> Result<(), ApplicationError> {
            let ports = change.after::<Host>().map_or(&[][..], |host| &host.ports);
            match ports.iter().position(|port| port.number.get() == 23) {
                Some(index) => Err(ApplicationError::new(
                    ApplicationCode::new("policy.telnet", 422),
                    "Telnet is not allowed here.",
                )
                .at(format!("ports.{index}.number"))),
                None => Ok(()),
            }
        }
    }

    run_with(Fixture::with_one_host, async |fixture| {
        let server = Server::new(fixture.inventory.clone().with_policy(NoTelnet), ample());
        let send = async |request| server.send(with_key(request, &fixture.key)).await;
        let body = json!({
            "host_id": Uuid::from_u128(1), "network_id": OFFICE, "number": 23, "protocol": "Tcp",
        });
        let refused = send(send_json("POST", "/api/v1/ports", &body)).await;
        assert_eq!(*refused.refuses(422, "policy.telnet"), json!({"field": "number"}));
        let host = json!({"network_id": OFFICE, "name": "a", "ports": [{"number": 23, "protocol": "Tcp"}]});
        let refused = send(send_json("POST", HOSTS, &host)).await;
        assert_eq!(*refused.refuses(422, "policy.telnet"), json!({"field": "ports.0.number"}));
    });
}

/// Sends changes of the same host while a policy does not answer: they neither wait nor fail.
#[tokio::test(start_paused = true)]
async fn silent_policy_holds_up_no_other_change_and_is_answered_with_503() {
    let scene = Scene::new().await;
    let created = scene.post(&draft("a")).await.data().clone();
    let path = format!("{HOSTS}/{}", created["id"].as_str().unwrap());
    let begun = tokio::time::Instant::now();
    let mut silent = pin!(scene.send(send_json("PUT", &path, &draft("silent"))));
    let others = async {
        for number in 0..3 {
            scene.send(send_json("PUT", &path, &draft(&format!("b{number}")))).await.data();
        }
        begun.elapsed()
    };
    let elapsed = tokio::select! {
        biased;
        refused = &mut silent => panic!("the policy has answered: {refused:?}"),
        elapsed = others => elapsed,
    };
    let refused = silent.await;
    assert!(elapsed < Duration::from_secs(1), "{elapsed:?}");
    assert_eq!(begun.elapsed().as_secs(), 5);
    refused.refuses(503, "store_unavailable");
    assert_eq!(refused.number("retry-after"), 1);
    assert_eq!(scene.names().await, ["b2"]);

    let hosts = json!([draft("one"), draft("silent")]);
    for is_atomic in [true, false] {
        let body = json!({"hosts": hosts, "atomic": is_atomic});
        scene.send(send_json("POST", "/api/v1/hosts/bulk", &body)).await.refuses(503, "store_unavailable");
    }
    assert_eq!(scene.names().await, ["b2"]);
}

#[test]
fn panicking_policy_fails_the_change_alone() {
    run_with(Scene::new, async |scene| {
        scene.post(&draft("broken")).await.refuses(500, "internal_error");
        assert!(scene.names().await.is_empty());
        scene.post(&draft("whole")).await.data();
        let inventory = scene.fixture.inventory.clone().with_policy(ByName);
        let host = Host { name: "broken".to_owned(), ..host(1, OFFICE) };
        let error = inventory.hosts().put(&scene.fixture.system(), host).await.unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Internal);
        assert_eq!(scene.names().await, ["whole"]);
    });
}

#[test]
fn refusal_has_a_code_for_rust_and_one_for_the_answer() {
    run_with(Scene::new, async |scene| {
        let inventory = scene.fixture.inventory.clone().with_policy(ByName);
        let host = Host { name: "forbidden".to_owned(), ..host(1, OFFICE) };
        let error = inventory.hosts().put(&scene.fixture.system(), host).await.unwrap_err();
        assert_eq!((error.code(), error.code_text()), (ErrorCode::PolicyRefused, "policy.forbidden_name"));
        assert_eq!(Failure::of(&error, Meta::new("1")).code, "policy.forbidden_name");
        assert_eq!(error.field(), Some("name"));
    });
}

/// Renames the host while the policy is asked for the first time, and remembers the names that it was shown.
struct Interfering {
    inventory: Inventory,
    asked: AtomicUsize,
    names: std::sync::Mutex<Vec<[String; 2]>>,
}

#[async_trait]
impl Policy for Interfering {
    async fn check(&self, change: &ProposedChange<'_>) -> Result<(), ApplicationError> {
        let names = [change.before::<Host>(), change.after::<Host>()]
            .map(|host| host.map(|host| format!("{} {:?}", host.name, host.description)).unwrap_or_default());
        self.names.lock().unwrap().push(names);
        if self.asked.fetch_add(1, Ordering::SeqCst) == 0 {
            let rename = |host: &mut Host| {
                host.name = "meanwhile".to_owned();
                Ok(())
            };
            let caller = change.actor().caller().unwrap();
            self.inventory.hosts().update(caller, change.id().into(), rename).await.unwrap();
        }
        Ok(())
    }
}

#[test]
fn policy_sees_last_what_is_committed() {
    run_with(Fixture::with_one_host, async |fixture| {
        let policy = Arc::new(Interfering {
            inventory: fixture.inventory.clone(),
            asked: AtomicUsize::new(0),
            names: std::sync::Mutex::default(),
        });
        let inventory = fixture.inventory.clone().with_policy(Arc::clone(&policy));
        let describe = |host: &mut Host| {
            host.description = Some("d".to_owned());
            Ok(())
        };
        let id = HostId::from_u128(1);
        let updated = inventory.hosts().update(&fixture.system(), id, describe).await.unwrap();
        assert_eq!((updated.name.as_str(), updated.description.as_deref()), ("meanwhile", Some("d")));
        let d = "Some(\"d\")";
        let expected = [
            ["host None".to_owned(), format!("host {d}")],
            ["meanwhile None".to_owned(), format!("meanwhile {d}")],
        ];
        assert_eq!(*policy.names.lock().unwrap(), expected);
    });
}

/// Refuses everything that callers of one organization do.
struct Frozen(OrganizationId);

#[async_trait]
impl Policy for Frozen {
    async fn check(&self, change: &ProposedChange<'_>) -> Result<(), ApplicationError> {
        if change.organization_id() == self.0 {
            return Err(ApplicationError::new(
                ApplicationCode::new("policy.frozen", 422),
                "The inventory is frozen.",
            ));
        }
        Ok(())
    }
}

#[test]
fn policy_tells_organizations_apart() {
    run(async || {
        let fixture = Fixture::new().await;
        let frozen = Frozen(fixture.home.organization.id);
        let server = Server::new(fixture.inventory.clone().with_policy(frozen), ample());
        let abroad = fixture.owner_key(&fixture.abroad).await;
        let create = |key: &str, network: NetworkId| {
            with_key(send_json("POST", HOSTS, &json!({"network_id": network, "name": "a"})), key)
        };
        let refused = server.send(create(&fixture.key, OFFICE)).await;
        assert_eq!(*refused.refuses(422, "policy.frozen"), json!({}));
        server.send(create(&abroad, ELSEWHERE)).await.data();
        // The rights of the other organization decide this, not its policy.
        server.send(create(&abroad, OFFICE)).await.refuses(400, "entity_reference_invalid");
    });
}

#[test]
fn quota_holds_with_a_policy() {
    run(async || {
        let fixture = Fixture::new().await;
        let mut quotas = toposcope::inventory::Quotas::default();
        quotas.hosts_per_organization = Some(1);
        let inventory = fixture.inventory.clone().with_quotas(quotas).with_policy(ByName);
        let system = fixture.system();
        let create = |name: &str| inventory.hosts().create(&system, Host::new(OFFICE, name));
        create("one").await.unwrap();
        let refused = create("two").await.unwrap_err();
        assert!(matches!(refused.kind(), ErrorKind::QuotaExceeded { limit: 1, .. }), "{refused:?}");
    });
}

#[test]
fn records_other_than_hosts_are_refused_too() {
    struct NoNetworks;

    #[async_trait]
    impl Policy for NoNetworks {
        async fn check(&self, change: &ProposedChange<'_>) -> Result<(), ApplicationError> {
            match change.after::<Network>() {
                Some(_) => Err(ApplicationError::new(
                    ApplicationCode::new("policy.no_networks", 422),
                    "Networks come from elsewhere.",
                )),
                None => Ok(()),
            }
        }
    }

    run_with(Fixture::new, async |fixture| {
        let server = Server::new(fixture.inventory.clone().with_policy(NoNetworks), ample());
        let key = fixture.key(Permission::Admin, &[OFFICE]).await;
        let body = json!({"name": "Annex"});
        let refused = server.send(with_key(send_json("POST", "/api/v1/networks", &body), &key)).await;
        refused.refuses(422, "policy.no_networks");
        server.send(with_key(send_json("POST", "/api/v1/tags", &json!({"name": "t"})), &key)).await.data();
    });
}
