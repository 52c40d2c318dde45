//! Access by level, credential and endpoint.

use http::Request;
use serde_json::json;
use toposcope::access::{Caller, Scope};
use toposcope::model::{Permission, User};
use uuid::Uuid;

use crate::common::{LAB, NOBODY, OFFICE, VAULT, at, bare, get, key_for, send_json, with_key, with_session};
use crate::contract::row::{Row, check};
use crate::contract::scene::{
    DAEMON_KEYS, HOSTS, LEVELS, PORT, REFERRAL, Scene, daemon_body, key_path, port_body, put_key, put_port,
    with,
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Endpoint {
    List,
    CreateDaemonKey,
    UpdatePort,
    UpdateKey,
    DeleteKey,
    Referral,
}

use Endpoint::{CreateDaemonKey, DeleteKey, List, Referral, UpdateKey, UpdatePort};

const ENDPOINTS: [Endpoint; 6] = [List, CreateDaemonKey, UpdatePort, UpdateKey, DeleteKey, Referral];

impl Endpoint {
    /// A valid request, about a key of this user if it is about a key.
    fn request(self, scene: &Scene, user: &User, key: Uuid) -> Request<String> {
        match self {
            List => get(HOSTS),
            CreateDaemonKey => send_json("POST", DAEMON_KEYS, &daemon_body()),
            UpdatePort => put_port(PORT, &port_body()),
            UpdateKey => put_key(key, &with(&scene.key_body(), "user_id", json!(user.id))),
            DeleteKey => bare("DELETE", &key_path(key)),
            Referral => send_json("POST", REFERRAL, &json!({"referral_source": "reddit"})),
        }
    }

    /// The expected answer for a level: `None` for a success, otherwise the code of the 403.
    fn refusal(self, level: Permission, is_in_person: bool) -> Option<&'static str> {
        match self {
            List => None,
            CreateDaemonKey | UpdatePort => (level < Permission::Member).then_some("auth_permission_denied"),
            UpdateKey | DeleteKey | Referral => (!is_in_person).then_some("auth_user_context_required"),
        }
    }

    fn row(self, name: String, request: Request<String>, level: Permission, is_in_person: bool) -> Row {
        match self.refusal(level, is_in_person) {
            None => Row::succeeds(name, request),
            Some(code) => Row::refused(name, request, 403, code, json!({})),
        }
    }
}

/// Creates a key of a user, and returns its id.
async fn key_of(scene: &Scene, user: &User) -> Uuid {
    let key = key_for(user, Permission::Viewer, &[]);
    scene.world.inventory.create_user_api_key(key).await.unwrap().record().id
}

#[tokio::test]
async fn in_person_every_level_may_do_what_it_is_there_for() {
    let scene = Scene::new().await;
    let mut rows = Vec::new();
    for level in LEVELS {
        let user = scene.world.user(&scene.world.home, level, &[OFFICE]).await;
        let session = scene.world.sign_in(&user).await;
        for endpoint in ENDPOINTS {
            for caller in [None, Some(Caller::new(user.organization_id, user.id, level, Scope::all()))] {
                let mut request = endpoint.request(&scene, &user, key_of(&scene, &user).await);
                let name = format!("{level}: {endpoint:?} {caller:?}");
                match caller {
                    Some(caller) => drop(request.extensions_mut().insert(caller)),
                    None => request = with_session(request, &session),
                }
                rows.push(endpoint.row(name, request, level, true));
            }
        }
    }
    check(scene.server(), rows).await;
}

/// The effective level is the lower of the key's and its owner's.
#[tokio::test]
async fn a_key_may_do_what_both_it_and_its_owner_may() {
    let scene = Scene::new().await;
    let mut rows = Vec::new();
    for owner_level in LEVELS {
        for level in LEVELS {
            // A key can exceed its owner's rights if the owner had them once.
            let owner = scene.world.user(&scene.world.home, Permission::Owner, &[]).await;
            let key = scene.world.issue(key_for(&owner, level, &[OFFICE])).await;
            scene.world.inventory.set_user_rights(owner.id, owner_level, vec![OFFICE]).await.unwrap();
            for endpoint in ENDPOINTS {
                let request = endpoint.request(&scene, &owner, key_of(&scene, &owner).await);
                let name = format!("a key for {level} of {owner_level}: {endpoint:?}");
                rows.push(endpoint.row(name, with_key(request, &key), level.min(owner_level), false));
            }
        }
    }
    check(scene.server(), rows).await;
}

#[tokio::test]
async fn a_daemon_and_nobody_may_do_nothing_of_it() {
    let scene = Scene::new().await;
    let mut rows = Vec::new();
    for endpoint in ENDPOINTS {
        let request = endpoint.request(&scene, &scene.member, scene.key_id);
        let daemon = with_key(request.clone(), &scene.daemon_key);
        let name = format!("{endpoint:?}");
        rows.push(Row::refused(&name, daemon, 403, "auth_user_context_required", json!({})));
        rows.push(Row::refused(&name, request, 401, "auth_not_authenticated", json!({})));
    }
    check(scene.server(), rows).await;
}

