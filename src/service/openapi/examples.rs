//! The types that responses contain, each with an example.
//!
//! The parts of an example are the examples of their types, so that only whole records are listed here.

#[cfg(feature = "discovery")]
mod discovery;
#[cfg(feature = "topology")]
mod topology;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use serde_json::{Map, json};
use uuid::Uuid;

use super::schemas::Schemas;
use crate::inventory::{Alteration, DroppedPort, ErrorKind, ImportReport, Reassignment, Refusal, ShareToken};
use crate::model::{
    AdminStatus, BindingTarget, Change, ChangeAction, ChangeActor, ChangeCount, ChangePosition,
    ChangeSummary, ChangedEntity, ChangedHost, Cidr, Color, CredentialAssignment, Custom, DaemonApiKey,
    DiffedHost, DiffedLink, DiffedLinkEnd, DockerVirtualization, FieldChange, Host, HostVirtualization,
    IfEntry, Interface, LldpChassisId, LldpChassisIdSubtype, LldpPortId, LldpPortIdSubtype, MacAddress,
    MacSource, MovedLink, Neighbor, Network, NetworkId, NodeId, OperStatus, Organization, OrganizationId,
    Permission, Port, PortNumber, Protocol, ProxmoxVirtualization, Redaction, Service, ServiceDefinition,
    ServiceVirtualization, Share, ShareMetadata, ShareOptions, Source, StateDiff, Subnet, SubnetId,
    SubnetType, Tag, TagId, Timestamp, TopologyView, User, UserApiKey, UserId, Vlans,
};
use crate::service::endpoints::accounts::Issued;
use crate::service::endpoints::collections::BulkDeletion;
use crate::service::endpoints::general::Versions;
use crate::service::endpoints::health::HealthReport;
use crate::service::endpoints::many::{ItemError, ItemOutcome, ItemResult};
use crate::wire::{API_VERSION, ErrorCode, Failure, FeedMeta, FeedPagination, Meta, Pagination};

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// A position in the history.
pub(super) const POSITION: &str = "Vb9-T1VyIr7qmp6Xh0mSxk5uQ2n8aLw3cEj4dGt7fHy0oPzB1sRvNA";
/// 2026-01-15T12:00:00Z.
const NOW: i64 = 1_768_478_400_000_000;

const ORGANIZATION: OrganizationId = OrganizationId::new(uuid(1));
const NETWORK: NetworkId = NetworkId::new(uuid(2));
const USER: UserId = UserId::new(uuid(3));
const TAG: TagId = TagId::new(uuid(4));
const SUBNET: SubnetId = SubnetId::new(uuid(5));

fn id<I: From<Uuid>>(number: u128) -> I {
    uuid(number).into()
}

/// Returns an id of version 7, as the inventory makes them.
const fn uuid(number: u128) -> Uuid {
    Uuid::from_u128(0x019b_c150_e000_7000_8000_0000_0000_0000 + number)
}

fn now() -> Timestamp {
    Timestamp::UNIX_EPOCH.plus_micros(NOW)
}

/// Adds all types.
pub(super) fn add_all(schemas: &mut Schemas) {
    add_envelopes(schemas);
    add_bulk(schemas);
    add_past(schemas);
    add_organization(schemas);
    add_keys(schemas);
    add_shares(schemas);
    #[cfg(feature = "discovery")]
    discovery::add_all(schemas);
    #[cfg(feature = "topology")]
    topology::add_all(schemas);
    if let Some(host) = host() {
        schemas.add(&host);
    }
}

fn meta() -> Meta {
    Meta::new(VERSION)
}

fn add_envelopes(schemas: &mut Schemas) {
    schemas.add(&meta().with_pagination(Pagination::new(120, 50, 0, 50)));
    schemas.add(&Pagination::by_cursor(120, 50, Some("bmV4dA".to_owned())));
    let position = ChangePosition::new(POSITION);
    let pagination = FeedPagination { limit: 50, has_more: true, next_cursor: position.clone() };
    let server_version = VERSION.to_owned();
    schemas.add(&FeedMeta { api_version: API_VERSION, server_version, pagination });
    let field = FieldChange { before: Some(json!("Rack 3")), after: Some(json!("Rack 4")) };
    schemas.add(&field);
    schemas.add(&Change {
        position,
        at: now(),
        actor: ChangeActor::User { id: USER, email: Some("user@example.net".to_owned()), key_id: None },
        action: ChangeAction::Updated,
        entity: ChangedEntity::Host,
        id: uuid(6),
        network_id: Some(NETWORK),
        name: "core-1".to_owned(),
        fields: BTreeMap::from([("sys_location".to_owned(), field)]),
        is_erased: false,
        cause: None,
        request_id: None,
    });
    schemas.add(&Failure::of(&ErrorKind::NotAuthenticated.into(), meta()));
    schemas.add(&Versions { api_version: API_VERSION, server_version: VERSION });
    schemas.add(&HealthReport { success: true, data: Some(format!("Toposcope {VERSION}")), error: None });
    schemas.add(&BulkDeletion { deleted_count: 2, requested_count: 3 });
}

