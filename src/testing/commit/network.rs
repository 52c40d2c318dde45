use uuid::Uuid;

use crate::store::{Batch, Facets, Guard, Key, Link, Precondition, StoreErrorKind};
use crate::testing::{Bench, OWNER, Outcome, check, delete, linked, of, put, same};

crate::testing::table! { of "commit":
    "Every record of the organization on this network before the batch, of whatever kind, is put or deleted by \
     the batch" =>
        a_network_of_nobody_is_empty_for_any_batch,
        a_network_is_empty_for_a_batch_that_writes_all_who_are_there,
        a_record_on_the_network_outside_the_batch_is_refused,
        one_record_among_many_on_the_network_is_refused,
        a_record_of_any_kind_on_the_network_counts,
        a_record_on_another_network_does_not_count,
        a_record_that_left_the_network_does_not_count,
        a_record_that_the_batch_brings_to_the_network_does_not_count;
    "Whose records; `None`: all" =>
        a_record_of_another_organization_on_the_network_does_not_count,
        a_record_of_every_organization_on_the_network_counts_for_all;
    "`NetworkInUse` and the network" =>
        the_error_names_the_network_that_is_in_use;
}

async fn a_network_of_nobody_is_empty_for_any_batch(mut bench: Bench) -> Outcome {
    let ([organization, network], key) = (bench.ids(), bench.key());
    let empty = |mut batch: Batch| {
        batch.guard(Guard::NetworkEmpty { organization: Some(organization), network });
        with_empty(batch, network)
    };
    bench.store.commit(empty(Batch::new())).await?;
    bench.store.commit(empty(put(key, Precondition::Absent, of(Some(organization), None)))).await?;
    bench.store.commit(empty(delete(key, Precondition::Present))).await?;
    same("the record written under the checks", &bench.read(key).await?, &None)
}

/// Whether those who are put stay on the network or not: being written is enough.
async fn a_network_is_empty_for_a_batch_that_writes_all_who_are_there(mut bench: Bench) -> Outcome {
    let ([network, elsewhere], [leaving, moving, staying, deleted]) = (bench.ids(), bench.keys());
    for key in [leaving, moving, staying, deleted] {
        bench.put(key, on(network), "on the network").await?;
    }
    let mut batch = put(leaving, Precondition::Present, Facets::default());
    batch.put(moving, Precondition::Present, on(elsewhere), "moves away");
    batch.put(staying, Precondition::Present, on(network), "stays").delete(deleted, Precondition::Present);
    bench.store.commit(with_empty(batch, network)).await?;
    let left = with_empty(delete(staying, Precondition::Present), network);
    bench.store.commit(left).await?;
    let answers = bench.store.get(&[staying, deleted]).await?;
    same("the records that were deleted", &answers, &[None, None])
}

async fn a_record_on_the_network_outside_the_batch_is_refused(mut bench: Bench) -> Outcome {
    let (network, [least, middle, new]) = (bench.random.uuid(), bench.keys());
    bench.put(least, on(network), "on the network").await?;
    bench.put(middle, on(network), "there too").await?;
    for (inside, outside) in [(least, middle), (middle, least)] {
        for batch in [
            put(inside, Precondition::Present, Facets::default()),
            delete(inside, Precondition::Present),
            put(new, Precondition::Absent, Facets::default()),
            Batch::new(),
        ] {
            let what = format!("a batch of {} writes, and {outside} outside", batch.writes().len());
            let batch = with_empty(batch, network);
            bench.refuses(&what, batch, StoreErrorKind::NetworkInUse(network)).await?;
        }
        let mut checked = delete(inside, Precondition::Present);
        checked.guard(Guard::Record { key: outside, precondition: Precondition::Present });
        let what = "a record that the batch guards but does not write";
        let batch = with_empty(checked, network);
        bench.refuses(what, batch, StoreErrorKind::NetworkInUse(network)).await?;
    }
    Ok(())
}

async fn one_record_among_many_on_the_network_is_refused(mut bench: Bench) -> Outcome {
    const RECORDS: usize = 2000;
    let network = bench.random.uuid();
    let mut keys: Vec<Key> = (0..RECORDS).map(|_| bench.key()).collect();
    keys.sort_unstable();
    let mut fill = Batch::new();
    for key in &keys {
        fill.put(*key, Precondition::Absent, on(network), "on the network");
    }
    bench.store.commit(fill).await?;
    let clear_all_but = |outside: Option<&Key>| {
        let mut batch = Batch::new();
        for key in keys.iter().filter(|key| Some(*key) != outside) {
            batch.delete(*key, Precondition::Present);
        }
        with_empty(batch, network)
    };
    for outside in keys.iter().step_by(RECORDS / 4).chain(keys.last()) {
        let batch = clear_all_but(Some(outside));
        bench.refuses("all but one", batch, StoreErrorKind::NetworkInUse(network)).await?;
    }
    bench.store.commit(clear_all_but(None)).await?;
    bench.store.commit(with_empty(Batch::new(), network)).await.map_err(Into::into)
}

async fn a_record_of_any_kind_on_the_network_counts(mut bench: Bench) -> Outcome {
    let (network, key) = (bench.random.uuid(), bench.key());
    let namesake = Key::new(bench.other_kind, key.id);
    bench.put(key, on(network), "on the network").await?;
    bench.put(namesake, on(network), "there too").await?;
    for (inside, outside) in [(key, namesake), (namesake, key)] {
        let batch = with_empty(delete(inside, Precondition::Present), network);
        let what = format!("one of two kinds, and {outside} outside");
        bench.refuses(&what, batch, StoreErrorKind::NetworkInUse(network)).await?;
    }
    let mut both = delete(key, Precondition::Present);
    both.delete(namesake, Precondition::Present);
    bench.store.commit(with_empty(both, network)).await?;
    bench.store.commit(with_empty(Batch::new(), network)).await.map_err(Into::into)
}

