//! Permissions and visible records of callers, by level, by networks and by organization.

use Endpoint::{CreateDaemonKey, DeleteKey, List, Referral, UpdateKey, UpdatePort};
use http::Request;
use serde_json::json;
use toposcope::access::{Caller, Scope};
use toposcope::inventory::{Entity, ErrorKind};
use toposcope::model::{HostId, NetworkId, Permission, PortId, User, UserApiKeyId};
use uuid::Uuid;

use crate::backend::run_with;
use crate::common::{
    DAEMON_KEYS, ELSEWHERE, Fixture, HOSTS, Hook, LAB, LEVELS, NOBODY, OFFICE, PORT, Populated, REFERRAL,
    Reply, Row, Server, VAULT, ample, at, bare, daemon_body, get, host, key_for, key_path, port_body,
    put_key, put_port, send_json, with, with_caller, with_header, with_key, with_port, with_session,
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

const ENDPOINTS: [Endpoint; 6] = [List, CreateDaemonKey, UpdatePort, UpdateKey, DeleteKey, Referral];

impl Endpoint {
    /// Returns a valid request. Requests about a key use a key of this user.
    fn request(self, fixture: &Populated, user: &User, key: UserApiKeyId) -> Request<String> {
        match self {
            List => get(HOSTS),
            CreateDaemonKey => send_json("POST", DAEMON_KEYS, &daemon_body()),
            UpdatePort => put_port(PORT, &port_body()),
            UpdateKey => put_key(key, &with(&fixture.key_body(), "user_id", json!(user.id))),
            DeleteKey => bare("DELETE", &key_path(key)),
            Referral => send_json("POST", REFERRAL, &json!({"referral_source": "reddit"})),
        }
    }

    /// Returns the expected code of the 403 for a level. Returns `None` for a success.
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
            Some(code) => Row::refused(name, request, code),
        }
    }
}

/// Creates a key of a user, and returns its id.
async fn key_of(fixture: &Populated, user: &User) -> UserApiKeyId {
    let key = key_for(user, Permission::Viewer, &[]);
    fixture.inventory.user_api_keys().create(&fixture.system(), key).await.unwrap().record().id
}

#[test]
fn user_with_a_session_may_do_what_the_level_permits() {
    run_with(Populated::new, async |fixture| {
        let mut rows = Vec::new();
        for level in LEVELS {
            let user = fixture.user(&fixture.home, level, &[OFFICE]).await;
            let session = fixture.sign_in(&user).await;
            for endpoint in ENDPOINTS {
                for caller in [None, Some(Caller::new(user.organization_id, user.id, level, Scope::all()))] {
                    let mut request = endpoint.request(&fixture, &user, key_of(&fixture, &user).await);
                    let name = format!("{level}: {endpoint:?} {caller:?}");
                    match caller {
                        Some(caller) => drop(request.extensions_mut().insert(caller)),
                        None => request = with_session(request, &session),
                    }
                    rows.push(endpoint.row(name, request, level, true));
                }
            }
        }
        fixture.check(rows).await;
    });
}

/// The effective level is the lower of the key's and its owner's.
#[test]
fn key_may_do_what_both_its_level_and_its_owner_permit() {
    run_with(Populated::new, async |fixture| {
        let mut rows = Vec::new();
        for owner_level in LEVELS {
            for level in LEVELS {
                // A key can exceed its owner's rights if the owner had them once.
                let owner = fixture.user(&fixture.home, Permission::Owner, &[]).await;
                let key = fixture.issue(key_for(&owner, level, &[OFFICE])).await;
                fixture
                    .inventory
                    .users()
                    .set_rights(&Caller::system(owner.organization_id), owner.id, owner_level, vec![OFFICE])
                    .await
                    .unwrap();
                for endpoint in ENDPOINTS {
                    let request = endpoint.request(&fixture, &owner, key_of(&fixture, &owner).await);
                    let name = format!("a key for {level} of {owner_level}: {endpoint:?}");
                    rows.push(endpoint.row(name, with_key(request, &key), level.min(owner_level), false));
                }
            }
        }
        fixture.check(rows).await;
    });
}

#[test]
fn daemon_keys_and_anonymous_requests_are_refused_everywhere() {
    run_with(Populated::new, async |fixture| {
        let mut rows = Vec::new();
        for endpoint in ENDPOINTS {
            let request = endpoint.request(&fixture, &fixture.member, fixture.member_key_id);
            let daemon = with_key(request.clone(), &fixture.daemon_key);
            let name = format!("{endpoint:?}");
            rows.push(Row::refused(&name, daemon, "auth_user_context_required"));
            rows.push(Row::refused(&name, request, "auth_not_authenticated"));
        }
        fixture.check(rows).await;
    });
}

