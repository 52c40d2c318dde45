//! Deletion of networks, subnets and tags, in one commit or in several.

use toposcope::access::Caller;
use toposcope::inventory::{
    Deletable, Entity, ErrorKind, Inventory, NewDaemonApiKey, NewShare, NewUserApiKey,
};
use toposcope::inventory::{Problem, Resource};
use toposcope::model::{
    DaemonApiKeyId, Host, HostId, Network, Permission, Subnet, SubnetId, Tag, UserApiKeyId,
};
use toposcope::store::{Batch, Key, Link, Name, Precondition, Store};

use crate::backend::{run, run_with};
use crate::support::{
    Fault, Fixture, bare_host, guest_of, id, interface, invalid, not_found, refusal, service, time, uuid,
};

/// Records of every kind that have the first tag and refer to a subnet.
struct Tagged {
    subnet: Subnet,
    user_key: UserApiKeyId,
    daemon_key: DaemonApiKeyId,
}

/// The number of hosts with the tag. One commit cannot rewrite all of them.
const HOSTS: u128 = 20;

impl Tagged {
    async fn new(fixture: &Fixture) -> Self {
        let inventory = &fixture.inventory;
        let subnet = fixture.subnet("10.0.0.0/8").await;
        let set_tags = |subnet: &mut Subnet| {
            subnet.tags = fixture.tags.to_vec();
            Ok(())
        };
        let subnet = inventory.records().update(&fixture.admin(), subnet.id, set_tags).await.unwrap();
        let set_tags = |network: &mut Network| {
            network.tags = fixture.tags.to_vec();
            Ok(())
        };
        inventory.records().update(&fixture.admin(), fixture.network, set_tags).await.unwrap();
        for number in 1..=HOSTS {
            fixture.put(&tagged_host(fixture, number, subnet.id)).await;
        }
        let owner = fixture.owner().await;
        let mut new = NewUserApiKey::new(owner.id, "key", Permission::Viewer);
        new.tags = fixture.tags.to_vec();
        let user_key = inventory
            .user_api_keys()
            .create(&Caller::system(owner.organization_id), new)
            .await
            .unwrap()
            .record()
            .id;
        let mut new = NewDaemonApiKey::new(fixture.network, "scanner");
        new.tags = fixture.tags.to_vec();
        let daemon_key =
            inventory.daemon_api_keys().create(&fixture.system(), new).await.unwrap().record().id;
        Self { subnet, user_key, daemon_key }
    }

    /// Asserts that no record mentions the first tag. All must still have the second one.
    async fn assert_without_first_tag(&self, fixture: &Fixture) {
        let (inventory, admin, [first, second]) = (&fixture.inventory, fixture.admin(), fixture.tags);
        assert_eq!(fixture.mentioning(first).await, []);
        assert_eq!(
            inventory.networks().get(&fixture.system(), fixture.network).await.unwrap().tags,
            [second]
        );
        assert_eq!(inventory.subnets().get(&admin, self.subnet.id).await.unwrap().tags, [second]);
        assert_eq!(
            inventory.user_api_keys().get(&fixture.system(), self.user_key).await.unwrap().tags,
            [second]
        );
        assert_eq!(
            inventory.daemon_api_keys().get(&fixture.system(), self.daemon_key).await.unwrap().tags,
            [second]
        );
    }
}

/// Returns a host that refers to the subnet and is virtualized by another host. Either the host itself or its service
/// has the tags.
fn tagged_host(fixture: &Fixture, number: u128, subnet: SubnetId) -> Host {
    let mut host = bare_host(id(number), fixture.network);
    let mut own = service(&host, id(0x1000 + number), &format!("service {number}"), 0);
    if number.is_multiple_of(2) {
        own.tags = fixture.tags.to_vec();
    } else {
        host.tags = fixture.tags.to_vec();
    }
    host.services = vec![own];
    host.interfaces = vec![interface(&host, id(0x2000 + number), "10.0.0.1", 0)];
    host.interfaces[0].subnet_id = Some(subnet);
    guest_of(&mut host, id(0x1000 + number % HOSTS + 1));
    host
}

