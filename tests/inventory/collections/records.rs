//! Required levels, effects of updates, and refused values.

use serde_json::json;
use toposcope::access::Caller;
use toposcope::inventory::{Creatable, Deletable, Entity, Error, ErrorKind, Inventory, Problem, Resource};
use toposcope::model::{Network, Organization, Permission, Source, Subnet, SubnetType, Tag};

use crate::backend::{run, run_with};
use crate::support::{
    Fixture, LEVELS, access_denied, already_exists, id, invalid, not_found, reference_invalid, refusal, time,
    uuid,
};

/// The lowest levels that may read, create, and change or delete. The flags state whether creations, and whether
/// changes and deletions, need a session.
type Levels = ([Permission; 3], [bool; 2]);

const TAGS: Levels = ([Permission::Viewer, Permission::Member, Permission::Admin], [false; 2]);
const NETWORKS: Levels = ([Permission::Viewer, Permission::Admin, Permission::Admin], [false, true]);
const SUBNETS: Levels = ([Permission::Viewer, Permission::Member, Permission::Member], [false; 2]);
const ORGANIZATIONS: Levels = ([Permission::Viewer, Permission::Owner, Permission::Owner], [true; 2]);

fn refused(result: Result<impl Sized, Error>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind().clone())
}

/// Returns the expected refusal of a caller with this level where `needed` is required.
fn expected(level: Permission, needed: Permission, lacks_session: bool) -> Option<ErrorKind> {
    match (lacks_session, level < needed) {
        (true, _) => Some(ErrorKind::SessionRequired),
        (false, true) => Some(ErrorKind::PermissionDenied),
        _ => None,
    }
}

/// Calls `check` with callers of every level, with a session and with a key.
async fn with_callers(fixture: &Fixture, check: impl AsyncFn(Caller, Permission, bool)) {
    for level in LEVELS {
        let person = fixture.caller(level, &[fixture.network]);
        let key = person.clone().through_key(id(9), level, [fixture.network]);
        check(person, level, false).await;
        check(key, level, true).await;
    }
}

async fn assert_levels<T: Resource + Creatable + Deletable>(
    fixture: &Fixture,
    ([read, create, change], [creation_needs_session, change_needs_session]): Levels,
    mut new: impl FnMut() -> T,
    existing: T::Id,
) {
    let mut drafts = (0..8).map(|_| new()).collect::<Vec<T>>();
    let drafts = std::cell::RefCell::new(&mut drafts);
    with_callers(fixture, async |caller, level, is_key| {
        let (inventory, lacks_session) = (&fixture.inventory, is_key && change_needs_session);
        assert_eq!(
            refused(inventory.records::<T>().get(&caller, existing).await),
            expected(level, read, false)
        );
        let updated = inventory.records::<T>().update(&caller, existing, |_| Ok(())).await;
        assert_eq!(refused(updated), expected(level, change, lacks_session), "{level}");
        let draft = drafts.borrow_mut().pop().unwrap();
        let created = inventory.records().create(&caller, draft).await;
        assert_eq!(refused(created), expected(level, create, is_key && creation_needs_session), "{level}");
        let deleted = inventory.records::<T>().delete(&caller, id(77)).await;
        let missing = Some(not_found(T::ENTITY, uuid(77)));
        assert_eq!(refused(deleted), expected(level, change, lacks_session).or(missing), "{level}");
    })
    .await;
}

#[test]
fn level_and_credential_decide_what_a_caller_may_do() {
    run(async || {
        let fixture = Fixture::new().await;
        let subnet = fixture.subnet("10.0.0.0/8").await;
        let mut number = 0;
        let mut name = || {
            number += 1;
            format!("new {number}")
        };
        assert_levels(&fixture, TAGS, || Tag::new(name()), fixture.tags[0]).await;
        assert_levels(&fixture, NETWORKS, || Network::new(name()), fixture.network).await;
        let mut third = 0;
        let new = || {
            third += 1;
            Subnet::new(fixture.network, "s", format!("192.168.{third}.0/24").parse().unwrap())
        };
        assert_levels(&fixture, SUBNETS, new, subnet.id).await;
        let ([read, _, change], _) = ORGANIZATIONS;
        with_callers(&fixture, async |caller, level, is_key| {
            let found = fixture.inventory.records::<Organization>().get(&caller, fixture.organization).await;
            assert_eq!(refused(found), expected(level, read, false));
            let rename = |organization: &mut Organization| {
                organization.name = format!("of {level}");
                Ok(())
            };
            let renamed = fixture.inventory.records().update(&caller, fixture.organization, rename).await;
            assert_eq!(refused(renamed), expected(level, change, is_key));
        })
        .await;
    });
}

#[test]
fn only_the_name_of_an_organization_changes() {
    run_with(Fixture::new, async |fixture| {
        let before = fixture.inventory.organizations().get(fixture.organization).await.unwrap();
        let now = time("2026-09-01T00:00:00Z");
        fixture.clock.set(now);
        let change = |organization: &mut Organization| {
            (organization.id, organization.api_access) = (id(1), false);
            organization.name = " Renamed ".to_owned();
            Ok(())
        };
        let owner = fixture.caller(Permission::Owner, &[]);
        let changed = fixture.inventory.records().update(&owner, fixture.organization, change).await.unwrap();
        assert_eq!(changed, Organization { name: "Renamed".to_owned(), updated_at: now, ..before });
        assert_eq!(fixture.inventory.organizations().all().await.unwrap(), [changed]);
    });
}

