//! Manual links and positions when hosts are merged or deleted.

mod deletion;
mod merging;

use std::time::Duration;

use toposcope::model::{
    LinkEnd, NodeId, NodePosition, TopologyLayout, TopologyLink, TopologyLinkId, TopologyView,
};

use crate::support::{Fixture, bare_host, id, owner_of};

/// Creates hosts with these numbers in the office.
async fn put_hosts(fixture: &Fixture, numbers: impl IntoIterator<Item = u128>) {
    for number in numbers {
        fixture.put(&bare_host(id(number), fixture.network)).await;
    }
}

/// Creates a manual link between two ends, or suppresses what is between them.
async fn link(fixture: &Fixture, source: LinkEnd, target: LinkEnd, suppressed: bool) -> TopologyLinkId {
    let mut link = TopologyLink::new(fixture.network, source, target);
    link.suppressed = suppressed;
    // Ids are in the order of their creation.
    fixture.clock.advance(Duration::from_millis(1));
    fixture.inventory.records().create(&owner_of(fixture.organization), link).await.unwrap().id
}

/// Returns the manual links, ordered by time.
async fn links(fixture: &Fixture) -> Vec<TopologyLink> {
    let caller = owner_of(fixture.organization);
    fixture.inventory.records().list(&caller, &Default::default()).await.unwrap().records
}

/// Stores the positions of nodes: each at the coordinate with its number.
async fn pin(fixture: &Fixture, view: TopologyView, nodes: &[(NodeId, f64)]) {
    let positions = nodes.iter().map(|&(id, x)| NodePosition { id, x, y: -x }).collect();
    let layout = TopologyLayout { network_id: fixture.network, view, positions };
    let caller = owner_of(fixture.organization);
    fixture.inventory.topology().put_layout(&caller, layout, |_| Ok(())).await.unwrap();
}

async fn pinned(fixture: &Fixture, view: TopologyView) -> Vec<(NodeId, f64)> {
    let caller = owner_of(fixture.organization);
    let layout = fixture.inventory.topology().layout(&caller, fixture.network, view).await.unwrap();
    layout.positions.iter().map(|position| (position.id, position.x)).collect()
}
