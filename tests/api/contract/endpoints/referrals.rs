use serde_json::{Value, json};
use toposcope::model::{Referral, referral_source};

use crate::common::{at, send_json, with_session};
use crate::contract::scene::{LEVELS, REFERRAL, Scene, with};

async fn submit(scene: &Scene, body: &Value) {
    assert_eq!(scene.server().send(scene.submit_referral(body)).await.data(), &json!({}));
}

async fn stored(scene: &Scene) -> Vec<Referral> {
    scene.world.inventory.referrals(scene.world.home.organization.id).await.unwrap()
}

#[tokio::test]
async fn it_is_stored_once_for_each_user_and_repeats_replace_it() {
    let scene = Scene::new().await;
    submit(&scene, &json!({"referral_source": "other", "referral_source_other": "a friend"})).await;
    let first = stored(&scene).await;
    assert_eq!(first.len(), 1);
    assert_eq!((first[0].user_id, first[0].organization_id), (scene.member.id, scene.member.organization_id));
    assert_eq!(
        (&*first[0].referral_source, first[0].referral_source_other.as_deref()),
        ("other", Some("a friend"))
    );
    scene.world.clock.set(at(5));
    submit(&scene, &json!({"referral_source": "reddit"})).await;
    let second = stored(&scene).await;
    let expected = Referral {
        referral_source: "reddit".to_owned(),
        referral_source_other: None,
        updated_at: at(5),
        ..first[0].clone()
    };
    assert_eq!(second, [expected]);
}

#[tokio::test]
async fn users_of_every_level_and_of_every_organization_each_have_their_own() {
    let scene = Scene::new().await;
    let world = &scene.world;
    for site in [&world.home, &world.abroad] {
        for level in LEVELS {
            let user = world.user(site, level, &[]).await;
            let session = world.sign_in(&user).await;
            let request = send_json("POST", REFERRAL, &json!({"referral_source": "youtube"}));
            scene.server().send(with_session(request, &session)).await.data();
        }
        let referrals = world.inventory.referrals(site.organization.id).await.unwrap();
        assert_eq!(referrals.len(), 4);
    }
}

#[tokio::test]
async fn the_known_sources_and_any_other_text_are_taken_as_they_are() {
    let scene = Scene::new().await;
    let known = [
        "search_engine",
        "ai_assistant",
        "youtube",
        "tiktok",
        "blog_article",
        "reddit",
        "hacker_news",
        "social_media",
        "word_of_mouth",
        "proxmox_community_scripts",
        "self_hosted",
        "other",
        "prefer_not_to_say",
    ];
    assert_eq!(referral_source::ALL, known);
    for source in known.into_iter().chain(["Reddit", "größe 😀", "a\0b", "  padded  "]) {
        submit(&scene, &json!({"referral_source": source})).await;
        assert_eq!(stored(&scene).await[0].referral_source, source.trim());
    }
}

/// The detail is required for the source `other`, and stored for every source.
#[tokio::test]
async fn the_words_of_the_user_are_kept_as_they_are() {
    let scene = Scene::new().await;
    let longest = "😀".repeat(500);
    for (sent, kept) in [
        (json!("  with spaces  "), Some("  with spaces  ")),
        (json!(""), Some("")),
        (json!("a\0\u{1b}"), Some("a\0\u{1b}")),
        (json!(longest), Some(&*longest)),
        (Value::Null, None),
    ] {
        submit(&scene, &with(&json!({"referral_source": "reddit"}), "referral_source_other", sent)).await;
        assert_eq!(stored(&scene).await[0].referral_source_other.as_deref(), kept);
    }
}