fn add_past(schemas: &mut Schemas) {
    let host = DiffedHost { id: id(9), name: "printer".to_owned(), network_id: Some(NETWORK) };
    let field = FieldChange { before: Some(json!("pve")), after: Some(json!("pve1")) };
    let changed = ChangedHost {
        id: id(10),
        name: "pve1".to_owned(),
        network_id: Some(NETWORK),
        fields: BTreeMap::from([("name".to_owned(), field)]),
    };
    let mut diff = StateDiff::default();
    (diff.hosts.added, diff.hosts.changed) = (vec![host], vec![changed]);
    (diff.hosts.counts.added, diff.hosts.counts.changed) = (1, 1);
    let end = |id, port: &str| DiffedLinkEnd { id, if_entry_id: None, port: Some(port.to_owned()) };
    let link = |id, port| {
        let (source, target) = (end(NodeId::new(uuid(9)), "eth0"), end(NodeId::new(uuid(10)), port));
        DiffedLink { id, network_id: Some(NETWORK), source, target }
    };
    diff.links.added = vec![link(id(21), "Gi1/0/1")];
    diff.links.moved = vec![MovedLink { before: link(id(22), "Gi1/0/2"), after: link(id(23), "Gi1/0/3") }];
    (diff.links.counts.added, diff.links.counts.moved) = (1, 1);
    schemas.add(&diff);
    let count = ChangeCount {
        day: "2026-01-15".to_owned(),
        entity: ChangedEntity::Host,
        action: ChangeAction::Updated,
        actor: ChangeActor::System,
        count: 12,
    };
    schemas.add(&ChangeSummary { counts: vec![count], next: None });
}

fn add_bulk(schemas: &mut Schemas) {
    let outcome = ItemOutcome::Created;
    schemas.add(&ItemResult { index: 0, id: Some(id(9)), outcome, error: None });
    schemas.add(&ItemError {
        code: ErrorCode::EntityReferenceInvalid.as_str().to_owned(),
        error: "hosts.1.network_id does not refer to an existing Network.".to_owned(),
        params: Map::new(),
    });
    let mut report = ImportReport::default();
    (report.lines, report.bytes, report.imported, report.refused, report.reassigned) = (3, 14_700, 2, 1, 1);
    let (field, reason) = (Some("name".to_owned()), "Hosts must not have this name.".to_owned());
    report.refusals =
        vec![Refusal { line: 3, field, reason, code: Some("policy.forbidden_name".to_owned()) }];
    report.alterations.insert(Alteration::DroppedPort, 1);
    let (host_id, port_id) = (id(9), id(14));
    report.dropped_ports = vec![DroppedPort { line: 1, host_id, port_id, protocol: Protocol::Tcp }];
    report.reassignments = vec![Reassignment { line: 2, given_id: id(15), id: id(16) }];
    schemas.add(&report);
}

fn add_organization(schemas: &mut Schemas) {
    let (created_at, updated_at) = (now(), now());
    schemas.add(&Organization {
        id: ORGANIZATION,
        name: "Example".to_owned(),
        api_access: true,
        created_at,
        updated_at,
    });
    schemas.add(&User {
        id: USER,
        email: "ann@example.net".to_owned(),
        external_id: None,
        organization_id: ORGANIZATION,
        permissions: Permission::Member,
        network_ids: vec![NETWORK],
        is_enabled: true,
        created_at,
        updated_at,
    });
    schemas.add(&Network {
        id: NETWORK,
        organization_id: ORGANIZATION,
        name: "Office".to_owned(),
        description: None,
        tags: vec![TAG],
        custom: Custom::from([("asset_tag".to_owned(), "A-17".into())]),
        created_at,
        updated_at,
    });
    schemas.add(&Tag {
        id: TAG,
        organization_id: ORGANIZATION,
        name: "printers".to_owned(),
        description: Some("Everything that prints.".to_owned()),
        color: Some(Color::new(0x33, 0x66, 0xcc)),
        created_at,
        updated_at,
    });
    if let Ok(cidr) = Cidr::containing(Ipv4Addr::new(192, 0, 2, 0).into(), 24) {
        schemas.add(&Subnet {
            id: SUBNET,
            organization_id: ORGANIZATION,
            network_id: NETWORK,
            name: "Offices, first floor".to_owned(),
            description: None,
            cidr,
            subnet_type: SubnetType::Lan,
            source: Source::Manual,
            tags: Vec::new(),
            created_at,
            updated_at,
        });
    }
}