#[test]
fn deleted_tag_is_removed_from_every_record_that_has_it() {
    run_with(Fixture::new, async |fixture| {
        let tagged = Tagged::new(&fixture).await;
        let (inventory, [first, second]) = (&fixture.inventory, fixture.tags);
        let before: Vec<Host> = hosts(&fixture).await;
        let now = time("2026-09-01T00:00:00Z");
        fixture.clock.set(now);
        inventory.tags().delete(&fixture.admin(), first).await.unwrap();
        tagged.assert_without_first_tag(&fixture).await;
        for (mut expected, found) in before.into_iter().zip(hosts(&fixture).await) {
            expected.updated_at = now;
            expected.tags.retain(|id| *id == second);
            for service in expected.services.iter_mut().filter(|service| !service.tags.is_empty()) {
                (service.tags, service.updated_at) = (vec![second], now);
            }
            assert_eq!(found, expected);
        }
        assert_eq!(
            inventory.networks().get(&fixture.system(), fixture.network).await.unwrap().updated_at,
            now
        );
        let again = inventory.tags().delete(&fixture.admin(), first).await;
        assert_eq!(refusal(again), not_found(Entity::Tag, first));
    });
}

#[test]
fn deleted_tag_is_removed_from_a_thousand_records_at_a_time() {
    run_with(Fixture::new, async |fixture| {
        const SUBNETS: usize = 1_001;
        let [tag, other] = fixture.tags;
        let mut template = fixture.subnet("10.0.0.0/8").await;
        template.tags = vec![tag, other];
        let stored =
            fixture.contents().await.into_iter().find(|stored| stored.record.key.id == template.id.uuid());
        let stored = stored.unwrap();
        let mut batch = Batch::new();
        for number in 0..SUBNETS {
            let cidr = format!("10.{}.{}.0/24", number / 256, number % 256).parse().unwrap();
            let subnet = Subnet { id: id(0x5000 + number as u128), cidr, ..template.clone() };
            let links = fixture.tags.map(|tag| Link::new(Name::new("tag"), tag.uuid()));
            let mut facets = stored.facets.clone();
            (facets.links, facets.unique_keys) = (links.into(), Vec::new());
            let key = Key::new(stored.record.key.kind, subnet.id.uuid());
            batch.put(key, Precondition::Absent, facets, serde_json::to_vec(&subnet).unwrap());
        }
        fixture.store.commit(batch).await.unwrap();
        let commits = fixture.commits();
        fixture.inventory.tags().delete(&fixture.admin(), tag).await.unwrap();
        assert_eq!(fixture.mentioning(tag).await, []);
        let sizes = fixture.store.hook().sizes_of_commits();
        let sizes = &sizes[commits..];
        // Beside a thousand records, a commit has the records of its changes.
        assert!(sizes.iter().all(|size| *size <= 1_010), "{sizes:?}");
        assert!(sizes.iter().sum::<usize>() >= SUBNETS && sizes.len() <= 6, "{sizes:?}");
    });
}

async fn hosts(fixture: &Fixture) -> Vec<Host> {
    let documents = fixture.documents().await;
    documents.iter().map(|document| serde_json::from_slice(document).unwrap()).collect()
}

#[test]
fn rewritten_hosts_keep_their_order_by_virtualizing_service() {
    run_with(Fixture::new, async |fixture| {
        Tagged::new(&fixture).await;
        let mut query = toposcope::inventory::HostQuery::default();
        query.order_by = Some(toposcope::model::HostOrderField::VirtualizedBy);
        let before = fixture.list(&query).await.documents.len();
        let order = async |fixture: &Fixture| -> Vec<HostId> {
            let page = fixture.list(&query).await;
            page.documents.iter().map(|text| serde_json::from_slice::<Host>(text).unwrap().id).collect()
        };
        let ids = order(&fixture).await;
        fixture.inventory.tags().delete(&fixture.system(), fixture.tags[0]).await.unwrap();
        assert_eq!((order(&fixture).await, before), (ids, HOSTS as usize));
    });
}

#[test]
fn deleted_subnet_is_cleared_from_the_interfaces_that_name_it() {
    run_with(Fixture::new, async |fixture| {
        let tagged = Tagged::new(&fixture).await;
        let mut other = tagged_host(&fixture, HOSTS + 1, id(0xfff));
        other.virtualization = None;
        fixture.put(&other).await;
        let now = time("2026-09-01T00:00:00Z");
        fixture.clock.set(now);
        let member = fixture.caller(Permission::Member, &[fixture.network]);
        fixture.inventory.subnets().delete(&member, tagged.subnet.id).await.unwrap();
        assert_eq!(fixture.mentioning(tagged.subnet.id).await, []);
        for host in hosts(&fixture).await {
            let expected =
                if host.id == other.id { (Some(id(0xfff)), other.updated_at) } else { (None, now) };
            assert_eq!((host.interfaces[0].subnet_id, host.updated_at), expected);
        }
        // A subnet without a record may be named at any time.
        fixture.put(&tagged_host(&fixture, 1, tagged.subnet.id)).await;
        let again = fixture.inventory.subnets().delete(&member, tagged.subnet.id).await;
        assert_eq!(refusal(again), not_found(Entity::Subnet, tagged.subnet.id));
    });
}