#[test]
fn networks_of_a_caller_are_those_granted_and_others_are_denied() {
    run_with(Fixture::with_foreign, async |(fixture, foreign)| {
        let viewer = fixture.caller(Permission::Viewer, &[fixture.network]);
        let inventory = &fixture.inventory;
        let network = async |id| inventory.networks().get(&viewer, id).await;
        assert_eq!(network(fixture.network).await.unwrap().id, fixture.network);
        assert_eq!(refusal(network(fixture.other_network).await), access_denied(fixture.other_network));
        for unknown in [foreign.network, id(5)] {
            assert_eq!(refusal(network(unknown).await), not_found(Entity::Network, unknown));
        }
        let created = inventory.records().create(&fixture.admin(), Network::new("third")).await.unwrap();
        assert_eq!(inventory.networks().get(&fixture.admin(), created.id).await.unwrap(), created);
        let member = fixture.caller(Permission::Member, &[fixture.other_network]);
        let subnet = fixture.subnet("10.0.0.0/8").await;
        assert_eq!(
            refusal(inventory.subnets().get(&member, subnet.id).await),
            access_denied(fixture.network)
        );
        let denied = inventory.subnets().delete(&member, subnet.id).await;
        assert_eq!(refusal(denied), access_denied(fixture.network));
    });
}

#[test]
fn server_sets_ids_and_times_whatever_is_sent() {
    run_with(Fixture::new, async |fixture| {
        let now = time("2026-09-01T00:00:00Z");
        fixture.clock.set(now);
        let mut sent = Subnet::new(fixture.network, "  servers ", "10.1.0.0/16".parse().unwrap());
        (sent.id, sent.organization_id) = (id(1), id(2));
        (sent.description, sent.subnet_type) = (Some("d".to_owned()), SubnetType::Dmz);
        (sent.tags, sent.source) = (vec![fixture.tags[1]; 2], Source::Manual);
        let created = fixture.inventory.records().create(&fixture.admin(), sent.clone()).await.unwrap();
        assert_ne!(created.id, sent.id);
        let expected = Subnet {
            id: created.id,
            organization_id: fixture.organization,
            name: "servers".to_owned(),
            tags: vec![fixture.tags[1]],
            created_at: now,
            updated_at: now,
            ..sent
        };
        assert_eq!(created, expected);
        let later = time("2026-09-02T00:00:00Z");
        fixture.clock.set(later);
        let keep = |_: &mut Subnet| Ok(());
        let kept = fixture.inventory.records().update(&fixture.admin(), created.id, keep).await.unwrap();
        assert_eq!(kept, expected, "an update without a change moves no time");
        let change = |subnet: &mut Subnet| {
            (subnet.id, subnet.organization_id, subnet.created_at) = (id(1), id(2), later);
            subnet.tags.clear();
            Ok(())
        };
        let changed = fixture.inventory.records().update(&fixture.admin(), created.id, change).await.unwrap();
        assert_eq!(changed, Subnet { tags: vec![], updated_at: later, ..expected });
        assert_eq!(fixture.inventory.subnets().get(&fixture.admin(), created.id).await.unwrap(), changed);
    });
}

#[test]
fn unacceptable_values_are_refused_and_nothing_is_stored() {
    run_with(Fixture::with_foreign, async |(fixture, foreign)| {
        let admin = fixture.admin();
        let nested = (0..70).fold(json!(1), |value, _| json!([value]));
        let metadata = vec![serde_json::from_value(json!({"a": nested})).unwrap()];
        let [first, _] = fixture.tags;
        let subnet = || Subnet::new(fixture.network, "s", "10.0.0.0/8".parse().unwrap());
        let drafts = [
            (Subnet { name: " ".to_owned(), ..subnet() }, invalid("name", Problem::Empty)),
            (Subnet { name: "n".repeat(101), ..subnet() }, invalid("name", Problem::MaxLength { max: 100 })),
            (
                Subnet { description: Some("é".repeat(501)), ..subnet() },
                invalid("description", Problem::MaxLength { max: 500 }),
            ),
            (
                Subnet { tags: vec![first, first, foreign.tag], ..subnet() },
                reference_invalid(Entity::Tag, "tags.2"),
            ),
            (
                Subnet { network_id: foreign.network, ..subnet() },
                reference_invalid(Entity::Network, "network_id"),
            ),
            (
                Subnet { source: Source::Discovery { metadata }, ..subnet() },
                invalid("source.metadata", Problem::InvalidFormat),
            ),
        ];
        let existing = fixture.subnet("10.9.0.0/16").await;
        for (draft, problem) in drafts {
            let created = fixture.inventory.records().create(&admin, draft.clone());
            assert_eq!(fixture.refusal(created).await, problem);
            let replace = |subnet: &mut Subnet| {
                *subnet = draft.clone();
                Ok(())
            };
            let updated = fixture.inventory.records().update(&admin, existing.id, replace);
            let is_moved = draft.network_id != existing.network_id;
            let moved = ErrorKind::NetworkMismatch { entity: Entity::Subnet };
            assert_eq!(fixture.refusal(updated).await, if is_moved { moved } else { problem });
        }
        let mut network = Network::new("tagged");
        network.tags = vec![foreign.tag];
        let created = fixture.inventory.records().create(&admin, network);
        assert_eq!(fixture.refusal(created).await, reference_invalid(Entity::Tag, "tags.0"));
        let member = fixture.caller(Permission::Member, &[fixture.other_network]);
        let created = fixture.inventory.records().create(&member, subnet());
        assert_eq!(fixture.refusal(created).await, access_denied(fixture.network));
    });
}