/// The hosts of a scene: 1 and 2 are in the office, 3 in the lab, 4 in the vault.
#[tokio::test]
async fn owners_and_admins_see_every_network_members_and_viewers_those_granted() {
    let scene = Scene::new().await;
    let world = &scene.world;
    let (all, none) = ([1, 2, 3, 4].as_slice(), [].as_slice());
    for level in LEVELS {
        for (granted, few) in
            [(&[][..], none), (&[OFFICE], &[1, 2]), (&[VAULT, LAB], &[3, 4]), (&[OFFICE, LAB, VAULT], all)]
        {
            let user = world.user(&world.home, level, granted).await;
            let session = world.sign_in(&user).await;
            let reply = scene.server().send(with_session(get(HOSTS), &session)).await;
            let expected = if level >= Permission::Admin { all } else { few };
            assert_eq!(reply.ids(), expected, "{level} {granted:?}");
        }
    }
}

#[tokio::test]
async fn what_a_user_may_is_asked_at_every_request_of_a_session() {
    let scene = Scene::new().await;
    let list = async || scene.server().send(scene.by_session(get(HOSTS))).await;
    assert_eq!(list().await.ids(), [1, 2, 3]);
    for (level, networks, expected) in [
        (Permission::Admin, vec![], &[1, 2, 3, 4][..]),
        (Permission::Viewer, vec![VAULT], &[4]),
        (Permission::Viewer, vec![], &[]),
        (Permission::Member, vec![LAB], &[3]),
    ] {
        scene.world.inventory.set_user_rights(scene.member.id, level, networks).await.unwrap();
        assert_eq!(list().await.ids(), expected, "{level}");
        let create =
            scene.by_session(send_json("POST", DAEMON_KEYS, &with(&daemon_body(), "network_id", json!(LAB))));
        let reply = scene.server().send(create).await;
        match level {
            Permission::Viewer => assert_eq!(reply.refuses(403, "auth_permission_denied"), &json!({})),
            _ => assert_eq!(reply.data()["api_key"]["network_id"], json!(LAB)),
        }
    }
    scene.world.inventory.disable_user(scene.member.id).await.unwrap();
    list().await.refuses(401, "auth_not_authenticated");
    scene.world.inventory.enable_user(scene.member.id).await.unwrap();
    list().await.refuses(401, "auth_not_authenticated");
    let session = scene.world.sign_in(&scene.member).await;
    assert_eq!(scene.server().send(with_session(get(HOSTS), &session)).await.ids(), [3]);
    scene.world.inventory.delete_user(scene.member.id).await.unwrap();
    let reply = scene.server().send(with_session(get(HOSTS), &session)).await;
    reply.refuses(401, "auth_not_authenticated");
}

/// If the key is invalid, the cookie is not tried.
#[tokio::test]
async fn of_both_credentials_authorization_decides() {
    let scene = Scene::new().await;
    let world = &scene.world;
    let admin = world.user(&world.home, Permission::Admin, &[]).await;
    let session = world.sign_in(&admin).await;
    let key = world.issue(key_for(&scene.member, Permission::Viewer, &[LAB])).await;
    let mut over = key_for(&admin, Permission::Admin, &[OFFICE]);
    over.expires_at = Some(at(1));
    let over = world.issue(over).await;
    world.clock.set(at(1));
    let with_both = |authorization: &str| {
        let mut request = with_session(get(HOSTS), &session);
        request.headers_mut().insert("authorization", authorization.parse().unwrap());
        request
    };
    let send = async |authorization: &str| scene.server().send(with_both(authorization)).await;
    for scheme in ["Bearer", "bearer", "BEARER"] {
        assert_eq!(send(&format!("{scheme} {key}")).await.ids(), [3], "{scheme}");
    }
    assert_eq!(scene.server().send(with_session(get(HOSTS), &session)).await.ids(), [1, 2, 3, 4]);
    send(&format!("Bearer {over}")).await.refuses(401, "entity_expired");
    for authorization in ["", "Bearer", "Bearer x", "Basic dXNlcjpwYXNz", "Negotiate x"] {
        send(authorization).await.refuses(401, "auth_not_authenticated");
    }
    let nobody = Caller::new(world.home.organization.id, NOBODY, Permission::Viewer, Scope::only([VAULT]));
    let mut request = with_both(&format!("Bearer {over}"));
    request.extensions_mut().insert(nobody);
    assert_eq!(scene.server().send(request).await.ids(), [4], "but whom the application vouches for");
}