/// Hosts 1 and 2 are in the office, 3 in the lab. Host 4 is in the vault.
#[test]
fn owners_and_admins_see_all_networks_and_others_those_granted() {
    run_with(Populated::new, async |fixture| {
        let (all, none) = ([1, 2, 3, 4].as_slice(), [].as_slice());
        for level in LEVELS {
            for (granted, few) in [
                (&[][..], none),
                (&[OFFICE], &[1, 2]),
                (&[VAULT, LAB], &[3, 4]),
                (&[OFFICE, LAB, VAULT], all),
            ] {
                let user = fixture.user(&fixture.home, level, granted).await;
                let session = fixture.sign_in(&user).await;
                let reply = fixture.send(with_session(get(HOSTS), &session)).await;
                let expected = if level >= Permission::Admin { all } else { few };
                assert_eq!(reply.ids(), expected, "{level} {granted:?}");
            }
        }
    });
}

#[test]
fn rights_of_a_session_follow_its_user_at_every_request() {
    run_with(Populated::new, async |fixture| {
        let list = async || fixture.send(fixture.by_session(get(HOSTS))).await;
        assert_eq!(list().await.ids(), [1, 2, 3]);
        for (level, networks, expected) in [
            (Permission::Admin, vec![], &[1, 2, 3, 4][..]),
            (Permission::Viewer, vec![VAULT], &[4]),
            (Permission::Viewer, vec![], &[]),
            (Permission::Member, vec![LAB], &[3]),
        ] {
            fixture
                .inventory
                .users()
                .set_rights(
                    &Caller::system(fixture.member.organization_id),
                    fixture.member.id,
                    level,
                    networks,
                )
                .await
                .unwrap();
            assert_eq!(list().await.ids(), expected, "{level}");
            let create = fixture.by_session(send_json(
                "POST",
                DAEMON_KEYS,
                &with(&daemon_body(), "network_id", json!(LAB)),
            ));
            let reply = fixture.send(create).await;
            match level {
                Permission::Viewer => assert_eq!(reply.refuses(403, "auth_permission_denied"), &json!({})),
                _ => assert_eq!(reply.data()["api_key"]["network_id"], json!(LAB)),
            }
        }
        fixture
            .inventory
            .users()
            .disable(&Caller::system(fixture.member.organization_id), fixture.member.id)
            .await
            .unwrap();
        list().await.refuses(401, "auth_not_authenticated");
        fixture
            .inventory
            .users()
            .enable(&Caller::system(fixture.member.organization_id), fixture.member.id)
            .await
            .unwrap();
        list().await.refuses(401, "auth_not_authenticated");
        let session = fixture.sign_in(&fixture.member).await;
        assert_eq!(fixture.send(with_session(get(HOSTS), &session)).await.ids(), [3]);
        fixture
            .inventory
            .users()
            .delete(&Caller::system(fixture.member.organization_id), fixture.member.id)
            .await
            .unwrap();
        let reply = fixture.send(with_session(get(HOSTS), &session)).await;
        reply.refuses(401, "auth_not_authenticated");
    });
}

/// If the key is invalid, the cookie is not tried.
#[test]
fn authorization_header_takes_precedence_over_the_cookie() {
    run_with(Populated::new, async |fixture| {
        let admin = fixture.user(&fixture.home, Permission::Admin, &[]).await;
        let session = fixture.sign_in(&admin).await;
        let key = fixture.issue(key_for(&fixture.member, Permission::Viewer, &[LAB])).await;
        let mut over = key_for(&admin, Permission::Admin, &[OFFICE]);
        over.expires_at = Some(at(1));
        let over = fixture.issue(over).await;
        fixture.clock.set(at(1));
        let with_both = |authorization: &str| {
            with_header(with_session(get(HOSTS), &session), "authorization", authorization)
        };
        let send = async |authorization: &str| fixture.send(with_both(authorization)).await;
        for scheme in ["Bearer", "bearer", "BEARER"] {
            assert_eq!(send(&format!("{scheme} {key}")).await.ids(), [3], "{scheme}");
        }
        assert_eq!(fixture.send(with_session(get(HOSTS), &session)).await.ids(), [1, 2, 3, 4]);
        send(&format!("Bearer {over}")).await.refuses(401, "entity_expired");
        for authorization in ["", "Bearer", "Bearer x", "Basic dXNlcjpwYXNz", "Negotiate x"] {
            send(authorization).await.refuses(401, "auth_not_authenticated");
        }
        let trusted = Caller::new(
            fixture.home.organization.id,
            NOBODY.into(),
            Permission::Viewer,
            Scope::only([VAULT]),
        );
        let request = with_caller(with_both(&format!("Bearer {over}")), trusted);
        assert_eq!(fixture.send(request).await.ids(), [4], "a caller set by the application wins");
    });
}

