//! A [`Caller`] that the host application sets as request extension is trusted.

use http::Request;
use http::header::AUTHORIZATION;
use toposcope::access::{Caller, Scope};
use toposcope::model::Permission;
use uuid::Uuid;

use crate::common::{ELSEWHERE, LAB, NOBODY, OFFICE, Site, VAULT, World, get, host};

const LEVELS: [Permission; 4] =
    [Permission::Viewer, Permission::Member, Permission::Admin, Permission::Owner];

async fn world() -> World {
    let world = World::with([host(1, OFFICE), host(2, LAB), host(3, VAULT)]).await;
    world.inventory.put_host(world.abroad.organization.id, host(9, ELSEWHERE)).await.unwrap();
    world
}

fn by(caller: Caller) -> Request<String> {
    let mut request = get("/api/v1/hosts");
    request.extensions_mut().insert(caller);
    request
}

#[tokio::test]
async fn its_scope_alone_says_which_networks_are_seen() {
    let world = world().await;
    for (scope, expected) in [
        (Scope::all(), &[1, 2, 3][..]),
        (Scope::only([OFFICE, VAULT]), &[1, 3]),
        (Scope::only([LAB]), &[2]),
        (Scope::only([]), &[]),
        (Scope::only([NOBODY]), &[]),
        (Scope::only([ELSEWHERE]), &[]),
        (Scope::only([LAB, ELSEWHERE]), &[2]),
    ] {
        for level in LEVELS {
            let caller = Caller::new(world.home.organization.id, NOBODY, level, scope.clone());
            assert_eq!(world.server.send(by(caller)).await.ids(), expected, "{level} {scope:?}");
        }
    }
}

#[tokio::test]
async fn its_organization_need_not_exist() {
    let world = world().await;
    let caller = Caller::new(NOBODY, NOBODY, Permission::Owner, Scope::all());
    assert_eq!(world.server.send(by(caller)).await.ids(), [0; 0]);
}

#[tokio::test]
async fn it_needs_no_api_access() {
    let world = world().await;
    let site = Site::new(&world.inventory, "Free plan", false, 0x300).await;
    world.inventory.put_host(site.organization.id, host(7, site.networks[0])).await.unwrap();
    let caller = Caller::new(site.organization.id, NOBODY, Permission::Viewer, Scope::all());
    assert_eq!(world.server.send(by(caller)).await.ids(), [7]);
}

#[tokio::test]
async fn no_credential_of_the_request_is_looked_at_beside_it() {
    let world = world().await;
    let abroad = world.owner_key(&world.abroad).await;
    let caller = Caller::new(world.home.organization.id, NOBODY, Permission::Viewer, Scope::only([LAB]));
    for authorization in
        ["", "Bearer nonsense", &format!("Bearer {}", world.key), &format!("Bearer {abroad}")]
    {
        let mut request = by(caller.clone());
        request.headers_mut().insert(AUTHORIZATION, authorization.parse().unwrap());
        assert_eq!(world.server.send(request).await.ids(), [2]);
    }
}

#[tokio::test]
async fn however_it_was_recognized_it_may_list() {
    let world = world().await;
    let caller = Caller::new(world.home.organization.id, NOBODY, Permission::Viewer, Scope::all());
    assert_eq!(world.server.send(by(caller.clone().through_session())).await.ids(), [1, 2, 3]);
    let through_key = caller.through_key(Uuid::nil(), Permission::Owner, [VAULT, ELSEWHERE]);
    assert_eq!(world.server.send(by(through_key)).await.ids(), [3]);
}
