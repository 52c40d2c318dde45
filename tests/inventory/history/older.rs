//! Records that are older than the history.

use toposcope::inventory::{Inventory, Moment};
use toposcope::model::HostId;

use super::changes_after;
use crate::backend::run;
use crate::support::{Fixture, bare_host, entry, id, interface, owner_of};

#[test]
fn host_of_before_the_history_is_what_it_was_when_the_history_began() {
    run(async || {
        let mut fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        let host: HostId = id(1);
        let mut first = bare_host(host, fixture.network);
        first.interfaces = vec![
            interface(&first, id(11), "192.0.2.1", 0),
            interface(&first, id(12), "192.0.2.2", 1),
            interface(&first, id(13), "192.0.2.3", 2),
        ];
        first.if_entries = vec![entry(&first, id(21), 1), entry(&first, id(22), 2)];
        let silent: Inventory = crate::support::inventory_in(fixture.store.clone()).without_history();
        let system = toposcope::access::Caller::system(fixture.organization);
        silent.hosts().put(&system, first.clone()).await.unwrap();
        // From here on, changes are recorded again.
        fixture.inventory = crate::support::inventory_in(fixture.store.clone());
        let (_, start) = changes_after(&fixture, &owner, None).await;
        let mut second = first.clone();
        second.name = "second".to_owned();
        second.interfaces.remove(1);
        second.if_entries[0].if_descr = "other".to_owned();
        fixture.put(&second).await;
        let (_, middle) = changes_after(&fixture, &owner, None).await;
        fixture.delete(host).await.unwrap();
        let at = async |position| fixture.inventory.host_at(&owner, host, &Moment::Position(position)).await;
        let mut then = at(start).await.unwrap();
        assert_eq!(then.updated_at, first.created_at);
        then.updated_at = first.updated_at;
        assert_eq!(then, first);
        assert_eq!(at(middle).await.unwrap().name, "second");
        let (_, end) = changes_after(&fixture, &owner, None).await;
        assert!(at(end).await.is_err());
    });
}
