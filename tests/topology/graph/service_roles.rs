//! Roles of hosts by service definitions of the host application.

use std::sync::Arc;

use http::{HeaderValue, Request, StatusCode, header};
use toposcope::access::{Caller, Scope};
use toposcope::model::{
    DockerVirtualization, Host, HostRole, LinkEnd, Network, NetworkId, Permission, Service,
    ServiceDefinition, ServiceRoles, ServiceVirtualization, TopologyLink, TopologyView, UserId,
};
use toposcope::topology::Topologies;
use toposcope::topology::graph::{GraphOptions, HostSummary, RoleSource};
use toposcope::{Api, Inventory, MemoryStore, Store};
use tower::ServiceExt;

const NETWORK: NetworkId = NetworkId::from_u128(1);

fn role(text: &str) -> HostRole {
    text.parse().unwrap()
}

fn definition(name: &str) -> ServiceDefinition {
    ServiceDefinition::new(name).unwrap()
}

/// Returns roles of tills and of kiosks, in this order.
fn roles() -> ServiceRoles {
    let roles = ServiceRoles::new().with_role(definition("Till"), role("x.till"));
    roles.with_role(definition("Kiosk"), role("x.kiosk"))
}

/// Returns a host with services of these definitions.
fn host(name: &str, services: &[&str]) -> Host {
    let mut host = Host::new(NETWORK, name);
    for name in services {
        host.services.push(Service::new(&host, *name, definition(name)));
    }
    host
}

fn summary(host: &Host, roles: &ServiceRoles) -> HostSummary {
    HostSummary::of(host, &[]).with_service_roles(host, roles)
}

#[test]
fn service_definition_gives_its_role_to_hosts() {
    let mut till = host("till", &["Till"]);
    till.sys_descr = Some("Windows 11".to_owned());
    assert_eq!(summary(&till, &ServiceRoles::new()).role, HostRole::Workstation);
    let found = summary(&till, &roles());
    let reason = found.role_reason.unwrap();
    assert_eq!(
        (found.role, reason.source, &*reason.value),
        (role("x.till"), RoleSource::ServiceDefinition, "Till")
    );
    assert_eq!(summary(&host("other case", &["till"]), &roles()).role, HostRole::Unknown);
}

#[test]
fn definition_that_was_added_first_decides() {
    let both = host("both", &["Kiosk", "Till"]);
    assert_eq!(summary(&both, &roles()).role, role("x.till"));
    // Another role leaves the definition in its place.
    let changed = roles().with_role(definition("Till"), role("x.register"));
    assert_eq!(summary(&both, &changed).role, role("x.register"));
}

#[test]
fn role_of_a_user_precedes_service_definitions() {
    let mut till = host("till", &["Till"]);
    till.role = Some(HostRole::Camera);
    assert_eq!(summary(&till, &roles()).role, HostRole::Camera);
}

#[test]
fn service_in_a_container_gives_its_host_no_role() {
    let mut server = host("server", &["Docker", "Till"]);
    let service_id = server.services[0].id;
    let container = DockerVirtualization { container_name: None, container_id: None, service_id };
    server.services[1].virtualization = Some(ServiceVirtualization::Docker(container));
    assert_eq!(summary(&server, &roles()).role, HostRole::Unknown);
}

/// A store with a till that is linked to a switch.
struct Shop {
    store: Arc<dyn Store>,
    caller: Caller,
}

impl Shop {
    async fn new() -> Self {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let inventory = Inventory::new(Arc::clone(&store));
        let organization = inventory.organizations().create("Shop").await.unwrap();
        let system = Caller::system(organization.id);
        inventory.networks().ensure(&system, NETWORK, Network::new("Shop")).await.unwrap();
        let hosts = [host("till", &["Till"]), host("switch", &[])];
        let [till, switch] = hosts.each_ref().map(|host| LinkEnd::at_host(host.id));
        for host in hosts {
            inventory.hosts().put(&system, host).await.unwrap();
        }
        inventory.topology_links().create(&system, TopologyLink::new(NETWORK, till, switch)).await.unwrap();
        let caller = Caller::new(organization.id, UserId::nil(), Permission::Member, Scope::all());
        Self { store, caller }
    }

    fn inventory(&self, roles: ServiceRoles) -> Inventory {
        Inventory::new(Arc::clone(&self.store)).with_service_roles(roles)
    }

    /// Requests the graph, and returns the status and the entity tag of the response.
    async fn graph(&self, roles: ServiceRoles, known: Option<&HeaderValue>) -> (StatusCode, HeaderValue) {
        let uri = format!("/api/v1/topology/graph?network_id={NETWORK}&view=l2");
        let mut request = Request::get(uri).extension(self.caller.clone()).body(String::new()).unwrap();
        if let Some(known) = known {
            request.headers_mut().insert(header::IF_NONE_MATCH, known.clone());
        }
        let response = Api::builder(self.inventory(roles)).build().oneshot(request).await.unwrap();
        (response.status(), response.headers()[header::ETAG].clone())
    }
}

#[tokio::test]
async fn topology_of_a_network_has_the_roles_of_services() {
    let shop = Shop::new().await;
    let topologies = Topologies::new(shop.inventory(roles()));
    let options = GraphOptions::new(TopologyView::L2);
    let graph = topologies.graph(&shop.caller, NETWORK, options).await.unwrap();
    assert!(graph.nodes.iter().any(|node| node.role == role("x.till")), "{:?}", graph.nodes);
}

#[tokio::test]
async fn other_roles_of_services_make_another_entity_tag() {
    let shop = Shop::new().await;
    let (_, tag) = shop.graph(roles(), None).await;
    assert_eq!(shop.graph(roles(), Some(&tag)).await, (StatusCode::NOT_MODIFIED, tag.clone()));
    let reversed = ServiceRoles::new().with_role(definition("Kiosk"), role("x.kiosk"));
    let reversed = reversed.with_role(definition("Till"), role("x.till"));
    let changed = roles().with_role(definition("Till"), role("x.register"));
    for other in [ServiceRoles::new(), reversed, changed] {
        let (status, other) = shop.graph(other, Some(&tag)).await;
        assert_eq!(status, StatusCode::OK);
        assert_ne!(other, tag);
    }
}