/// A host on each network at home, and one abroad.
async fn fixture() -> Fixture {
    let fixture = Fixture::with([host(1, OFFICE), host(2, LAB), host(3, VAULT)]).await;
    fixture.put_abroad(host(9, ELSEWHERE)).await;
    fixture
}

#[test]
fn key_lists_its_networks_that_the_owner_can_access() {
    run_with(fixture, async |fixture| {
        let all = [OFFICE, LAB, VAULT];
        let granted = [OFFICE, LAB];
        for owner_level in LEVELS {
            let owner = fixture.user(&fixture.home, owner_level, &granted).await;
            let reach: &[NetworkId] = if owner_level >= Permission::Admin { &all } else { &granted };
            for level in LEVELS.into_iter().filter(|level| *level <= owner_level) {
                for chosen in 0..1_u32 << reach.len() {
                    let chosen = |place: usize| chosen >> place & 1 == 1;
                    let networks: Vec<NetworkId> =
                        (0..reach.len()).filter(|place| chosen(*place)).map(|place| reach[place]).collect();
                    let key = fixture.issue(key_for(&owner, level, &networks)).await;
                    let expected: Vec<u128> =
                        networks.iter().map(|network| network.as_u128() - 0xff).collect();
                    let reply = fixture.list_as(&key, "").await;
                    assert_eq!(reply.ids(), expected, "{level} key of {owner_level}");
                    assert_eq!(reply.total(), expected.len() as u64);
                }
            }
        }
    });
}

#[test]
fn unreachable_networks_and_hosts_are_answered_as_unknown_ones() {
    run_with(fixture, async |fixture| {
        let id = Uuid::from_u128;
        for level in [Permission::Viewer, Permission::Member] {
            let user = fixture.user(&fixture.home, level, &[OFFICE, LAB]).await;
            let key = fixture.issue(key_for(&user, level, &[OFFICE])).await;
            for (name, hidden) in [
                ("network_id", &[LAB, VAULT, ELSEWHERE].map(NetworkId::uuid)),
                ("ids", &[id(2), id(3), id(9)]),
            ] {
                let unknown = fixture.list_as(&key, &format!("{name}={NOBODY}")).await;
                assert_eq!((unknown.ids(), unknown.total()), (vec![], 0));
                for value in hidden {
                    let reply = fixture.list_as(&key, &format!("{name}={value}")).await;
                    assert_eq!(reply.body, unknown.body, "{name}={value}");
                }
            }
            assert_eq!(fixture.list_as(&key, &format!("network_id={OFFICE}")).await.ids(), [1]);
            let all = [1, 2, 3, 9].map(|number| id(number).to_string()).join(",");
            let reply = fixture.list_as(&key, &format!("ids={all}")).await;
            assert_eq!((reply.ids(), reply.total()), (vec![1], 1));
        }
    });
}

#[test]
fn organizations_never_see_each_other() {
    run_with(fixture, async |fixture| {
        let abroad = fixture.owner_key(&fixture.abroad).await;
        let ids = [1, 2, 3, 9].map(|id| Uuid::from_u128(id).to_string()).join(",");
        for query in ["", "limit=0", &format!("ids={ids}"), "order_by=network_id&order_direction=desc"] {
            let mut home = fixture.ids(query).await;
            home.sort_unstable();
            assert_eq!(home, [1, 2, 3], "{query}");
            assert_eq!(fixture.list_as(&abroad, query).await.ids(), [9], "{query}");
        }
        for tag in fixture.abroad.tags {
            assert_eq!(fixture.ids(&format!("tag_ids={tag}")).await, [0; 0]);
        }
    });
}

