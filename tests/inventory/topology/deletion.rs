//! Deletion of manual links and positions together with the records that they name.
//!
//! These records are hosts, services and subnets.

use toposcope::model::{Host, LinkEnd, NodeId, Subnet, TopologyLink, TopologyView};

use super::{link, links, pin, pinned, put_hosts};
use crate::backend::run;
use crate::support::{Fixture, at_every_call, bare_host, id, owner_of, service, uuid};

const L2: TopologyView = TopologyView::L2;
const WORKLOADS: TopologyView = TopologyView::Workloads;

#[test]
fn deleted_hosts_leave_neither_links_nor_positions() {
    run(async || {
        let fixture = Fixture::new().await;
        put_hosts(&fixture, 1..=4).await;
        let mut host = bare_host(id(5), fixture.network);
        host.services = vec![service(&host, id(51), "dns", 0)];
        fixture.put(&host).await;
        let at = |number| LinkEnd::at_host(id(number));
        let kept = link(&fixture, at(1), at(2), false).await;
        link(&fixture, at(3), at(1), false).await;
        link(&fixture, at(4), at(3), true).await;
        link(&fixture, at(5), at(4), false).await;
        pin(&fixture, L2, &[(id(1), 1.0), (id(3), 3.0), (id(4), 4.0)]).await;
        pin(&fixture, WORKLOADS, &[(id(51), 5.0), (id(9), 9.0)]).await;
        fixture.delete(id(3)).await.unwrap();
        assert_eq!(pinned(&fixture, L2).await, [(id(1), 1.0), (id(4), 4.0)]);
        let caller = owner_of(fixture.organization);
        fixture.inventory.hosts().delete_many(&caller, &[id(4), id(5)]).await.unwrap();
        assert_eq!(pinned(&fixture, L2).await, [(id(1), 1.0)]);
        assert_eq!(pinned(&fixture, WORKLOADS).await, [(id(9), 9.0)]);
        assert_eq!(links(&fixture).await.iter().map(|link| link.id).collect::<Vec<_>>(), [kept]);
        for gone in [uuid(3), id(4), id(5), id(51)] {
            assert_eq!(fixture.mentioning(gone).await, []);
        }
    });
}

#[test]
fn position_of_a_service_goes_with_the_service() {
    run(async || {
        let fixture = Fixture::new().await;
        let mut host = bare_host(id(1), fixture.network);
        host.services = vec![service(&host, id(11), "dns", 0), service(&host, id(12), "ntp", 1)];
        fixture.put(&host).await;
        pin(&fixture, WORKLOADS, &[(id(1), 1.0), (id(11), 2.0), (id(12), 3.0)]).await;
        host.services.pop();
        fixture.put(&host).await;
        // Hosts that are put as one are written in another way.
        let caller = owner_of(fixture.organization);
        fixture
            .inventory
            .hosts()
            .update(&caller, id(1), |host: &mut Host| {
                host.services.clear();
                Ok(())
            })
            .await
            .unwrap();
        assert_eq!(pinned(&fixture, WORKLOADS).await, [(id(1), 1.0)]);
    });
}

#[test]
fn host_that_moves_to_another_network_leaves_its_links_and_positions() {
    run(async || {
        let fixture = Fixture::new().await;
        put_hosts(&fixture, 1..=2).await;
        link(&fixture, LinkEnd::at_host(id(1)), LinkEnd::at_host(id(2)), false).await;
        pin(&fixture, L2, &[(id(1), 1.0), (id(2), 2.0)]).await;
        fixture.put(&bare_host(id(1), fixture.other_network)).await;
        assert_eq!(links(&fixture).await, []);
        assert_eq!(pinned(&fixture, L2).await, [(id(2), 2.0)]);
    });
}

#[test]
fn deleted_subnets_leave_no_positions() {
    run(async || {
        let fixture = Fixture::new().await;
        let caller = owner_of(fixture.organization);
        let mut subnets = Vec::new();
        for number in 0..3 {
            let cidr = format!("10.{number}.0.0/16").parse().unwrap();
            let subnet = Subnet::new(fixture.network, "a subnet", cidr);
            subnets.push(fixture.inventory.records().create(&caller, subnet).await.unwrap().id);
        }
        let positions: Vec<(NodeId, f64)> =
            subnets.iter().map(|id| (NodeId::from(*id), 1.0)).chain([(id(9), 9.0)]).collect();
        pin(&fixture, TopologyView::L3, &positions).await;
        fixture.inventory.subnets().delete(&caller, subnets[0]).await.unwrap();
        assert_eq!(pinned(&fixture, TopologyView::L3).await, positions[1..]);
        fixture.inventory.subnets().delete_many(&caller, &subnets[1..]).await.unwrap();
        assert_eq!(pinned(&fixture, TopologyView::L3).await, [(id(9), 9.0)]);
    });
}

#[tokio::test]
async fn link_entered_during_the_deletion_of_a_host_does_not_outlive_it() {
    at_every_call(
        async |fixture: &Fixture| {
            put_hosts(fixture, 1..=2).await;
            (fixture.network, owner_of(fixture.organization))
        },
        async |inventory, (network, caller)| {
            let link = TopologyLink::new(*network, LinkEnd::at_host(id(2)), LinkEnd::at_host(id(1)));
            inventory.records().create(caller, link).await.is_ok()
        },
        async |inventory, (_, caller)| inventory.hosts().delete(caller, id(1)).await.unwrap(),
        async |fixture, _, ()| assert_eq!(fixture.mentioning(uuid(1)).await, []),
    )
    .await;
}
