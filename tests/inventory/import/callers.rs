//! Imports on behalf of a caller, and the effects of failed and dropped imports.

use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};
use toposcope::access::{Caller, Scope};
use toposcope::inventory::{Entity, Error, ErrorKind, Import, ImportReport};
use toposcope::model::{Host, Permission, UserId};

use crate::support::{
    Document, Fault, Fixture, access_denied, at_every_call, bare_host, id, in_person, jsonl, numbered_hosts,
    owner_of, reference_invalid, refusal, rich_host, through_a_key, uuid,
};

async fn import_as(caller: &Caller, fixture: &Fixture, hosts: &[Host]) -> ImportReport {
    let lines = jsonl(hosts);
    fixture.inventory.hosts().import(caller, &lines[..], Import::new()).await.unwrap()
}

#[tokio::test]
async fn lines_outside_of_the_scope_and_moves_are_refused() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    fixture.put(&bare_host(id(5), fixture.other_network)).await;
    fixture.put(&bare_host(id(6), fixture.network)).await;
    let hosts = [
        bare_host(id(1), fixture.network),
        bare_host(id(2), fixture.other_network),
        bare_host(id(3), foreign.network),
        bare_host(id(4), id(7)),
        bare_host(id(5), fixture.network),
        bare_host(id(6), fixture.network),
    ];
    let report = import_as(&fixture.member(), &fixture, &hosts).await;
    assert_eq!((report.imported, report.replaced), (2, 1), "{report}");
    let refused: Vec<_> =
        report.refusals.iter().map(|refusal| (refusal.line, refusal.field.as_deref())).collect();
    let network = Some("network_id");
    assert_eq!(refused, [(2, network), (3, network), (4, network), (5, None)]);
    let denied = format!("You do not have access to the Network {}.", fixture.other_network);
    let reasons: Vec<_> = report.refusals.iter().map(|refusal| refusal.reason.as_str()).collect();
    assert_eq!((reasons[0], reasons[3]), (denied.as_str(), denied.as_str()));
    assert_eq!(reasons[1], reasons[2], "other organizations' networks do not exist");

    let move_to = [bare_host(id(5), fixture.network), bare_host(id(6), fixture.other_network)];
    let report = import_as(&owner_of(fixture.organization), &fixture, &move_to).await;
    let reasons: Vec<_> = report.refusals.iter().map(|refusal| refusal.reason.as_str()).collect();
    assert_eq!(reasons, ["The Host is on another network."; 2]);
    assert_eq!(fixture.host(id(5)).await.network_id, fixture.other_network);
}

#[tokio::test]
async fn only_lines_of_the_requested_network_are_imported() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    let lines = jsonl(&[bare_host(id(1), fixture.other_network), bare_host(id(2), fixture.network)]);
    let import = |caller: Caller, network| {
        let (inventory, lines) = (fixture.inventory.clone(), lines.clone());
        async move { inventory.hosts().import(&caller, &lines[..], Import::new().only_network(network)).await }
    };
    let unknown = reference_invalid(Entity::Network, "network_id");
    for (network, expected) in [
        (fixture.other_network, access_denied(fixture.other_network)),
        (foreign.network, unknown.clone()),
        (id(7), unknown),
    ] {
        assert_eq!(fixture.refusal(import(fixture.member(), network)).await, expected);
    }
    for caller in [fixture.member(), owner_of(fixture.organization)] {
        let report = import(caller, fixture.network).await.unwrap();
        assert_eq!((report.imported, report.refusals[0].line), (1, 1), "{report}");
        assert_eq!(report.refusals[0].field.as_deref(), Some("network_id"));
    }
}

#[tokio::test]
async fn level_and_session_are_required() {
    let (fixture, owner) = Fixture::with_owner().await;
    let viewer = Caller::new(fixture.organization, UserId::nil(), Permission::Viewer, Scope::all());
    let create = || Import::new().create_missing_networks();
    for (caller, import, expected) in [
        (&viewer, Import::new(), ErrorKind::PermissionDenied),
        (&fixture.member(), create(), ErrorKind::PermissionDenied),
        (&through_a_key(&owner), create(), ErrorKind::SessionRequired),
    ] {
        assert_eq!(refusal(fixture.inventory.hosts().import(caller, &b""[..], import).await), expected);
    }
    let lines = jsonl(&[bare_host(id(1), id(7))]);
    let report = fixture.inventory.hosts().import(&in_person(&owner), &lines[..], create()).await.unwrap();
    assert_eq!((report.imported, report.created_networks), (1, 1));
}

