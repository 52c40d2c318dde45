//! Shares as the host application creates them and as anyone opens them.

use std::time::Duration;
use toposcope::access::Caller;

use toposcope::inventory::{Entity, ErrorKind, NewShare, Problem};
use toposcope::model::{Redaction, Share, ShareId, ShareMetadata, ShareOptions, TopologyView};

use crate::support::{
    Fixture, NOW, PASSWORD, at_every_call, id, invalid, not_found, reference_invalid, refusal, time, uuid,
};

impl Fixture {
    pub(super) async fn share(&self, adapt: impl FnOnce(&mut NewShare)) -> Share {
        let mut new = NewShare::new("the office");
        adapt(&mut new);
        self.inventory.shares().create(&Caller::system(self.organization), new).await.unwrap()
    }

    /// Asserts that the share is not available to callers who only know its id.
    async fn assert_hidden(&self, share: ShareId) {
        let expected = not_found(Entity::Share, share);
        assert_eq!(refusal(self.inventory.shares().metadata(share).await), expected);
        for password in [PASSWORD, ""] {
            let verified = self.inventory.shares().verify_password(share, password.to_owned()).await;
            assert_eq!(refusal(verified), expected);
        }
    }
}

#[tokio::test]
async fn share_is_found_as_created() {
    let fixture = Fixture::new().await;
    let now = time("2026-08-15T00:00:00Z");
    fixture.clock.set(now);
    let options = ShareOptions {
        show_export_button: false,
        show_inspect_panel: true,
        show_minimap: false,
        show_zoom_controls: true,
    };
    let share = fixture.share(|new| {
        new.name = " the office\n".to_owned();
        new.network_id = Some(fixture.network);
        new.password = Some(PASSWORD.to_owned());
        new.options = options;
        new.view = TopologyView::L3;
        new.redact = vec![Redaction::Macs, Redaction::Names, Redaction::Macs];
        new.is_enabled = false;
        new.expires_at = Some(time("2026-08-15T00:00:00.000001Z"));
    });
    let share = share.await;
    let expected = Share {
        id: share.id,
        organization_id: fixture.organization,
        network_id: Some(fixture.network),
        name: "the office".to_owned(),
        is_enabled: false,
        expires_at: Some(time("2026-08-15T00:00:00.000001Z")),
        requires_password: true,
        options,
        view: TopologyView::L3,
        redact: vec![Redaction::Macs, Redaction::Names],
        created_at: now,
        updated_at: now,
    };
    assert_eq!(share, expected);
    assert_eq!(
        fixture.inventory.shares().get(&Caller::system(share.organization_id), share.id).await.unwrap(),
        expected
    );
}

#[tokio::test]
async fn new_share_is_public_without_end_and_has_all_options_by_default() {
    let fixture = Fixture::new().await;
    let share = fixture.share(|_| {}).await;
    assert_eq!((share.network_id, share.expires_at, share.requires_password), (None, None, false));
    fixture.clock.advance(Duration::from_secs(1000 * 365 * 24 * 3600));
    let all = ShareOptions {
        show_export_button: true,
        show_inspect_panel: true,
        show_minimap: true,
        show_zoom_controls: true,
    };
    let metadata = fixture.inventory.shares().metadata(share.id).await.unwrap();
    let name = "the office".to_owned();
    assert_eq!(metadata, ShareMetadata { id: share.id, name, requires_password: false, options: all });
}

/// The id of one share does not help to find another. Except for version and variant, every bit is random.
#[tokio::test]
async fn id_of_a_share_is_random() {
    let fixture = Fixture::new().await;
    for _ in 0..20 {
        assert_eq!(fixture.share(|_| {}).await.id.uuid().get_version_num(), 4);
    }
}

type Alter = fn(&mut NewShare);

