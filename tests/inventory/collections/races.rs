//! Concurrent changes, deletions and uses of the same records.

use toposcope::access::Caller;
use toposcope::inventory::{Entity, ErrorKind};
use toposcope::model::{Network, Subnet, Tag};

use crate::backend::{run, run_on_threads};
use crate::support::{Fixture, at_every_call, bare_host, concurrently, id, not_found, refusal, service};

#[test]
fn tag_that_many_tasks_rename_use_and_delete_is_left_nowhere() {
    run_on_threads(async || {
        let fixture = Fixture::new().await;
        let tag = fixture.tags[0];
        let owner = fixture.owner().await;
        let key = fixture.user_key(&owner, |_| {}).await.record().clone();
        let outcomes = concurrently(&fixture, 64, move |fixture, number| {
            let key = key.clone();
            async move {
                let (inventory, admin) = (&fixture.inventory, fixture.admin());
                let rename = move |tag: &mut Tag| {
                    tag.name = format!("tag {number}");
                    Ok(())
                };
                let use_it = move |network: &mut Network| {
                    network.tags = vec![tag];
                    Ok(())
                };
                let host = id(u128::from(number % 16) + 1);
                let outcome = match number % 8 {
                    0 => inventory.records().update(&admin, tag, rename).await.map(drop),
                    1 => inventory.records().update(&admin, fixture.network, use_it).await.map(drop),
                    2 | 3 => {
                        let mut host = bare_host(host, fixture.network);
                        host.tags = vec![tag];
                        fixture.try_put(host).await.map(drop)
                    }
                    4 => {
                        let mut host = bare_host(host, fixture.network);
                        let mut tagged = service(&host, id(0x100 + u128::from(number)), "dns", 0);
                        tagged.tags = vec![tag];
                        host.services = vec![tagged];
                        fixture.try_put(host).await.map(drop)
                    }
                    5 => inventory.user_api_keys().disable(&Caller::system(key.organization_id), key.id).await.map(drop),
                    6 => {
                        let cidr = format!("10.{number}.0.0/16").parse().unwrap();
                        let mut subnet = Subnet::new(fixture.network, "s", cidr);
                        subnet.tags = vec![tag];
                        inventory.records().create(&admin, subnet).await.map(drop)
                    }
                    _ if number < 32 => return None,
                    _ => {
                        let deleted = inventory.tags().delete(&admin, tag).await;
                        return Some(deleted.map_err(|error| error.kind().clone()));
                    }
                };
                if let Err(error) = outcome {
                    let is_gone = |entity: &Entity| *entity == Entity::Tag;
                    assert!(
                        matches!(error.kind(), ErrorKind::ReferenceInvalid { entity, .. } | ErrorKind::NotFound { entity, .. } if is_gone(entity)),
                        "{error}"
                    );
                }
                None
            }
        })
        .await;
        let deletions: Vec<_> = outcomes.into_iter().flatten().collect();
        assert!(deletions.iter().any(Result::is_ok));
        let missing = not_found(Entity::Tag, tag);
        assert!(
            deletions.iter().all(|deleted| deleted.as_ref().map_or_else(|kind| *kind == missing, |()| true))
        );
        assert_eq!(fixture.mentioning(tag).await, []);
    });
}

#[test]
fn name_is_given_once_to_concurrent_creations() {
    run_on_threads(async || {
        let fixture = Fixture::new().await;
        let created = concurrently(&fixture, 16, |fixture, number| async move {
            let name = if number.is_multiple_of(2) { "shared" } else { "SHARED" };
            let network = fixture.inventory.records().create(&fixture.admin(), Network::new(name)).await;
            network.map(drop).map_err(|error| error.kind().clone())
        });
        let (created, refused): (Vec<_>, Vec<_>) = created.await.into_iter().partition(Result::is_ok);
        assert_eq!((created.len(), refused.len()), (1, 15));
        let is_taken = |result: &Result<(), ErrorKind>| {
            matches!(result, Err(ErrorKind::AlreadyExists { entity: Entity::Network, .. }))
        };
        assert!(refused.iter().all(is_taken));
    });
}

#[test]
fn subnet_created_while_its_network_is_deleted_keeps_the_network_or_is_refused() {
    run(async || {
        for deletes_first in [true, false] {
            at_every_call(
                async |fixture: &Fixture| (fixture.admin(), fixture.network),
                async |inventory, (admin, network)| {
                    if deletes_first {
                        inventory.networks().delete(admin, *network).await
                    } else {
                        let subnet = Subnet::new(*network, "s", "10.0.0.0/8".parse().unwrap());
                        inventory.records().create(admin, subnet).await.map(drop)
                    }
                },
                async |inventory, (admin, network)| {
                    if deletes_first {
                        let subnet = Subnet::new(*network, "s", "10.0.0.0/8".parse().unwrap());
                        inventory.records().create(admin, subnet).await.map(drop)
                    } else {
                        inventory.networks().delete(admin, *network).await
                    }
                },
                async |fixture, (_, network), result| {
                    if deletes_first && result.is_ok() {
                        // The deletion came after the commit, while interfaces were assigned to the subnet.
                        assert!(fixture.inventory.networks().get(&fixture.system(), *network).await.is_ok());
                        return;
                    }
                    let kind = refusal(result);
                    let is_expected = match kind {
                        ErrorKind::ReferenceInvalid { entity, .. } => {
                            deletes_first && entity == Entity::Network
                        }
                        ErrorKind::InUse { used_by, .. } => !deletes_first && used_by == Entity::Subnet,
                        _ => false,
                    };
                    assert!(is_expected, "{kind:?}");
                    let exists = fixture.inventory.networks().get(&fixture.system(), *network).await.is_ok();
                    assert_eq!(exists, !deletes_first);
                    assert!(exists || fixture.mentioning(*network).await.is_empty());
                },
            )
            .await;
        }
    });
}
