use http::{HeaderValue, Method};
use serde_json::{Value, json};
use toposcope::inventory::NewShare;
use toposcope::model::ShareOptions;
use uuid::Uuid;

use crate::common::{OFFICE, PASSWORD, at, bare, with_key, with_session};
use crate::contract::row::{Row, check};
use crate::contract::scene::{Scene, share_path};

/// A share of the scene's organization, with these options.
async fn share(scene: &Scene, options: [bool; 4], password: Option<&str>) -> Uuid {
    let mut share = NewShare::new(scene.world.home.organization.id, "The office\0");
    let [show_export_button, show_inspect_panel, show_minimap, show_zoom_controls] = options;
    share.options = ShareOptions { show_export_button, show_inspect_panel, show_minimap, show_zoom_controls };
    share.password = password.map(str::to_owned);
    share.network_id = Some(OFFICE);
    share.expires_at = Some(at(60));
    scene.world.inventory.create_share(share).await.unwrap().id
}

fn metadata(id: Uuid, requires_password: bool, options: [bool; 4]) -> Value {
    json!({
        "id": id,
        "name": "The office\0",
        "requires_password": requires_password,
        "options": {
            "show_export_button": options[0],
            "show_inspect_panel": options[1],
            "show_minimap": options[2],
            "show_zoom_controls": options[3],
        },
    })
}

#[tokio::test]
async fn the_metadata_is_what_the_view_needs_and_nothing_else() {
    let scene = Scene::new().await;
    let mut rows = Vec::new();
    for chosen in 0..16_u32 {
        let options = [0, 1, 2, 3].map(|place| chosen >> place & 1 == 1);
        let password = (chosen % 3 == 0).then_some(PASSWORD);
        let id = share(&scene, options, password).await;
        rows.push(Row::gives(
            format!("{options:?}"),
            bare("GET", &share_path(id)),
            metadata(id, password.is_some(), options),
        ));
    }
    check(scene.server(), rows).await;
}

#[tokio::test]
async fn no_credential_is_looked_at() {
    let scene = Scene::new().await;
    let id = share(&scene, [true; 4], None).await;
    let expected = || metadata(id, false, [true; 4]);
    let request = || bare("GET", &share_path(id));
    let mut twice = with_key(request(), "x");
    twice.headers_mut().append("authorization", HeaderValue::from_static("Bearer y"));
    let mut cross_site = scene.by_session(request());
    cross_site.headers_mut().insert("origin", HeaderValue::from_static("https://evil.example"));
    let requests = [
        ("none", request()),
        ("a key", scene.by_key(request())),
        ("no key", with_key(request(), "nonsense")),
        ("two keys", twice),
        ("a daemon's key", with_key(request(), &scene.daemon_key)),
        ("a session", scene.by_session(request())),
        ("no session", with_session(request(), "nonsense")),
        ("another site", cross_site),
    ];
    check(scene.server(), requests.map(|(name, request)| Row::gives(name, request, expected()))).await;
    let owner = scene.world.owner_key(&scene.world.abroad).await;
    check(scene.server(), [Row::gives("abroad", with_key(request(), &owner), expected())]).await;
}

#[tokio::test]
async fn a_share_is_found_until_it_is_disabled_and_until_the_moment_it_is_over() {
    let scene = Scene::new().await;
    let id = share(&scene, [false; 4], None).await;
    let status = async || scene.server().get(&share_path(id)).await.status.as_u16();
    assert_eq!(status().await, 200);
    scene.world.inventory.disable_share(id).await.unwrap();
    assert_eq!(status().await, 404);
    scene.world.inventory.enable_share(id).await.unwrap();
    scene.world.clock.set(at(60).plus_micros(-1));
    assert_eq!(status().await, 200);
    scene.world.clock.set(at(60));
    assert_eq!(status().await, 404);
}

#[tokio::test]
async fn nothing_tells_why_a_share_is_not_found() {
    let scene = Scene::new().await;
    let id = share(&scene, [false; 4], Some(PASSWORD)).await;
    let body = async || scene.server().get(&share_path(id)).await.body;
    scene.world.inventory.disable_share(id).await.unwrap();
    let disabled = body().await;
    scene.world.inventory.enable_share(id).await.unwrap();
    scene.world.clock.set(at(60));
    let over = body().await;
    scene.world.inventory.delete_share(id).await.unwrap();
    let deleted = body().await;
    assert!(disabled == over && over == deleted);
}

#[tokio::test]
async fn head_is_answered_as_get_is() {
    let scene = Scene::new().await;
    let found = share(&scene, [true; 4], None).await;
    for target in [
        share_path(found),
        share_path(found.simple()),
        share_path(Uuid::nil()),
        share_path("x"),
        share_path(format!("{found}?x=1")),
    ] {
        let get = scene.server().get(&target).await;
        let head = scene.server().send(bare(Method::HEAD.as_str(), &target)).await;
        assert_eq!(head.status, get.status, "{target}");
        assert_eq!(head.number("content-length"), get.body.len() as u64, "{target}");
    }
}
