//! Refusals of what daemons do.

use async_trait::async_trait;
use serde_json::{Value, json};
use toposcope::inventory::{
    ApplicationCode, ApplicationError, Entity, NewDaemonApiKey, Policy, ProposedChange,
};
use toposcope::model::Host;
use uuid::Uuid;

use crate::backend::run_with;
use crate::common::{Fixture, OFFICE, Reply, Server, ample, send_json, with_header, with_key};

/// A server whose policy daemons meet.
struct Scene {
    fixture: Fixture,
    server: Server,
    key: String,
}

impl Scene {
    async fn new(policy: impl Policy) -> Self {
        let fixture = Fixture::new().await;
        let key = NewDaemonApiKey::new(OFFICE, "a daemon");
        let key = fixture.inventory.daemon_api_keys().create(&fixture.system(), key).await.unwrap();
        let server = Server::new(fixture.inventory.clone().with_policy(policy), ample());
        Self { fixture, server, key: key.plaintext().to_owned() }
    }

    async fn post(&self, path: &str, body: &Value) -> Reply {
        self.server.send(with_key(send_json("POST", path, body), &self.key)).await
    }

    async fn register(&self, number: u128) -> Reply {
        let id = Uuid::from_u128(number);
        let body = json!({"daemon_id": id, "name": format!("scanner {number}"), "mode": "daemon_poll"});
        self.post("/api/daemons/register", &body).await
    }

    async fn hosts(&self) -> usize {
        self.fixture.list("limit=0").await.data().as_array().unwrap().len()
    }
}

/// Refuses records of one kind.
struct Refusing(Entity);

#[async_trait]
impl Policy for Refusing {
    async fn check(&self, change: &ProposedChange<'_>) -> Result<(), ApplicationError> {
        if change.entity() == self.0 {
            return Err(ApplicationError::new(ApplicationCode::new("policy.not_here", 422), "Not here."));
        }
        Ok(())
    }
}

#[test]
fn refused_registration_leaves_neither_daemon_nor_host() {
    for refused in [Entity::Daemon, Entity::Host] {
        run_with(
            async || Scene::new(Refusing(refused)).await,
            async |scene| {
                for number in 1..4 {
                    scene.register(number).await.refuses(422, "policy.not_here");
                }
                assert_eq!(scene.hosts().await, 0, "{refused:?}");
                let daemons = scene.fixture.server.get_with(&scene.fixture.key, "/api/v1/daemons").await;
                assert_eq!(*daemons.data(), json!([]), "{refused:?}");
            },
        );
    }
}

/// Refuses the name of hosts, and the name of their first interface if they have one.
struct NoNames;

#[async_trait]
impl Policy for NoNames {
    async fn check(&self, change: &ProposedChange<'_>) -> Result<(), ApplicationError> {
        let Some(host) = change.after::<Host>() else { return Ok(()) };
        let field = if host.interfaces.is_empty() { "name" } else { "interfaces.0.name" };
        Err(ApplicationError::new(ApplicationCode::new("policy.no_names", 422), "Names come from elsewhere.")
            .at(field))
    }
}

#[test]
fn refused_value_of_a_reported_host_is_named_within_the_report() {
    run_with(
        async || Scene::new(NoNames).await,
        async |scene| {
            let report = |lists: Value| {
                let mut report = json!({"host": {"name": "found", "network_id": OFFICE}});
                report.as_object_mut().unwrap().extend(lists.as_object().unwrap().clone());
                report
            };
            let addresses = json!([{"ip_address": "192.0.2.1", "mac_address": "02:00:00:00:00:01"}]);
            for (lists, version, field) in [
                (json!({}), None, "host.name"),
                (json!({"interfaces": addresses}), None, "interfaces.0.name"),
                (json!({"ip_addresses": addresses}), Some("0.16.0"), "ip_addresses.0.name"),
            ] {
                let mut request = send_json("POST", "/api/v1/hosts/discovery", &report(lists));
                if let Some(version) = version {
                    request = with_header(request, "x-daemon-version", version);
                }
                let refused = scene.server.send(with_key(request, &scene.key)).await;
                assert_eq!(*refused.refuses(422, "policy.no_names"), json!({"field": field}));
            }
            assert_eq!(scene.hosts().await, 0);
        },
    );
}