#[tokio::test]
async fn invalid_share_is_refused() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    let now = time(NOW);
    let rows: [(Alter, ErrorKind); 7] = [
        (|new| new.name.clear(), invalid("name", Problem::Empty)),
        (|new| new.name = " \u{2003}".to_owned(), invalid("name", Problem::Empty)),
        (|new| new.name = "🦀".repeat(101), invalid("name", Problem::MaxLength { max: 100 })),
        (|new| new.expires_at = Some(time(NOW)), invalid("expires_at", Problem::NotInFuture { now })),
        (
            |new| new.expires_at = Some(time("2000-01-01T00:00:00Z")),
            invalid("expires_at", Problem::NotInFuture { now }),
        ),
        (|new| new.password = Some("ü".repeat(9)), invalid("password", Problem::MinLength { min: 10 })),
        (|new| new.password = Some("ü".repeat(1001)), invalid("password", Problem::MaxLength { max: 1000 })),
    ];
    let mut homeless = NewShare::new("the office");
    homeless.network_id = Some(fixture.network);
    let homeless = fixture.inventory.shares().create(&Caller::system(id(9)), homeless).await;
    assert_eq!(refusal(homeless), not_found(Entity::Organization, uuid(9)));
    for (alter, expected) in rows {
        let mut new = NewShare::new("the office");
        new.network_id = Some(fixture.network);
        alter(&mut new);
        assert_eq!(
            fixture.refusal(fixture.inventory.shares().create(&fixture.system(), new)).await,
            expected
        );
    }
    for bad in [foreign.network, id(7), fixture.organization.uuid().into()] {
        let mut new = NewShare::new("the office");
        new.network_id = Some(bad);
        let system = Caller::system(fixture.organization);
        let attempt = fixture.inventory.shares().create(&system, new);
        assert_eq!(fixture.refusal(attempt).await, reference_invalid(Entity::Network, "network_id"));
    }
    fixture.share(|new| new.name = "🦀".repeat(100)).await;
    fixture.share(|new| new.password = Some("ü".repeat(1000))).await;
}

#[tokio::test]
async fn enabled_and_disabled_shares_are_listed_by_age_for_their_organization_only() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    let mut shares = Vec::new();
    for (name, is_enabled) in [("z", true), ("a", false), ("m", true)] {
        fixture.clock.advance(Duration::from_micros(1));
        let share = fixture.share(|new| {
            new.name = name.to_owned();
            new.is_enabled = is_enabled;
        });
        shares.push(share.await);
    }
    let theirs = fixture.inventory.shares().create(&foreign.system(), NewShare::new("theirs")).await.unwrap();
    assert_eq!(fixture.inventory.shares().all(&fixture.system()).await.unwrap(), shares);
    assert_eq!(fixture.inventory.shares().all(&foreign.system()).await.unwrap(), [theirs]);
    let homeless = fixture.inventory.shares().all(&Caller::system(id(9))).await;
    assert_eq!(refusal(homeless), not_found(Entity::Organization, uuid(9)));
}

#[tokio::test]
async fn unknown_share_is_not_found() {
    let fixture = Fixture::new().await;
    for unknown in [id(3), fixture.organization.uuid().into(), fixture.network.uuid().into()] {
        fixture.assert_hidden(unknown).await;
        let expected = not_found(Entity::Share, unknown);
        assert_eq!(refusal(fixture.inventory.shares().get(&fixture.system(), unknown).await), expected);
        assert_eq!(
            fixture.refusal(fixture.inventory.shares().enable(&fixture.system(), unknown)).await,
            expected
        );
        assert_eq!(
            fixture.refusal(fixture.inventory.shares().delete(&fixture.system(), unknown)).await,
            expected
        );
    }
}

#[tokio::test]
async fn enabling_and_disabling_changes_nothing_else() {
    let fixture = Fixture::new().await;
    let share = fixture.share(|new| new.password = Some(PASSWORD.to_owned())).await;
    let now = time("2026-08-15T00:00:00Z");
    fixture.clock.set(now);
    for is_enabled in [false, false, true, true] {
        let expected = Share { is_enabled, updated_at: now, ..share.clone() };
        assert_eq!(
            if is_enabled {
                fixture
                    .inventory
                    .shares()
                    .enable(&Caller::system(share.organization_id), share.id)
                    .await
                    .unwrap()
            } else {
                fixture
                    .inventory
                    .shares()
                    .disable(&Caller::system(share.organization_id), share.id)
                    .await
                    .unwrap()
            },
            expected
        );
        assert_eq!(
            fixture.inventory.shares().get(&Caller::system(share.organization_id), share.id).await.unwrap(),
            expected
        );
        if is_enabled {
            let metadata = fixture.inventory.shares().metadata(share.id).await.unwrap();
            assert_eq!(metadata, ShareMetadata::from(&expected));
            let verified = fixture.inventory.shares().verify_password(share.id, PASSWORD.to_owned()).await;
            assert!(verified.unwrap());
        } else {
            fixture.assert_hidden(share.id).await;
        }
    }
}

