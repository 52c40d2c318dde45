//! Examples of daemons and of their work.

use std::net::{IpAddr, Ipv4Addr};

use serde_json::json;

use super::{NETWORK, SUBNET, VERSION, id, now, uuid};
use crate::discovery::reconcile::MatchedBy;
use crate::discovery::report::{
    AddressFamily, AddressRow, ArpRow, BridgeId, Capability, CdpRow, FdbRow, FdbStatus, IfEntryRow, LagRow,
    LldpRow, NeighborState, PortRow, Reporter, RouteRow, StpRow, StpState, TableKind, Warning, WarningCode,
};
use crate::invariant::Invariant;
use crate::inventory::{
    Claim, ClaimRows, DiscoveredHost, DiscoveredSubnet, DiscoveredTable, DiscoveryOutcome, DiscoveryReport,
    MissingRows, SeenPart, StaleDeletion,
};
use crate::model::{
    Cidr, DaemonCapabilities, DaemonId, DaemonMode, Discovery, DiscoveryDaemon, DiscoveryId, DiscoveryPhase,
    DiscoveryType, HostId, LldpChassisId, LldpChassisIdSubtype, MacAddress, PortNumber, Protocol, UserId,
};
use crate::service::endpoints::discoveries::GivenType;
use crate::service::openapi::schemas::Schemas;
use crate::wire::daemon::{
    DaemonRegistration, DaemonWork, DiscoverySession, HostNaming, InterfacedSubnet, ReportedVlan,
    ScanSettings, ServerCapabilities, SessionType, SnmpCredentials, VlanId, VlanIds,
};

const DAEMON: DaemonId = DaemonId::new(uuid(20));
const SESSION: DiscoveryId = DiscoveryId::new(uuid(21));
const HOST: HostId = HostId::new(uuid(22));

pub(super) fn add_all(schemas: &mut Schemas) {
    let daemon = DiscoveryDaemon {
        id: DAEMON,
        network_id: NETWORK,
        host_id: HOST,
        user_id: UserId::nil(),
        api_key_id: Some(id(6)),
        name: "scanner".to_owned(),
        url: String::new(),
        mode: DaemonMode::DaemonPoll,
        version: Some("0.14.8".to_owned()),
        capabilities: DaemonCapabilities { has_docker_socket: false, interfaced_subnet_ids: vec![SUBNET] },
        is_unreachable: false,
        standby: false,
        last_seen: now(),
        last_report_at: Some(now()),
        tags: Vec::new(),
        created_at: now(),
        updated_at: now(),
    };
    schemas.add(&daemon);
    let server_capabilities = ServerCapabilities {
        minimum_daemon_version: "0.13.0".to_owned(),
        server_version: VERSION.to_owned(),
    };
    schemas.add(&server_capabilities);
    let daemon = DiscoveryDaemon { api_key_id: None, ..daemon };
    schemas.add(&DaemonRegistration { daemon, host_id: HOST, server_capabilities });
    schemas.add(&session());
    schemas.add(&DaemonWork(Some(session()), false));
    schemas.add(&discovery());
    schemas.add(&credentials());
    schemas.add(&ScanSettings::default());
    schemas.add(&GivenType::Name(DiscoveryType::Unified));
    schemas.add(&InterfacedSubnet { cidr: Cidr::DEFAULT_ROUTE, name: None });
    schemas.add(&ReportedVlan { vlan_number: 10, name: Some("office".to_owned()) });
    schemas.add(&VlanIds { vlans: vec![VlanId { vlan_number: 10, id: id(24) }] });
    schemas.add(&report());
    schemas.add(&StaleDeletion { hosts: 1, ports: 2, ..StaleDeletion::default() });
    add_rows(schemas);
    schemas.add(&AddressFamily::Ipv4);
    schemas.add(&claim());
}