fn add_keys(schemas: &mut Schemas) {
    let (created_at, updated_at) = (now(), now());
    let daemon_key = DaemonApiKey {
        id: id(6),
        name: "scanner".to_owned(),
        network_id: NETWORK,
        tags: vec![TAG],
        key: "topo_d_…3fA9".to_owned(),
        last_used: Some(now()),
        created_at,
        updated_at,
        expires_at: None,
        is_enabled: true,
    };
    schemas.add(&daemon_key);
    // The key is shortened, so that no tool takes it for a leaked secret.
    let key = "topo_d_…".to_owned();
    let api_key = DaemonApiKey { key: key.clone(), last_used: None, ..daemon_key };
    schemas.add(&Issued { api_key, key });
    let user_key = UserApiKey {
        id: id(7),
        name: "dashboard".to_owned(),
        organization_id: ORGANIZATION,
        user_id: USER,
        tags: Vec::new(),
        key: "topo_u_…x71Q".to_owned(),
        last_used: None,
        created_at,
        updated_at,
        expires_at: None,
        is_enabled: true,
        network_ids: vec![NETWORK],
        all_networks: false,
        permissions: Permission::Viewer,
    };
    schemas.add(&user_key);
    let key = "topo_u_…".to_owned();
    schemas.add(&Issued { api_key: UserApiKey { key: key.clone(), ..user_key }, key });
}

fn add_shares(schemas: &mut Schemas) {
    let share = share();
    schemas.add(&ShareMetadata::from(&share));
    schemas.add(&share);
    schemas.add(&ShareToken { token: "c2hhcmU".to_owned(), expires_at: now() });
}

fn share() -> Share {
    let options = ShareOptions {
        show_export_button: true,
        show_inspect_panel: true,
        show_minimap: false,
        show_zoom_controls: true,
    };
    Share {
        id: id(8),
        organization_id: ORGANIZATION,
        network_id: Some(NETWORK),
        name: "Lobby screen".to_owned(),
        is_enabled: true,
        expires_at: None,
        requires_password: false,
        options,
        view: TopologyView::L3,
        redact: vec![Redaction::Macs],
        created_at: now(),
        updated_at: now(),
    }
}

/// Returns a virtual host with one record of each kind.
fn host() -> Option<Host> {
    let mut host = Host::with_id(id(9), NETWORK, "printer-1");
    (host.created_at, host.updated_at) = (now(), now());
    host.hostname = Some("printer-1.example.net".to_owned());
    host.sys_name = Some("printer-1".to_owned());
    host.sys_object_id = Some("1.3.6.1.4.1.8072.3.2.10".to_owned());
    host.serial_number = Some("SN-0815".to_owned());
    host.tags = vec![TAG];
    let details = ProxmoxVirtualization { vm_name: None, vm_id: Some("104".to_owned()), service_id: id(10) };
    host.virtualization = Some(HostVirtualization::Proxmox(details));
    let mut interface = Interface::new(&host, IpAddr::V4(Ipv4Addr::new(192, 0, 2, 17)));
    interface.subnet_id = Some(SUBNET);
    interface.mac_address = Some(MacAddress::new([0x00, 0x1b, 0x21, 0x3c, 0x4d, 0x5e]));
    interface.mac_source = Some(MacSource::NeighborCache);
    let port = Port::new(&host, PortNumber::try_from(443).ok()?, Protocol::Tcp);
    let service = Service::new(&host, "Administration", ServiceDefinition::new("Web Server").ok()?);
    let target = BindingTarget::Port { port_id: port.id, interface_id: Some(interface.id) };
    let details = DockerVirtualization { container_name: None, container_id: None, service_id: id(11) };
    let virtualization = Some(ServiceVirtualization::Docker(details));
    let service = Service { virtualization, ..service.bound_to(target) };
    let mut entry = IfEntry::new(&host, 1);
    entry.interface_id = Some(interface.id);
    entry.if_descr = "eth0".to_owned();
    entry.speed_bps = Some(1_000_000_000);
    entry.admin_status = Some(AdminStatus::Up);
    entry.oper_status = Some(OperStatus::Up);
    entry.neighbor = Some(Neighbor::Host(id(12)));
    entry.vlans = Some(Vlans { untagged: Some(10), tagged: vec![20, 30], ..Vlans::default() });
    let value = "00:1B:21:3C:4D:5E".to_owned();
    entry.lldp_chassis_id = Some(LldpChassisId { subtype: LldpChassisIdSubtype::MacAddress, value });
    entry.lldp_port_id =
        Some(LldpPortId { subtype: LldpPortIdSubtype::InterfaceName, value: "eth0".to_owned() });
    let assigned = CredentialAssignment { credential_id: id(13), interface_ids: None };
    host.credential_assignments = vec![assigned];
    host.interfaces = vec![interface];
    host.ports = vec![port];
    host.services = vec![service];
    host.if_entries = vec![entry];
    Some(host)
}