/// Drops a deletion at each of its commits in turn. Each time it repeats the deletion and checks the result.
async fn interrupt_at_every_commit<T: Resource + Deletable>(
    id: impl Fn(&Fixture, &Tagged) -> T::Id,
    check: impl AsyncFn(&Fixture, &Tagged),
) {
    for commits in 0.. {
        let fixture = Fixture::new().await;
        let tagged = Tagged::new(&fixture).await;
        let id = id(&fixture, &tagged);
        let (inventory, probe) = fixture.probed();
        probe.set(Fault::UnavailableAfterCommits(commits));
        let admin = fixture.admin();
        let delete = async |inventory: &Inventory| inventory.records::<T>().delete(&admin, id).await;
        let interrupted = delete(&inventory).await;
        if interrupted.is_ok() {
            assert!(commits > 2, "the deletion takes several commits");
            return check(&fixture, &tagged).await;
        }
        if commits > 0 {
            let hidden = fixture.inventory.records::<T>().get(&admin, id).await.map(drop);
            assert_eq!(refusal(hidden), not_found(T::ENTITY, id));
        }
        delete(&fixture.inventory).await.unwrap();
        check(&fixture, &tagged).await;
        assert_eq!(refusal(delete(&fixture.inventory).await), not_found(T::ENTITY, id));
    }
}

#[test]
fn repeated_deletion_completes_one_that_was_interrupted() {
    run(async || {
        interrupt_at_every_commit::<Tag>(
            |fixture, _| fixture.tags[0],
            async |fixture, tagged| tagged.assert_without_first_tag(fixture).await,
        )
        .await;
        interrupt_at_every_commit::<Subnet>(
            |_, tagged| tagged.subnet.id,
            async |fixture, tagged| assert_eq!(fixture.mentioning(tagged.subnet.id).await, []),
        )
        .await;
    });
}

#[test]
fn interrupted_deletion_frees_the_name_refuses_new_uses_and_lets_other_changes_pass() {
    run_with(Fixture::new, async |fixture| {
        let tagged = Tagged::new(&fixture).await;
        let (inventory, admin, [first, second]) = (&fixture.inventory, fixture.admin(), fixture.tags);
        let (failing, probe) = fixture.probed();
        probe.set(Fault::UnavailableAfterCommits(1));
        assert_eq!(
            refusal(failing.tags().delete(&fixture.system(), first).await),
            ErrorKind::StoreUnavailable
        );
        let again = inventory.tags().create(&fixture.system(), Tag::new("first")).await.unwrap();
        let mut host = bare_host(id(0x99), fixture.network);
        host.tags = vec![first];
        refusal(fixture.try_put(host).await);
        let rename = |subnet: &mut Subnet| {
            subnet.name = "renamed".to_owned();
            Ok(())
        };
        inventory.records().update(&admin, tagged.subnet.id, rename).await.unwrap();
        inventory.user_api_keys().disable(&fixture.system(), tagged.user_key).await.unwrap();
        for number in [1, 2] {
            let hide = |host: &mut Host| {
                host.hidden = true;
                Ok(())
            };
            inventory.hosts().update(&admin, id(number), hide).await.unwrap();
        }
        // Two deletions that are not complete do not hinder each other.
        probe.set(Fault::UnavailableAfterCommits(1));
        let both = failing.tags().delete_many(&admin, &[first, second]).await;
        assert_eq!(refusal(both), ErrorKind::StoreUnavailable);
        assert_eq!(inventory.tags().all(&fixture.system()).await.unwrap(), [again]);
        assert_eq!(inventory.tags().delete_many(&admin, &[first, second, first]).await.unwrap(), 2);
        for tag in [first, second] {
            assert_eq!(fixture.mentioning(tag).await, []);
        }
    });
}

