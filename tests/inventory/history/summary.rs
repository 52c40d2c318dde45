//! The numbers of changes.

use std::collections::BTreeMap;
use std::time::Duration;

use toposcope::access::{Caller, Scope};
use toposcope::inventory::{Moment, SummaryQuery};
use toposcope::model::{
    ChangeAction, ChangeActor, ChangePosition, ChangeSummary, ChangedEntity, HostId, Permission, Tag, UserId,
};

use super::changes_after;
use super::replay::random_states;
use crate::backend::run;
use crate::support::{Fixture, bare_host, id, owner_of};

async fn summary_since(fixture: &Fixture, caller: &Caller, since: Option<ChangePosition>) -> ChangeSummary {
    let mut query = SummaryQuery::default();
    query.since = since.map(Moment::Position);
    fixture.inventory.change_summary(caller, &query).await.unwrap()
}

#[test]
fn summary_counts_what_the_feed_shows() {
    run(async || {
        let fixture = Fixture::new().await;
        random_states(&fixture, 17, 60).await;
        let viewer = Caller::new(
            fixture.organization,
            UserId::from_u128(7),
            Permission::Viewer,
            Scope::only([fixture.network]),
        );
        for caller in [owner_of(fixture.organization), viewer] {
            // Links are recorded at some moment after the commits that change them.
            let (changes, summary, rest) = loop {
                let (changes, end) = changes_after(&fixture, &caller, None).await;
                let summary = summary_since(&fixture, &caller, None).await;
                let rest = summary_since(&fixture, &caller, Some(end)).await;
                if changes_after(&fixture, &caller, None).await.0.len() == changes.len() {
                    break (changes, summary, rest);
                }
            };
            let mut expected: BTreeMap<(&str, &str), u64> = BTreeMap::new();
            for change in &changes {
                *expected.entry((change.entity.as_str(), change.action.as_str())).or_default() += 1;
            }
            let counts = summary.counts.iter();
            let counted: BTreeMap<(&str, &str), u64> =
                counts.map(|count| ((count.entity.as_str(), count.action.as_str()), count.count)).collect();
            assert_eq!(counted, expected);
            assert!(summary.counts.iter().all(|count| count.day == "2026-08-14"));
            assert_eq!(summary.next, None);
            assert_eq!(rest, ChangeSummary::default());
        }
    });
}

#[test]
fn summary_tells_days_and_actors_apart() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        let (_, start) = changes_after(&fixture, &owner, None).await;
        let host: HostId = id(1);
        fixture.put(&bare_host(host, fixture.network)).await;
        fixture.clock.advance(Duration::from_secs(24 * 3_600));
        for name in ["red", "green"] {
            fixture.inventory.tags().create(&owner, Tag::new(name)).await.unwrap();
        }
        let summary = summary_since(&fixture, &owner, Some(start)).await;
        let [first, second] = summary.counts.as_slice() else { panic!("{summary:?}") };
        assert_eq!(
            (first.day.as_str(), first.entity, first.action),
            ("2026-08-14", ChangedEntity::Host, ChangeAction::Created)
        );
        assert_eq!((&first.actor, first.count), (&ChangeActor::System, 1));
        assert_eq!((second.day.as_str(), second.entity, second.count), ("2026-08-15", ChangedEntity::Tag, 2));
        assert_eq!(second.actor.user_id(), Some(owner.user_id()));
    });
}
