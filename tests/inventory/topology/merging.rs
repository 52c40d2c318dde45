//! Manual links and positions of a host that becomes a part of another one.

use toposcope::discovery::report::{Device, Report, Reporter};
use toposcope::inventory::{DiscoverOptions, Entity};
use toposcope::model::{Host, Interface, LinkEnd, Source, TopologyLink, TopologyView};

use super::{link, links, pin, pinned, put_hosts};
use crate::backend::run;
use crate::history::changes_after;
use crate::support::{
    Fixture, at_every_call, bare_host, entry, id, interface, owner_of, reference_invalid, refusal, service,
    time, uuid,
};

fn ends(links: &[TopologyLink]) -> Vec<(LinkEnd, LinkEnd, bool)> {
    links.iter().map(|link| (link.source, link.target, link.suppressed)).collect()
}

#[test]
fn manual_links_move_to_the_remaining_host_with_their_ports() {
    run(async || {
        let fixture = Fixture::new().await;
        let (kept, gone, other) = (id(1), id(2), id(3));
        put_hosts(&fixture, [3]).await;
        let mut host = bare_host(kept, fixture.network);
        host.if_entries = vec![entry(&host, id(11), 1)];
        fixture.put(&host).await;
        let mut absorbed = bare_host(gone, fixture.network);
        // The first port is that of the remaining host, the second one only this host has.
        absorbed.if_entries = vec![entry(&absorbed, id(21), 1), entry(&absorbed, id(22), 2)];
        fixture.put(&absorbed).await;
        let at_other = LinkEnd::at_host(other);
        let first = link(&fixture, LinkEnd::at_port(gone, id(21)), at_other, false).await;
        let second = link(&fixture, at_other, LinkEnd::at_port(gone, id(22)), true).await;
        link(&fixture, LinkEnd::at_host(kept), LinkEnd::at_host(gone), false).await;
        fixture.clock.advance(std::time::Duration::from_secs(1));

        fixture.inventory.discovery().consolidate(&owner_of(fixture.organization), kept, gone).await.unwrap();
        let links = links(&fixture).await;
        assert_eq!(links.iter().map(|link| link.id).collect::<Vec<_>>(), [first, second]);
        let expected = [
            (LinkEnd::at_port(kept, id(11)), at_other, false),
            (at_other, LinkEnd::at_port(kept, id(22)), true),
        ];
        assert_eq!(ends(&links), expected);
        assert!(links.iter().all(|link| link.updated_at > link.created_at));
        assert_eq!(fixture.mentioning(gone).await, []);
    });
}

#[test]
fn link_is_reverted_to_the_ends_that_it_had_before_hosts_were_consolidated() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        put_hosts(&fixture, 1..=3).await;
        let at = |number| LinkEnd::at_host(id(number));
        let moved = link(&fixture, at(1), at(3), false).await;
        let (_, before) = changes_after(&fixture, &owner, None).await;
        fixture.inventory.discovery().consolidate(&owner, id(2), id(3)).await.unwrap();
        assert_eq!(ends(&links(&fixture).await), [(at(1), at(2), false)]);
        let revert = async || fixture.inventory.topology_links().revert(&owner, moved, &before).await;
        let missing = refusal(revert().await);
        assert_eq!(missing, reference_invalid(Entity::Host, "target.host_id"));
        fixture.inventory.hosts().revert(&owner, id(3), &before).await.unwrap();
        let reverted = revert().await.unwrap();
        assert_eq!((reverted.source, reverted.target), (at(1), at(3)));
        assert_eq!(ends(&links(&fixture).await), [(at(1), at(3), false)]);
    });
}

#[test]
fn link_of_the_remaining_host_prevails_over_one_between_the_same_ends() {
    run(async || {
        let fixture = Fixture::new().await;
        put_hosts(&fixture, 1..=4).await;
        let at = |number| LinkEnd::at_host(id(number));
        let moved = link(&fixture, at(2), at(4), false).await;
        link(&fixture, at(4), at(2), true).await;
        link(&fixture, at(2), at(3), false).await;
        let own = link(&fixture, at(3), at(1), true).await;
        fixture
            .inventory
            .discovery()
            .consolidate(&owner_of(fixture.organization), id(1), id(2))
            .await
            .unwrap();
        let mut kept: Vec<_> = links(&fixture).await.iter().map(|link| (link.id, link.suppressed)).collect();
        let mut expected = [(moved, false), (own, true)];
        kept.sort_unstable();
        expected.sort_unstable();
        assert_eq!(kept, expected);
    });
}