/// Nor one that has the network's id for its own, for its organization's or for a link's target.
async fn a_record_on_another_network_does_not_count(mut bench: Bench) -> Outcome {
    let ([network, organization], [of_that_id, referring]) = (bench.ids(), bench.keys());
    let [before, behind] = [u128::MAX, 1].map(|step| Uuid::from_u128(network.as_u128().wrapping_add(step)));
    for other in [before, behind] {
        for of_whom in [None, Some(Uuid::nil()), Some(organization), Some(Uuid::max())] {
            let key = bench.key();
            bench.put(key, of(of_whom, Some(other)), "on another network").await?;
        }
    }
    bench.put(Key::new(bench.kind, network), of(Some(organization), None), "the network itself").await?;
    bench.put(of_that_id, of(Some(network), None), "of an organization of that id").await?;
    bench.put(referring, linked(&[Link::new(OWNER, network)]), "refers to the network").await?;
    for organization in [None, Some(organization), Some(network)] {
        bench.store.commit(check(Guard::NetworkEmpty { organization, network })).await?;
    }
    for network in [before, behind] {
        let batch = with_empty(Batch::new(), network);
        bench.refuses("a network where they are", batch, StoreErrorKind::NetworkInUse(network)).await?;
    }
    Ok(())
}

async fn a_record_that_left_the_network_does_not_count(mut bench: Bench) -> Outcome {
    let ([network, elsewhere], time) = (bench.ids(), bench.antiquity());
    let [moved, released, deleted, purged] = bench.keys();
    for key in [moved, released, deleted] {
        bench.put(key, on(network), "on the network").await?;
    }
    bench.put(purged, Facets { expires_at: Some(time), ..on(network) }, "there for a time").await?;
    bench.put(moved, on(elsewhere), "on another network").await?;
    bench.put(released, Facets::default(), "on no network").await?;
    bench.delete(deleted).await?;
    let batch = with_empty(Batch::new(), network);
    let in_use = StoreErrorKind::NetworkInUse(network);
    bench.refuses("one has expired, but is there", batch.clone(), in_use.clone()).await?;
    bench.store.purge_expired(time).await?;
    bench.store.commit(batch.clone()).await?;
    bench.put(moved, on(network), "back again").await?;
    bench.refuses("one has come back", batch, in_use).await
}

async fn a_record_that_the_batch_brings_to_the_network_does_not_count(mut bench: Bench) -> Outcome {
    let (network, [new, moving]) = (bench.random.uuid(), bench.keys());
    bench.put(moving, Facets::default(), "on no network").await?;
    let mut batch = put(new, Precondition::Absent, on(network));
    batch.put(moving, Precondition::Present, on(network), "comes to the network");
    bench.store.commit(with_empty(batch, network)).await?;
    for key in [new, moving] {
        let batch = with_empty(delete(key, Precondition::Present), network);
        bench.refuses("the other record is there now", batch, StoreErrorKind::NetworkInUse(network)).await?;
    }
    Ok(())
}

async fn a_record_of_another_organization_on_the_network_does_not_count(mut bench: Bench) -> Outcome {
    let ([red, blue, network], [reds, nobodys]) = (bench.ids(), bench.keys());
    let of = |organization| of(organization, Some(network));
    let among = |organization| check(Guard::NetworkEmpty { organization, network });
    let in_use = StoreErrorKind::NetworkInUse(network);
    bench.put(reds, of(Some(red)), "on the network").await?;
    bench.put(nobodys, of(None), "there too").await?;
    bench.store.commit(among(Some(blue))).await?;
    bench.refuses("the records of one organization", among(Some(red)), in_use.clone()).await?;
    bench.refuses("the records of all", among(None), in_use.clone()).await?;
    let mut moved = among(Some(red));
    moved.put(reds, Precondition::Present, of(Some(blue)), "moves to another organization");
    bench.store.commit(moved).await?;
    bench.store.commit(among(Some(red))).await?;
    bench.refuses("the records of the other one", among(Some(blue)), in_use.clone()).await?;
    bench.delete(reds).await?;
    bench.store.commit(among(Some(blue))).await?;
    bench.refuses("the records of all, one of none", among(None), in_use).await
}

async fn a_record_of_every_organization_on_the_network_counts_for_all(mut bench: Bench) -> Outcome {
    let [organization, network] = bench.ids();
    for of_whom in [None, Some(Uuid::nil()), Some(organization), Some(Uuid::max())] {
        let key = bench.key();
        bench.put(key, of(of_whom, Some(network)), "on the network").await?;
        let what = format!("the records of all, one of {of_whom:?}");
        let batch = with_empty(Batch::new(), network);
        bench.refuses(&what, batch, StoreErrorKind::NetworkInUse(network)).await?;
        bench.store.commit(with_empty(delete(key, Precondition::Present), network)).await?;
    }
    Ok(())
}

async fn the_error_names_the_network_that_is_in_use(mut bench: Bench) -> Outcome {
    let ([free, cleared, in_use], [one, two]) = (bench.ids(), bench.keys());
    bench.put(one, on(cleared), "to be deleted").await?;
    bench.put(two, on(in_use), "not to be deleted").await?;
    let batch = delete(one, Precondition::Present);
    let batch = with_empty(with_empty(with_empty(batch, free), in_use), cleared);
    bench.refuses("one of three networks", batch, StoreErrorKind::NetworkInUse(in_use)).await
}

fn on(network: Uuid) -> Facets {
    of(None, Some(network))
}

fn with_empty(mut batch: Batch, network: Uuid) -> Batch {
    batch.guard(Guard::NetworkEmpty { organization: None, network });
    batch
}