/// Adds the rows of claims.
fn add_rows(schemas: &mut Schemas) {
    let mac_address = MacAddress::new([0x00, 0x1b, 0x21, 0x00, 0x00, 0x07]);
    let address = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7));
    schemas.add(&IfEntryRow { if_name: Some("Gi0/7".to_owned()), ..IfEntryRow::new(7) });
    schemas.add(&AddressRow { prefix_length: Some(24), if_index: Some(7), ..AddressRow::new(address) });
    let chassis_id =
        LldpChassisId { subtype: LldpChassisIdSubtype::MacAddress, value: mac_address.to_string() };
    schemas.add(&LldpRow {
        if_index: Some(7),
        sys_name: Some("core-1".to_owned()),
        capabilities: vec![Capability::Bridge],
        ..LldpRow::new(chassis_id)
    });
    schemas.add(&CdpRow {
        if_index: Some(7),
        port_id: Some("GigabitEthernet0/1".to_owned()),
        ..CdpRow::new("core-1.example.net")
    });
    schemas.add(&FdbRow {
        vlan: Some(10),
        if_index: Some(7),
        status: Some(FdbStatus::Learned),
        ..FdbRow::new(mac_address)
    });
    let neighbor = ArpRow {
        if_index: Some(7),
        state: Some(NeighborState::Reachable),
        ..ArpRow::new(address, mac_address)
    };
    schemas.add(&neighbor);
    schemas.add(&MissingRows::new(ClaimRows::Arp(vec![neighbor]), now(), now()));
    schemas.add(&StpRow {
        state: Some(StpState::Forwarding),
        designated_root: Some(BridgeId { priority: 32_768, mac_address }),
        ..StpRow::new(7)
    });
    if let Ok(destination) = Cidr::containing(address, 24) {
        schemas.add(&RouteRow {
            next_hop: Some(address),
            if_index: Some(7),
            metric: Some(1),
            ..RouteRow::new(destination)
        });
    }
    schemas.add(&LagRow::new(7, 101));
    if let Ok(number) = PortNumber::try_from(443) {
        schemas.add(&PortRow { service: Some("https".to_owned()), ..PortRow::new(number, Protocol::Tcp) });
    }
}

fn report() -> DiscoveryReport {
    let host = DiscoveredHost {
        id: Some(HOST),
        name: "core-1".to_owned(),
        outcome: DiscoveryOutcome::Updated,
        matched_by: Some(MatchedBy::ChassisId),
        changes: vec!["sys_descr".to_owned()],
        reason: Some("The chassis id is that of the host.".to_owned()),
        code: None,
    };
    let table =
        DiscoveredTable { device_id: HOST, kind: TableKind::Lldp, rows: 3, complete: true, unchanged: false };
    let warning = Warning::new(WarningCode::RowIncomplete, 2, Some(17));
    let network = Cidr::containing(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7)), 24);
    let subnets = network.map(|cidr| DiscoveredSubnet { id: SUBNET, cidr });
    DiscoveryReport {
        dry_run: false,
        outcomes: [(host.outcome, 1)].into(),
        hosts: vec![host],
        tables: vec![table],
        table_count: 1,
        subnets: subnets.into_iter().collect(),
        warnings: vec![warning],
        read_rows: 50,
        used_rows: 48,
        skipped_rows: 2,
    }
}

fn claim() -> Claim {
    Claim {
        host_id: HOST,
        network_id: NETWORK,
        observed_at: now(),
        complete: true,
        family: None,
        reporter: Reporter::new("snmpwalk"),
        rows: ClaimRows::IfEntries(vec![IfEntryRow::new(7)]),
        parts: vec![SeenPart { id: id(23), last_seen_at: now(), missed_scans: 0 }],
        missing: Vec::new(),
    }
}

fn session() -> DiscoverySession {
    let discovery_type = SessionType::Network {
        host_naming_fallback: HostNaming::BestService,
        probe_raw_socket_ports: false,
        snmp_credentials: SnmpCredentials::default(),
        subnet_ids: None,
    };
    DiscoverySession {
        daemon_id: DAEMON,
        discovery_type,
        error: None,
        finished_at: None,
        network_id: NETWORK,
        phase: DiscoveryPhase::Pending,
        progress: 0,
        session_id: SESSION,
        started_at: None,
        discovery_id: None,
        credential_mappings: None,
    }
}

fn credentials() -> SnmpCredentials {
    let given = json!({"default_credential": {"version": "V2c", "community": "public"}});
    SnmpCredentials::from_json(given).ok().asserted_or_default()
}

fn discovery() -> Discovery {
    Discovery {
        id: SESSION,
        network_id: NETWORK,
        daemon_id: Some(DAEMON),
        discovery_type: DiscoveryType::Network,
        subnet_ids: Some(vec![SUBNET]),
        phase: DiscoveryPhase::Scanning,
        progress: 40,
        error: None,
        handed_out_at: Some(now()),
        attempts: 1,
        has_credentials: false,
        credentials_lost_at: None,
        started_at: Some(now()),
        finished_at: None,
        is_cancelling: false,
        cancellation_sent_at: None,
        created_at: now(),
        updated_at: now(),
    }
}