async fn rename<T: Resource>(
    inventory: &Inventory,
    caller: &Caller,
    id: T::Id,
    rename: impl Fn(&mut T) + Send + Sync,
) -> Result<T, Error> {
    let change = |record: &mut T| {
        rename(record);
        Ok(())
    };
    inventory.records().update(caller, id, change).await
}

#[test]
fn name_or_address_of_another_record_is_refused() {
    run_with(Fixture::new, async |fixture| {
        let (inventory, admin) = (&fixture.inventory, fixture.admin());
        let tag = |name: &'static str| {
            rename(inventory, &admin, fixture.tags[0], move |tag: &mut Tag| tag.name = name.to_owned())
        };
        assert_eq!(fixture.refusal(tag("SECOND")).await, already_exists(Entity::Tag, "SECOND"));
        assert_eq!(tag("FIRST").await.unwrap().name, "FIRST", "a record may change the case of its own name");
        let network = rename(inventory, &admin, fixture.network, |network: &mut Network| {
            network.name = "laboratory".to_owned();
        });
        assert_eq!(fixture.refusal(network).await, already_exists(Entity::Network, "laboratory"));
        let subnet = |network, cidr: &str| Subnet::new(network, "s", cidr.parse().unwrap());
        for cidr in ["10.0.0.0/8", "10.0.0.0/9", "::/0", "0.0.0.0/0"] {
            inventory.records().create(&admin, subnet(fixture.network, cidr)).await.unwrap();
            inventory.records().create(&admin, subnet(fixture.other_network, cidr)).await.unwrap();
            let again = inventory.records().create(&admin, subnet(fixture.network, cidr));
            assert_eq!(fixture.refusal(again).await, already_exists(Entity::Subnet, cidr));
        }
        let other = inventory.records().create(&admin, subnet(fixture.network, "10.0.0.0/10")).await.unwrap();
        let moved =
            rename(inventory, &admin, other.id, |subnet: &mut Subnet| subnet.cidr = "::/0".parse().unwrap());
        assert_eq!(fixture.refusal(moved).await, already_exists(Entity::Subnet, "::/0"));
    });
}

#[test]
fn network_is_found_by_its_name_when_an_application_starts() {
    run_with(Fixture::new, async |fixture| {
        let bootstrap =
            |name| toposcope::inventory::Bootstrap::new("Started", "me@example.net").network(name);
        let first = fixture.inventory.bootstrap(bootstrap("Office")).await.unwrap();
        fixture
            .inventory
            .networks()
            .delete(&Caller::system(first.network.organization_id), first.network.id)
            .await
            .unwrap();
        let again = fixture
            .inventory
            .networks()
            .create(&Caller::system(first.organization.id), Network::new("office"))
            .await
            .unwrap();
        let later = fixture.inventory.bootstrap(bootstrap("Office")).await.unwrap();
        assert_eq!(later.network, again);
        let key = fixture
            .inventory
            .user_api_keys()
            .get(&Caller::system(first.organization.id), first.key_id)
            .await
            .unwrap();
        assert_eq!(key.network_ids, [again.id]);
    });
}

#[test]
fn names_that_differ_only_in_case_are_the_same_name() {
    run(async || {
        let fixture = Fixture::new().await;
        let admin = fixture.caller(Permission::Admin, &[]).through_session();
        let inventory = &fixture.inventory;
        for (first, second) in [
            ("ΟΔΟΣ", "οδοσ"),
            ("\u{b5}", "\u{39c}"),
            ("\u{17f}", "S"),
            ("STRAẞE", "straße"),
            ("Büro", "BÜRO"),
        ] {
            inventory.records().create(&admin, Tag::new(first)).await.unwrap();
            let taken = inventory.records().create(&admin, Tag::new(second)).await;
            assert_eq!(refusal(taken), already_exists(Entity::Tag, second));
            inventory.records().create(&admin, Network::new(first)).await.unwrap();
            let taken = inventory.records().create(&admin, Network::new(second)).await;
            assert_eq!(refusal(taken), already_exists(Entity::Network, second));
        }
        for name in ["ΟΔΟΙ", "e", "é"] {
            inventory.records().create(&admin, Tag::new(name)).await.unwrap();
        }
    });
}