#[test]
fn positions_move_to_the_remaining_host_unless_it_has_its_own() {
    run(async || {
        let fixture = Fixture::new().await;
        let (kept, gone) = (id(1), id(2));
        let mut host = bare_host(kept, fixture.network);
        host.services = vec![service(&host, id(11), "dns", 0)];
        fixture.put(&host).await;
        let mut absorbed = bare_host(gone, fixture.network);
        absorbed.services = vec![service(&absorbed, id(21), "dns", 0), service(&absorbed, id(22), "ntp", 1)];
        fixture.put(&absorbed).await;
        pin(&fixture, TopologyView::L2, &[(id(9), 1.0), (gone.into(), 2.0)]).await;
        pin(&fixture, TopologyView::L3, &[(gone.into(), 3.0), (kept.into(), 4.0)]).await;
        pin(&fixture, TopologyView::Workloads, &[(id(21), 5.0), (id(22), 6.0)]).await;
        fixture.inventory.discovery().consolidate(&owner_of(fixture.organization), kept, gone).await.unwrap();
        assert_eq!(pinned(&fixture, TopologyView::L2).await, [(id(9), 1.0), (kept.into(), 2.0)]);
        assert_eq!(pinned(&fixture, TopologyView::L3).await, [(kept.into(), 4.0)]);
        assert_eq!(pinned(&fixture, TopologyView::Workloads).await, [(id(11), 5.0), (id(22), 6.0)]);
        assert_eq!(fixture.mentioning(gone).await, []);
    });
}

#[test]
fn report_that_merges_hosts_moves_links_and_positions() {
    run(async || {
        let fixture = Fixture::new().await;
        put_hosts(&fixture, [3]).await;
        let mut addressed = Host::with_id(id(1), fixture.network, "");
        addressed.source = Source::Unknown;
        addressed.interfaces =
            vec![Interface { mac_address: None, ..interface(&addressed, id(11), "192.0.2.1", 0) }];
        let mut named = Host::with_id(id(2), fixture.network, "");
        named.source = Source::Unknown;
        named.serial_number = Some("SERIAL0001".to_owned());
        fixture.put(&addressed).await;
        fixture.put(&named).await;
        link(&fixture, LinkEnd::at_host(id(1)), LinkEnd::at_host(id(3)), false).await;
        pin(&fixture, TopologyView::L2, &[(id(1), 7.0)]).await;

        let mut device = Device::default();
        device.serial_number = named.serial_number.clone();
        let address = toposcope::discovery::report::AddressRow::new([192, 0, 2, 1].into());
        device.tables.addresses = Some(toposcope::discovery::report::Table::complete(vec![address]));
        let mut report = Report::new(Reporter::new("test"), time("2026-08-01T12:00:00Z"));
        report.devices = vec![device];
        let caller = owner_of(fixture.organization);
        let options = DiscoverOptions::new(fixture.network);
        fixture.inventory.discovery().reconcile(&caller, &report, options).await.unwrap();
        assert_eq!(fixture.mentioning(uuid(1)).await, []);
        let expected = [(LinkEnd::at_host(id(2)), LinkEnd::at_host(id(3)), false)];
        assert_eq!(ends(&links(&fixture).await), expected);
        assert_eq!(pinned(&fixture, TopologyView::L2).await, [(id(2), 7.0)]);
    });
}

#[tokio::test]
async fn link_entered_during_a_consolidation_moves_as_well() {
    at_every_call(
        async |fixture: &Fixture| {
            put_hosts(fixture, 1..=3).await;
            pin(fixture, TopologyView::L2, &[(id(2), 1.0)]).await;
            (fixture.network, owner_of(fixture.organization))
        },
        async |inventory, (network, caller)| {
            let link = TopologyLink::new(*network, LinkEnd::at_host(id(2)), LinkEnd::at_host(id(3)));
            inventory.records().create(caller, link).await.is_ok()
        },
        async |inventory, (_, caller)| {
            inventory.discovery().consolidate(caller, id(1), id(2)).await.unwrap().id
        },
        async |fixture, _, _| {
            assert_eq!(fixture.mentioning(uuid(2)).await, []);
            assert_eq!(pinned(fixture, TopologyView::L2).await, [(id(1), 1.0)]);
            let moved = [(LinkEnd::at_host(id(1)), LinkEnd::at_host(id(3)), false)];
            let left = ends(&links(fixture).await);
            assert!(left.is_empty() || left == moved, "{left:?}");
        },
    )
    .await;
}