#[tokio::test]
async fn listed_documents_are_imported_unchanged_into_an_empty_organization() {
    let (fixture, other) = (Fixture::new().await, Fixture::new().await);
    for number in 1..=300 {
        fixture.put(&rich_host(number, fixture.network, &fixture.tags)).await;
    }
    let listed = fixture.documents().await;
    let import = Import::new().only_network(other.network);
    let lines = listed.join(&b'\n');
    let report = other.inventory.hosts().import(&other.member(), &lines[..], import).await.unwrap();
    assert_eq!((report.imported, report.refused, report.reassigned), (300, 0, 0), "{report}");
    assert_eq!(other.documents().await, listed);
}

/// Imports 600 hosts from a reader that then fails. Returns the last reported progress.
async fn import_and_fail(fixture: &Fixture, fault: Fault) -> (Error, Option<ImportReport>) {
    let (inventory, probe) = fixture.probed();
    probe.set(fault);
    let lines = jsonl(&numbered_hosts(fixture.network, 600));
    let reader = lines.as_slice().chain(Broken);
    let mut last = None;
    let import = Import::new().on_progress(|report| last = Some(report.clone()));
    let error = inventory.hosts().import(&fixture.member(), reader, import).await.unwrap_err();
    (error, last)
}

/// A reader that fails.
struct Broken;

impl AsyncRead for Broken {
    fn poll_read(
        self: Pin<&mut Self>,
        _context: &mut Context<'_>,
        _buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()))
    }
}

#[tokio::test]
async fn failing_import_reports_what_it_has_stored() {
    for (fault, expected, stored) in [
        (Fault::None, ErrorKind::Unreadable, 512),
        (Fault::UnavailableAfterCommits(0), ErrorKind::StoreUnavailable, 0),
        (Fault::UnavailableAfterCommits(1), ErrorKind::StoreUnavailable, 256),
    ] {
        let fixture = Fixture::new().await;
        let (error, report) = import_and_fail(&fixture, fault).await;
        assert_eq!((error.kind(), report.unwrap().imported), (&expected, stored));
        assert_eq!(fixture.documents().await.len() as u64, stored);
    }
}

#[tokio::test]
async fn dropped_import_leaves_whole_groups() {
    for call in 0.. {
        let fixture = Fixture::new().await;
        let (inventory, probe) = fixture.probed();
        probe.set(Fault::SilentAt(call));
        let (member, lines) = (fixture.member(), jsonl(&numbered_hosts(fixture.network, 300)));
        let mut import = pin!(inventory.hosts().import(&member, &lines[..], Import::new()));
        let is_done = tokio::select! {
            biased;
            report = &mut import => report.map(|_| true).unwrap(),
            () = probe.silenced() => false,
        };
        let stored = fixture.documents().await.len();
        assert!([0, 256, 300].contains(&stored), "{stored}");
        if is_done {
            break;
        }
    }
}

#[tokio::test]
async fn own_host_that_is_deleted_meanwhile_keeps_its_id() {
    at_every_call(
        async |fixture| {
            let host = bare_host(id(1), fixture.network);
            fixture.put(&host).await;
            (fixture.organization, host)
        },
        async |inventory, (organization, host)| {
            inventory.hosts().delete(&Caller::system(*organization), host.id).await.unwrap();
        },
        async |inventory, (organization, host)| {
            let lines = jsonl(std::slice::from_ref(host));
            inventory.hosts().import(&owner_of(*organization), &lines[..], Import::new()).await.unwrap()
        },
        async |_, _, report| assert_eq!((report.imported, report.reassigned), (1, 0), "{report}"),
    )
    .await;
}

#[tokio::test]
async fn report_has_a_json_form() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    fixture.inventory.hosts().put(&foreign.system(), bare_host(id(2), foreign.network)).await.unwrap();
    let odd = Document::of(&rich_host(1, fixture.network, &[]))
        .with("ports.0.number", 0)
        .with("interfaces.0.mac_address", "")
        .with("services", json!([]))
        .line();
    let lines =
        [odd.as_bytes(), b"\n", &jsonl(&[bare_host(id(2), fixture.network)]), b"{\"id\":7}\n"].concat();
    let report = fixture.import(&lines).await;
    let port = report.dropped_ports[0];
    assert_eq!(
        serde_json::to_value(&report).unwrap(),
        json!({
            "lines": 3, "bytes": lines.len(), "imported": 2, "replaced": 0, "unchanged": 0, "removed_parts": 0, "refused": 1,
            "created_networks": 0,
            "refusals": [{"line": 3, "field": "id", "reason": report.refusals[0].reason}],
            "alterations": {"empty_mac": 1, "dropped_port": 1},
            "dropped_ports": [{"line": 1, "host_id": uuid(1), "port_id": port.port_id, "protocol": "Tcp"}],
            "reassigned": 1,
            "reassignments": [{"line": 2, "given_id": uuid(2), "id": report.reassignments[0].id}],
        })
    );
}