/// The rule is checked at every request, against the owner's rights at that time.
#[test]
fn rights_of_a_key_follow_its_owner_at_every_request() {
    run_with(fixture, async |fixture| {
        let owner = fixture.user(&fixture.home, Permission::Owner, &[LAB]).await;
        let key = fixture.issue(key_for(&owner, Permission::Owner, &[OFFICE, LAB])).await;
        assert_eq!(fixture.list_as(&key, "").await.ids(), [1, 2]);
        for (level, networks, expected) in [
            (Permission::Viewer, &[LAB][..], &[2][..]),
            (Permission::Viewer, &[OFFICE, LAB, VAULT], &[1, 2]),
            (Permission::Viewer, &[VAULT], &[]),
            (Permission::Member, &[], &[]),
            (Permission::Admin, &[], &[1, 2]),
            (Permission::Owner, &[LAB], &[1, 2]),
        ] {
            fixture
                .inventory
                .users()
                .set_rights(&Caller::system(owner.organization_id), owner.id, level, networks.to_vec())
                .await
                .unwrap();
            assert_eq!(fixture.list_as(&key, "").await.ids(), expected, "{level} {networks:?}");
        }
    });
}

#[test]
fn changes_of_hosts_are_visible_to_the_next_request() {
    run_with(fixture, async |fixture| {
        let key = fixture.key(Permission::Viewer, &[OFFICE]).await;
        let ids = async || fixture.list_as(&key, "").await.ids();
        assert_eq!(ids().await, [1]);
        fixture.put([host(2, OFFICE)]).await;
        assert_eq!(ids().await, [1, 2]);
        fixture.put([host(1, VAULT)]).await;
        assert_eq!(ids().await, [2]);
        fixture.inventory.hosts().delete(&fixture.system(), HostId::from_u128(2)).await.unwrap();
        assert_eq!(ids().await, [0; 0]);
    });
}

const OWN_PORT: PortId = PortId::from_u128(0x51);
const FOREIGN_PORT: PortId = PortId::from_u128(0x52);
const OWN_HOST: HostId = HostId::from_u128(1);
const FOREIGN_HOST: HostId = HostId::from_u128(2);

async fn with_ports() -> Fixture {
    let fixture = Fixture::with([with_port(OWN_HOST, OFFICE, OWN_PORT)]).await;
    let theirs = with_port(FOREIGN_HOST, ELSEWHERE, FOREIGN_PORT);
    fixture.put_abroad(theirs).await;
    fixture
}

#[test]
fn foreign_port_or_host_costs_the_store_calls_of_an_unknown_one() {
    run_with(with_ports, async |fixture| {
        let key = fixture.key(Permission::Member, &[OFFICE]).await;
        let store = Hook::new();
        let server = Server::new(fixture.inventory_with(&store), ample());
        let update = async |port: PortId, host: HostId, network: NetworkId| {
            let body = json!({"host_id": host, "network_id": network, "number": 80, "protocol": "Tcp"});
            let request = send_json("PUT", &format!("/api/v1/ports/{port}"), &body);
            let reply: Reply = server.send(with_key(request, &key)).await;
            let calls = store.take();
            assert!(
                calls.iter().all(|call| call.records.iter().all(|record| record.id != FOREIGN_HOST.uuid()))
            );
            (reply.status, calls)
        };
        // The first request records the use of the key.
        update(NOBODY.into(), OWN_HOST, OFFICE).await;
        fixture.store.hook().settle().await;
        store.take();
        for (host, network) in [(OWN_HOST, OFFICE), (FOREIGN_HOST, ELSEWHERE)] {
            let unknown = update(NOBODY.into(), host, network).await;
            let foreign = update(FOREIGN_PORT, host, network).await;
            assert_eq!(foreign, unknown);
            assert_eq!(foreign.0, 404);
        }
        let unknown = update(OWN_PORT, NOBODY.into(), OFFICE).await;
        let foreign = update(OWN_PORT, FOREIGN_HOST, OFFICE).await;
        assert_eq!(foreign, unknown);
        assert_eq!(foreign.0, 400);
    });
}

#[test]
fn reading_or_deleting_a_foreign_host_costs_the_store_calls_of_an_unknown_one() {
    run_with(with_ports, async |fixture| {
        let store = Hook::new();
        let (inventory, organization) = (fixture.inventory_with(&store), fixture.home.organization.id);
        let mut calls = Vec::new();
        for id in [NOBODY.into(), FOREIGN_HOST] {
            let not_found = ErrorKind::NotFound { entity: Entity::Host, id: id.uuid() };
            let read = inventory.hosts().get(&Caller::system(organization), id).await;
            assert_eq!(*read.unwrap_err().kind(), not_found);
            let deleted = inventory.hosts().delete(&Caller::system(organization), id).await;
            assert_eq!(*deleted.unwrap_err().kind(), not_found);
            calls.push(store.take());
        }
        assert_eq!(calls[0], calls[1]);
        assert!(calls.iter().flatten().all(|call| call.records.is_empty()), "{calls:?}");
    });
}