#[test]
fn bulk_deletion_skips_what_the_caller_does_not_see() {
    run_with(Fixture::with_foreign, async |(fixture, foreign)| {
        let (inventory, admin) = (&fixture.inventory, fixture.admin());
        let tagged = Tagged::new(&fixture).await;
        let ids = [fixture.tags[0], foreign.tag, id(7), fixture.tags[0], fixture.network.uuid().into()];
        let member = fixture.caller(Permission::Member, &[fixture.other_network]);
        let refused = inventory.tags().delete_many(&member, &ids);
        assert_eq!(fixture.refusal(refused).await, ErrorKind::PermissionDenied);
        for (count, problem) in [(0, Problem::Empty), (1_001, Problem::MaxLength { max: 1_000 })] {
            let refused = inventory.tags().delete_many(&admin, &vec![id(7); count]).await;
            assert_eq!(refusal(refused), invalid("ids", problem));
        }
        assert_eq!(inventory.tags().delete_many(&admin, &ids).await.unwrap(), 1);
        tagged.assert_without_first_tag(&fixture).await;
        inventory.tags().get(&foreign.system(), foreign.tag).await.unwrap();
        assert_eq!(inventory.tags().delete_many(&admin, &ids).await.unwrap(), 0);
        let subnets = [tagged.subnet.id];
        assert_eq!(inventory.subnets().delete_many(&member, &subnets).await.unwrap(), 0);
        assert_eq!(inventory.subnets().delete_many(&admin, &subnets).await.unwrap(), 1);
        assert_eq!(fixture.mentioning(tagged.subnet.id).await, []);
    });
}

#[test]
fn network_is_deleted_with_its_grants_once_nothing_is_on_it() {
    run(async || {
        for used_by in [Entity::Host, Entity::Subnet, Entity::DaemonApiKey, Entity::Share] {
            let fixture = Fixture::new().await;
            let (inventory, network) = (&fixture.inventory, fixture.network);
            let user =
                fixture.user("a@example.net", Permission::Viewer, &[network, fixture.other_network]).await;
            let key = fixture.user_key(&user, |new| new.network_ids = vec![network]).await;
            let release = match used_by {
                Entity::Host => {
                    fixture.put(&bare_host(id(1), network)).await;
                    uuid(1)
                }
                Entity::Subnet => fixture.subnet("10.0.0.0/8").await.id.into(),
                Entity::DaemonApiKey => fixture.daemon_key(|_| {}).await.record().id.into(),
                _ => {
                    let mut new = NewShare::new("share");
                    new.network_id = Some(network);
                    inventory.shares().create(&fixture.system(), new).await.unwrap().id.into()
                }
            };
            let delete = async || inventory.networks().delete(&fixture.admin(), network).await;
            let in_use = ErrorKind::InUse { entity: Entity::Network, name: "Office".to_owned(), used_by };
            assert_eq!(fixture.refusal(delete()).await, in_use);
            assert_eq!(
                fixture.refusal(inventory.networks().delete(&fixture.system(), network)).await,
                in_use
            );
            match used_by {
                Entity::Host => fixture.delete(release.into()).await.unwrap(),
                Entity::Subnet => {
                    inventory.subnets().delete(&fixture.admin(), release.into()).await.unwrap();
                }
                Entity::DaemonApiKey => {
                    inventory.daemon_api_keys().delete(&fixture.system(), release.into()).await.unwrap();
                }
                _ => inventory.shares().delete(&fixture.system(), release.into()).await.unwrap(),
            }
            delete().await.unwrap();
            assert_eq!(fixture.mentioning(network).await, []);
            assert_eq!(
                inventory
                    .users()
                    .get(&Caller::system(user.organization_id), user.id)
                    .await
                    .unwrap()
                    .network_ids,
                [fixture.other_network]
            );
            assert!(
                inventory
                    .user_api_keys()
                    .get(&Caller::system(key.record().organization_id), key.record().id)
                    .await
                    .unwrap()
                    .network_ids
                    .is_empty()
            );
            assert_eq!(refusal(delete().await), not_found(Entity::Network, network));
        }
    });
}

#[test]
fn deletion_ends_with_the_error_of_its_check() {
    run_with(Fixture::new, async |fixture| {
        let refuse = |tag: &Tag| Err(ErrorKind::NotFound { entity: Entity::Tag, id: tag.id.uuid() }.into());
        let admin = fixture.admin();
        let checked = fixture.inventory.tags().delete_if(&admin, fixture.tags[0], refuse);
        assert_eq!(fixture.refusal(checked).await, not_found(Entity::Tag, fixture.tags[0]));
    });
}
