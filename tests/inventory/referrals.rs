//! Referrals: how users heard of the product.

use std::time::Duration;

use tokio::task::JoinSet;
use toposcope::access::{Caller, Scope};
use toposcope::inventory::{ErrorKind, Problem};
use toposcope::model::{Permission, Referral, referral_source};

use crate::support::{LEVELS, World, at_every_moment, id, in_person, invalid, owner_of, through_a_key, time};

#[tokio::test]
async fn what_a_user_says_is_recorded_with_who_said_it_and_when() {
    let world = World::new().await;
    let now = time("2026-08-15T00:00:00Z");
    world.clock.set(now);
    let user = world.user("a@example.net", Permission::Viewer, &[]).await;
    let said = world.inventory.submit_referral(&in_person(&user), " reddit\n", Some(" r/homelab ")).await;
    let said = said.unwrap();
    let expected = Referral {
        id: said.id,
        organization_id: world.organization,
        user_id: user.id,
        referral_source: "reddit".to_owned(),
        referral_source_other: Some(" r/homelab ".to_owned()),
        created_at: now,
        updated_at: now,
    };
    assert_eq!(said, expected);
    assert_eq!(world.inventory.referrals(world.organization).await.unwrap(), [said]);
}

#[tokio::test]
async fn what_a_user_says_again_takes_the_place_of_what_was_said_before() {
    let world = World::new().await;
    let caller = in_person(&world.owner().await);
    let first = world.inventory.submit_referral(&caller, "other", Some("a friend")).await.unwrap();
    let contents = world.store.contents().await.len();
    for (source, other) in [("reddit", None), ("reddit", None), ("other", Some("")), ("none known", None)] {
        world.clock.advance(Duration::from_secs(1));
        let again = world.inventory.submit_referral(&caller, source, other).await.unwrap();
        assert_eq!((again.id, again.created_at), (first.id, first.created_at));
        assert!(again.updated_at > first.updated_at);
        assert_eq!(again.referral_source, source);
        assert_eq!(again.referral_source_other.as_deref(), other);
        assert_eq!(world.inventory.referrals(world.organization).await.unwrap(), [again]);
        assert_eq!(world.store.contents().await.len(), contents);
    }
}

#[tokio::test]
async fn every_known_source_is_accepted() {
    let world = World::new().await;
    let caller = owner_of(world.organization);
    for source in referral_source::ALL {
        let said = world.inventory.submit_referral(&caller, source, None).await.unwrap();
        assert_eq!(said.referral_source, *source);
    }
}

#[tokio::test]
async fn a_source_has_one_to_a_hundred_characters_and_the_rest_five_hundred_at_most() {
    let world = World::new().await;
    let caller = in_person(&world.owner().await);
    let empty = invalid("referral_source", Problem::Empty);
    let too_long = invalid("referral_source", Problem::MaxLength { max: 100 });
    let other_too_long = invalid("referral_source_other", Problem::MaxLength { max: 500 });
    for (source, other, expected) in [
        (String::new(), 0, &empty),
        (" \u{2003}\t".to_owned(), 0, &empty),
        ("🦀".repeat(101), 0, &too_long),
        (String::new(), 501, &empty),
        ("other".to_owned(), 501, &other_too_long),
    ] {
        let other = "🦀".repeat(other);
        let attempt = world.inventory.submit_referral(&caller, &source, Some(&other));
        assert_eq!(&world.refusal(attempt).await, expected);
    }
    let (source, other) = (format!(" {} ", "🦀".repeat(100)), "🦀".repeat(500));
    let said = world.inventory.submit_referral(&caller, &source, Some(&other)).await.unwrap();
    assert_eq!((said.referral_source.as_str(), said.referral_source_other), (source.trim(), Some(other)));
}

#[tokio::test]
async fn a_key_says_nothing_for_its_user() {
    let world = World::new().await;
    for level in LEVELS {
        let user = world.user(&format!("{level}@example.net"), level, &[world.network]).await;
        for source in ["reddit", ""] {
            let caller = through_a_key(&user);
            let attempt = world.inventory.submit_referral(&caller, source, None);
            assert_eq!(world.refusal(attempt).await, ErrorKind::UserContextRequired);
        }
        world.inventory.submit_referral(&in_person(&user), "reddit", None).await.unwrap();
    }
}

#[tokio::test]
async fn each_user_speaks_once_in_each_organization() {
    let world = World::new().await;
    let foreign = world.foreign().await;
    let mut said = Vec::new();
    for (organization, user) in [
        (world.organization, id(2)),
        (world.organization, id(1)),
        (foreign.organization, id(1)),
        (world.organization, id(3)),
    ] {
        world.clock.advance(Duration::from_micros(1));
        let caller = Caller::new(organization, user, Permission::Viewer, Scope::only([]));
        said.push(world.inventory.submit_referral(&caller, "reddit", None).await.unwrap());
    }
    let theirs = said.remove(2);
    assert_eq!(world.inventory.referrals(world.organization).await.unwrap(), said, "the oldest first");
    assert_eq!(world.inventory.referrals(foreign.organization).await.unwrap(), [theirs]);
    assert!(world.inventory.referrals(id(9)).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn what_a_user_says_many_times_at_once_is_recorded_once() {
    let world = World::new().await;
    let mut tasks = JoinSet::new();
    for number in 0..16 {
        let (inventory, caller) = (world.inventory.clone(), owner_of(world.organization));
        tasks.spawn(async move {
            inventory.submit_referral(&caller, &format!("source {number}"), None).await.map(drop)
        });
    }
    while let Some(result) = tasks.join_next().await {
        if let Err(error) = result.unwrap() {
            assert!(matches!(error.kind(), ErrorKind::Conflict { .. }), "{error}");
        }
    }
    assert_eq!(world.inventory.referrals(world.organization).await.unwrap().len(), 1);
}

#[tokio::test]
async fn of_two_submissions_at_once_the_one_who_comes_last_counts() {
    for has_spoken in [false, true] {
        at_every_moment(
            async |world: &World| {
                let caller = in_person(&world.owner().await);
                if has_spoken {
                    world.inventory.submit_referral(&caller, "before", None).await.unwrap();
                }
                caller
            },
            |inventory, caller| {
                let caller = caller.clone();
                async move {
                    inventory.submit_referral(&caller, "meanwhile", None).await.unwrap();
                }
            },
            async |inventory, caller| inventory.submit_referral(caller, "last", None).await,
            async |world, _, result| {
                let said = result.unwrap();
                assert_eq!(said.referral_source, "last");
                assert_eq!(world.inventory.referrals(world.organization).await.unwrap(), [said]);
            },
        )
        .await;
    }
}
