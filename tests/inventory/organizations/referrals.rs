//! Referrals: how users heard of the product.

use std::time::Duration;

use toposcope::access::{Caller, Scope};
use toposcope::inventory::{ErrorKind, Problem};
use toposcope::model::{Permission, Referral, referral_source};

use crate::support::{
    Fixture, LEVELS, at_every_call, concurrently, id, in_person, invalid, owner_of, through_a_key, time,
};

#[tokio::test]
async fn referral_is_recorded_with_its_user_and_time() {
    let fixture = Fixture::new().await;
    let now = time("2026-08-15T00:00:00Z");
    fixture.clock.set(now);
    let user = fixture.user("a@example.net", Permission::Viewer, &[]).await;
    let said =
        fixture.inventory.users().submit_referral(&in_person(&user), " reddit\n", Some(" r/homelab ")).await;
    let said = said.unwrap();
    let expected = Referral {
        id: said.id,
        organization_id: fixture.organization,
        user_id: user.id,
        referral_source: "reddit".to_owned(),
        referral_source_other: Some(" r/homelab ".to_owned()),
        created_at: now,
        updated_at: now,
    };
    assert_eq!(said, expected);
    assert_eq!(fixture.inventory.users().referrals(&fixture.system()).await.unwrap(), [said]);
}

#[tokio::test]
async fn second_referral_of_a_user_replaces_the_first() {
    let fixture = Fixture::new().await;
    let caller = in_person(&fixture.owner().await);
    let first = fixture.inventory.users().submit_referral(&caller, "other", Some("a friend")).await.unwrap();
    let contents = fixture.contents().await.len();
    for (source, other) in [("reddit", None), ("reddit", None), ("other", Some("")), ("none known", None)] {
        fixture.clock.advance(Duration::from_secs(1));
        let again = fixture.inventory.users().submit_referral(&caller, source, other).await.unwrap();
        assert_eq!((again.id, again.created_at), (first.id, first.created_at));
        assert!(again.updated_at > first.updated_at);
        assert_eq!(again.referral_source, source);
        assert_eq!(again.referral_source_other.as_deref(), other);
        assert_eq!(fixture.inventory.users().referrals(&fixture.system()).await.unwrap(), [again]);
        assert_eq!(fixture.contents().await.len(), contents);
    }
}

#[tokio::test]
async fn every_known_source_is_accepted() {
    let fixture = Fixture::new().await;
    let caller = owner_of(fixture.organization);
    for source in referral_source::ALL {
        let said = fixture.inventory.users().submit_referral(&caller, source, None).await.unwrap();
        assert_eq!(said.referral_source, *source);
    }
}

#[tokio::test]
async fn source_has_1_to_100_characters_and_its_details_at_most_500() {
    let fixture = Fixture::new().await;
    let caller = in_person(&fixture.owner().await);
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
        let attempt = fixture.inventory.users().submit_referral(&caller, &source, Some(&other));
        assert_eq!(&fixture.refusal(attempt).await, expected);
    }
    let (source, other) = (format!(" {} ", "🦀".repeat(100)), "🦀".repeat(500));
    let said = fixture.inventory.users().submit_referral(&caller, &source, Some(&other)).await.unwrap();
    assert_eq!((said.referral_source.as_str(), said.referral_source_other), (source.trim(), Some(other)));
}

#[tokio::test]
async fn key_may_not_submit_a_referral() {
    let fixture = Fixture::new().await;
    for level in LEVELS {
        let user = fixture.user(&format!("{level}@example.net"), level, &[fixture.network]).await;
        for source in ["reddit", ""] {
            let caller = through_a_key(&user);
            let attempt = fixture.inventory.users().submit_referral(&caller, source, None);
            assert_eq!(fixture.refusal(attempt).await, ErrorKind::SessionRequired);
        }
        fixture.inventory.users().submit_referral(&in_person(&user), "reddit", None).await.unwrap();
    }
}

#[tokio::test]
async fn referrals_are_listed_by_age_for_their_organization_only() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    let mut said = Vec::new();
    for (organization, user) in [
        (fixture.organization, id(2)),
        (fixture.organization, id(1)),
        (foreign.organization, id(1)),
        (fixture.organization, id(3)),
    ] {
        fixture.clock.advance(Duration::from_micros(1));
        let caller = Caller::new(organization, user, Permission::Viewer, Scope::only([]));
        said.push(fixture.inventory.users().submit_referral(&caller, "reddit", None).await.unwrap());
    }
    let theirs = said.remove(2);
    assert_eq!(
        fixture.inventory.users().referrals(&fixture.system()).await.unwrap(),
        said,
        "the oldest first"
    );
    assert_eq!(fixture.inventory.users().referrals(&foreign.system()).await.unwrap(), [theirs]);
    assert!(fixture.inventory.users().referrals(&Caller::system(id(9))).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn concurrent_referrals_of_one_user_are_recorded_once() {
    let fixture = Fixture::new().await;
    let referrals = concurrently(&fixture, 16, |fixture, number| async move {
        let caller = owner_of(fixture.organization);
        fixture.inventory.users().submit_referral(&caller, &format!("source {number}"), None).await
    });
    for error in referrals.await.into_iter().filter_map(Result::err) {
        assert!(matches!(error.kind(), ErrorKind::Conflict { .. }), "{error}");
    }
    assert_eq!(fixture.inventory.users().referrals(&fixture.system()).await.unwrap().len(), 1);
}

#[tokio::test]
async fn later_of_two_concurrent_referrals_is_recorded() {
    for has_spoken in [false, true] {
        at_every_call(
            async |fixture: &Fixture| {
                let caller = in_person(&fixture.owner().await);
                if has_spoken {
                    fixture.inventory.users().submit_referral(&caller, "before", None).await.unwrap();
                }
                caller
            },
            async |inventory, caller| {
                inventory.users().submit_referral(caller, "meanwhile", None).await.unwrap()
            },
            async |inventory, caller| inventory.users().submit_referral(caller, "last", None).await,
            async |fixture, _, result| {
                let said = result.unwrap();
                assert_eq!(said.referral_source, "last");
                assert_eq!(fixture.inventory.users().referrals(&fixture.system()).await.unwrap(), [said]);
            },
        )
        .await;
    }
}