#[tokio::test]
async fn expired_share_is_visible_to_its_organization_only() {
    let fixture = Fixture::new().await;
    let end = time("2026-08-14T13:00:00Z");
    let share = fixture.share(|new| new.expires_at = Some(end)).await;
    fixture.clock.set(time("2026-08-14T12:59:59.999999Z"));
    fixture.inventory.shares().metadata(share.id).await.unwrap();
    assert!(fixture.inventory.shares().verify_password(share.id, String::new()).await.unwrap());
    for moment in [end, time("2026-08-14T13:00:00.000001Z"), time("9999-01-01T00:00:00Z")] {
        fixture.clock.set(moment);
        fixture.assert_hidden(share.id).await;
        assert_eq!(
            fixture.inventory.shares().get(&Caller::system(share.organization_id), share.id).await.unwrap(),
            share,
            "its owner finds it still"
        );
    }
}

#[tokio::test]
async fn share_with_a_password_opens_with_that_password_only() {
    let fixture = Fixture::new().await;
    let closed = fixture.share(|new| new.password = Some(PASSWORD.to_owned())).await;
    let other = fixture.share(|new| new.password = Some("battery staple".to_owned())).await;
    let open = fixture.share(|_| {}).await;
    for (share, password, expected) in [
        (&closed, PASSWORD, true),
        (&closed, "battery staple", false),
        (&closed, "Correct horse", false),
        (&closed, "correct horse ", false),
        (&closed, "", false),
        (&other, "battery staple", true),
        (&other, PASSWORD, false),
        (&open, PASSWORD, true),
        (&open, "", true),
    ] {
        let verified = fixture.inventory.shares().verify_password(share.id, password.to_owned()).await;
        assert_eq!(verified.unwrap(), expected, "{} {password:?}", share.requires_password);
    }
}

#[tokio::test]
async fn deleted_share_leaves_no_password() {
    let fixture = Fixture::new().await;
    fixture.share(|new| new.password = Some(PASSWORD.to_owned())).await;
    let before = fixture.contents().await;
    for password in [None, Some(PASSWORD.to_owned())] {
        let share = fixture.share(|new| new.password = password).await;
        fixture.inventory.shares().delete(&Caller::system(share.organization_id), share.id).await.unwrap();
        assert_eq!(fixture.contents().await, before);
        fixture.assert_hidden(share.id).await;
        assert_eq!(
            refusal(fixture.inventory.shares().get(&Caller::system(share.organization_id), share.id).await),
            not_found(Entity::Share, share.id)
        );
        let system = Caller::system(share.organization_id);
        let again = fixture.inventory.shares().delete(&system, share.id);
        assert_eq!(fixture.refusal(again).await, not_found(Entity::Share, share.id));
    }
}

#[tokio::test]
async fn share_that_is_deleted_meanwhile_does_not_come_back() {
    at_every_call(
        async |fixture: &Fixture| fixture.share(|new| new.password = Some(PASSWORD.to_owned())).await,
        async |inventory, share| {
            inventory.shares().delete(&Caller::system(share.organization_id), share.id).await.unwrap();
        },
        async |inventory, share| {
            (
                inventory.shares().enable(&Caller::system(share.organization_id), share.id).await.map(drop),
                inventory.shares().verify_password(share.id, PASSWORD.to_owned()).await,
            )
        },
        async |fixture, share, (switched, verified)| {
            let expected = not_found(Entity::Share, share.id);
            if let Err(error) = switched {
                assert_eq!(*error.kind(), expected);
            }
            assert_eq!(refusal(verified), expected);
            assert_eq!(fixture.mentioning(share.id).await, []);
        },
    )
    .await;
}
