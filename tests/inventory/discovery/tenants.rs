use toposcope::inventory::{DiscoverOptions, DiscoveryOutcome, Entity};

use super::support::{FIRST, SECOND, discover, discover_one, outcomes, report_of, switch, switch_seeing};
use crate::backend::run;
use crate::support::{Fixture, documents, not_found, owner_of, refusal};

#[test]
fn discovery_matches_and_names_no_host_of_another_tenant() {
    run(async || {
        let fixture = Fixture::new().await;
        let foreign = fixture.foreign().await;
        let (theirs, options) = (owner_of(foreign.organization), DiscoverOptions::new(foreign.network));
        let answer = discover(&fixture, vec![switch_seeing(1, 2), switch(2)], FIRST).await;
        let own = documents(&fixture.inventory, fixture.organization).await;
        let report = report_of(vec![switch_seeing(1, 2), switch(2)], SECOND);
        let discovered = fixture.inventory.discovery().reconcile(&theirs, &report, options).await.unwrap();
        assert_eq!(outcomes(&discovered), [DiscoveryOutcome::Created; 2]);
        for (own, their) in answer.hosts.iter().zip(&discovered.hosts) {
            assert_ne!(own.id, their.id);
        }
        assert_eq!(documents(&fixture.inventory, fixture.organization).await, own);
        // Deleting the neighbor of one tenant leaves that of the other.
        let second = discovered.hosts[1].id.unwrap();
        fixture.inventory.hosts().delete(&foreign.system(), second).await.unwrap();
        assert_eq!(documents(&fixture.inventory, fixture.organization).await, own);
        let first = answer.hosts[0].id.unwrap();
        let other = answer.hosts[1].id.unwrap();
        let refused = fixture.inventory.discovery().consolidate(&theirs, first, other).await;
        assert_eq!(refusal(refused), not_found(Entity::Host, first));
        let refused = fixture.inventory.discovery().delete_stale(&theirs, fixture.network).await;
        assert_eq!(refusal(refused), not_found(Entity::Network, fixture.network));
    });
}

#[test]
fn discovery_matches_no_host_of_another_network() {
    run(async || {
        let fixture = Fixture::new().await;
        let (_, host) = discover_one(&fixture, switch(1), FIRST).await;
        let options = DiscoverOptions::new(fixture.other_network);
        let caller = owner_of(fixture.organization);
        let report = report_of(vec![switch_seeing(2, 1), switch(1)], FIRST);
        let answer = fixture.inventory.discovery().reconcile(&caller, &report, options).await.unwrap();
        assert_eq!(outcomes(&answer), [DiscoveryOutcome::Created; 2]);
        assert_eq!(fixture.host(host.id).await, host);
    });
}
