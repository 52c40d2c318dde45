use uuid::Uuid;

use crate::store::Precondition::{Absent, Present};
use crate::store::StoreErrorKind::NetworkInUse;
use crate::store::{Batch, Facets, Guard, Key, Link, Name};
use crate::testing::{CaseOutcome, Fixture, OWNER, delete, expect_equal, guard_only, of, put, with_links};

crate::testing::table! { of "commit":
    "The batch writes every record that is on this network before the batch" =>
        network_guard_passes_if_no_record_is_on_it,
        network_guard_passes_if_batch_writes_every_record_on_it,
        network_guard_fails_if_a_record_on_it_is_not_written,
        network_guard_finds_one_unwritten_record_among_many,
        network_guard_considers_records_of_every_kind,
        network_guard_ignores_records_on_other_networks,
        network_guard_ignores_records_that_left_the_network,
        network_guard_ignores_records_added_by_the_batch;
    "Records of all kinds but those in `except` are considered" =>
        network_guard_ignores_records_of_excepted_kinds;
    "Organization whose records are considered; `None`: all records" =>
        network_guard_ignores_other_organizations,
        network_guard_without_organization_considers_all_records;
    "`NetworkInUse` with the network" =>
        network_guard_error_names_the_network_in_use;
}

async fn network_guard_passes_if_no_record_is_on_it(mut fixture: Fixture) -> CaseOutcome {
    let ([organization, network], key) = (fixture.ids(), fixture.key());
    let empty = |mut batch: Batch| {
        batch.guard(Guard::network_empty(Some(organization), network));
        with_empty(batch, network)
    };
    fixture.store.commit(empty(Batch::new())).await?;
    fixture.store.commit(empty(put(key, Absent, of(Some(organization), None)))).await?;
    fixture.store.commit(empty(delete(key, Present))).await?;
    expect_equal("the record written under the guards", &fixture.read(key).await?, &None)
}

/// A record that is put may stay on the network. It only has to be written.
async fn network_guard_passes_if_batch_writes_every_record_on_it(mut fixture: Fixture) -> CaseOutcome {
    let ([network, elsewhere], [leaving, moving, staying, deleted]) = (fixture.ids(), fixture.keys());
    for key in [leaving, moving, staying, deleted] {
        fixture.put(key, on(network), "on the network").await?;
    }
    let mut batch = put(leaving, Present, Facets::default());
    batch.put(moving, Present, on(elsewhere), "moves away");
    batch.put(staying, Present, on(network), "stays").delete(deleted, Present);
    fixture.store.commit(with_empty(batch, network)).await?;
    let left = with_empty(delete(staying, Present), network);
    fixture.store.commit(left).await?;
    let answers = fixture.store.get(&[staying, deleted]).await?;
    expect_equal("the records that were deleted", &answers, &[None, None])
}

async fn network_guard_fails_if_a_record_on_it_is_not_written(mut fixture: Fixture) -> CaseOutcome {
    let (network, [least, middle, new]) = (fixture.uuid(), fixture.keys());
    fixture.put(least, on(network), "on the network").await?;
    fixture.put(middle, on(network), "there too").await?;
    for (inside, outside) in [(least, middle), (middle, least)] {
        for batch in [
            put(inside, Present, Facets::default()),
            delete(inside, Present),
            put(new, Absent, Facets::default()),
            Batch::new(),
        ] {
            let what = format!("a batch of {} writes, and {outside} outside", batch.writes().len());
            let batch = with_empty(batch, network);
            fixture.expect_rejected(&what, batch, NetworkInUse(network)).await?;
        }
        let mut checked = delete(inside, Present);
        checked.guard(Guard::record(outside, Present));
        let what = "a record that the batch guards but does not write";
        let batch = with_empty(checked, network);
        fixture.expect_rejected(what, batch, NetworkInUse(network)).await?;
    }
    Ok(())
}

async fn network_guard_finds_one_unwritten_record_among_many(mut fixture: Fixture) -> CaseOutcome {
    const RECORDS: usize = 2000;
    let network = fixture.uuid();
    let mut keys: Vec<Key> = (0..RECORDS).map(|_| fixture.key()).collect();
    keys.sort_unstable();
    let mut put_records = Batch::new();
    for key in &keys {
        put_records.put(*key, Absent, on(network), "on the network");
    }
    fixture.store.commit(put_records).await?;
    let clear_all_but = |outside: Option<&Key>| {
        let mut batch = Batch::new();
        for key in keys.iter().filter(|key| Some(*key) != outside) {
            batch.delete(*key, Present);
        }
        with_empty(batch, network)
    };
    for outside in keys.iter().step_by(RECORDS / 4).chain(keys.last()) {
        let batch = clear_all_but(Some(outside));
        fixture.expect_rejected("all but one", batch, NetworkInUse(network)).await?;
    }
    fixture.store.commit(clear_all_but(None)).await?;
    fixture.store.commit(with_empty(Batch::new(), network)).await.map_err(Into::into)
}

async fn network_guard_considers_records_of_every_kind(mut fixture: Fixture) -> CaseOutcome {
    let (network, key) = (fixture.uuid(), fixture.key());
    let namesake = Key::new(fixture.other_kind, key.id);
    fixture.put(key, on(network), "on the network").await?;
    fixture.put(namesake, on(network), "there too").await?;
    for (inside, outside) in [(key, namesake), (namesake, key)] {
        let batch = with_empty(delete(inside, Present), network);
        let what = format!("one of two kinds, and {outside} outside");
        fixture.expect_rejected(&what, batch, NetworkInUse(network)).await?;
    }
    let mut both = delete(key, Present);
    both.delete(namesake, Present);
    fixture.store.commit(with_empty(both, network)).await?;
    fixture.store.commit(with_empty(Batch::new(), network)).await.map_err(Into::into)
}

async fn network_guard_ignores_records_of_excepted_kinds(mut fixture: Fixture) -> CaseOutcome {
    let (network, key) = (fixture.uuid(), fixture.key());
    let namesake = Key::new(fixture.other_kind, key.id);
    fixture.put(key, on(network), "on the network").await?;
    fixture.put(namesake, on(network), "there too").await?;
    let except = |kinds: &[Name]| guard_only(Guard::network_empty_except(None, network, kinds.to_vec()));
    for kind in [key.kind, namesake.kind] {
        fixture.expect_rejected("a record of the other kind", except(&[kind]), NetworkInUse(network)).await?;
    }
    fixture.store.commit(except(&[key.kind, namesake.kind])).await?;
    fixture.delete(namesake).await?;
    fixture.store.commit(except(&[key.kind])).await?;
    fixture.expect_rejected("an unused kind", except(&[namesake.kind]), NetworkInUse(network)).await
}

/// Covers records whose own id, organization or link target equals the network's id.
async fn network_guard_ignores_records_on_other_networks(mut fixture: Fixture) -> CaseOutcome {
    let ([network, organization], [of_that_id, referring]) = (fixture.ids(), fixture.keys());
    let [before, behind] = [u128::MAX, 1].map(|step| Uuid::from_u128(network.as_u128().wrapping_add(step)));
    for other in [before, behind] {
        for owner in [None, Some(Uuid::nil()), Some(organization), Some(Uuid::max())] {
            let key = fixture.key();
            fixture.put(key, of(owner, Some(other)), "on another network").await?;
        }
    }
    fixture.put(Key::new(fixture.kind, network), of(Some(organization), None), "the network itself").await?;
    fixture.put(of_that_id, of(Some(network), None), "of an organization of that id").await?;
    fixture.put(referring, with_links(&[Link::new(OWNER, network)]), "refers to the network").await?;
    for organization in [None, Some(organization), Some(network)] {
        fixture.store.commit(guard_only(Guard::network_empty(organization, network))).await?;
    }
    for network in [before, behind] {
        let batch = with_empty(Batch::new(), network);
        fixture.expect_rejected("a network with records", batch, NetworkInUse(network)).await?;
    }
    Ok(())
}

async fn network_guard_ignores_records_that_left_the_network(mut fixture: Fixture) -> CaseOutcome {
    let ([network, elsewhere], time) = (fixture.ids(), fixture.ancient_time());
    let [moved, released, deleted, purged] = fixture.keys();
    for key in [moved, released, deleted] {
        fixture.put(key, on(network), "on the network").await?;
    }
    fixture.put(purged, Facets { expires_at: Some(time), ..on(network) }, "there for a time").await?;
    fixture.put(moved, on(elsewhere), "on another network").await?;
    fixture.put(released, Facets::default(), "on no network").await?;
    fixture.delete(deleted).await?;
    let batch = with_empty(Batch::new(), network);
    let in_use = NetworkInUse(network);
    fixture.expect_rejected("an expired record that is not purged", batch.clone(), in_use.clone()).await?;
    fixture.store.purge_expired(time).await?;
    fixture.store.commit(batch.clone()).await?;
    fixture.put(moved, on(network), "back again").await?;
    fixture.expect_rejected("a record that returned to the network", batch, in_use).await
}

async fn network_guard_ignores_records_added_by_the_batch(mut fixture: Fixture) -> CaseOutcome {
    let (network, [new, moving]) = (fixture.uuid(), fixture.keys());
    fixture.put(moving, Facets::default(), "on no network").await?;
    let mut batch = put(new, Absent, on(network));
    batch.put(moving, Present, on(network), "comes to the network");
    fixture.store.commit(with_empty(batch, network)).await?;
    for key in [new, moving] {
        let batch = with_empty(delete(key, Present), network);
        fixture.expect_rejected("the other record is on it now", batch, NetworkInUse(network)).await?;
    }
    Ok(())
}

async fn network_guard_ignores_other_organizations(mut fixture: Fixture) -> CaseOutcome {
    let ([red, blue, network], [reds, unowned]) = (fixture.ids(), fixture.keys());
    let of = |organization| of(organization, Some(network));
    let among = |organization| guard_only(Guard::network_empty(organization, network));
    let in_use = NetworkInUse(network);
    fixture.put(reds, of(Some(red)), "on the network").await?;
    fixture.put(unowned, of(None), "there too").await?;
    fixture.store.commit(among(Some(blue))).await?;
    fixture.expect_rejected("the records of one organization", among(Some(red)), in_use.clone()).await?;
    fixture.expect_rejected("all records", among(None), in_use.clone()).await?;
    let mut moved = among(Some(red));
    moved.put(reds, Present, of(Some(blue)), "moves to another organization");
    fixture.store.commit(moved).await?;
    fixture.store.commit(among(Some(red))).await?;
    fixture
        .expect_rejected("the records of the other organization", among(Some(blue)), in_use.clone())
        .await?;
    fixture.delete(reds).await?;
    fixture.store.commit(among(Some(blue))).await?;
    fixture.expect_rejected("all records, one of them without an organization", among(None), in_use).await
}

async fn network_guard_without_organization_considers_all_records(mut fixture: Fixture) -> CaseOutcome {
    let [organization, network] = fixture.ids();
    for owner in [None, Some(Uuid::nil()), Some(organization), Some(Uuid::max())] {
        let key = fixture.key();
        fixture.put(key, of(owner, Some(network)), "on the network").await?;
        let what = format!("all records, one of them of organization {owner:?}");
        let batch = with_empty(Batch::new(), network);
        fixture.expect_rejected(&what, batch, NetworkInUse(network)).await?;
        fixture.store.commit(with_empty(delete(key, Present), network)).await?;
    }
    Ok(())
}

async fn network_guard_error_names_the_network_in_use(mut fixture: Fixture) -> CaseOutcome {
    let ([free, cleared, in_use], [one, two]) = (fixture.ids(), fixture.keys());
    fixture.put(one, on(cleared), "to be deleted").await?;
    fixture.put(two, on(in_use), "not to be deleted").await?;
    let batch = delete(one, Present);
    let batch = with_empty(with_empty(with_empty(batch, free), in_use), cleared);
    fixture.expect_rejected("one of three networks", batch, NetworkInUse(in_use)).await
}

fn on(network: Uuid) -> Facets {
    of(None, Some(network))
}

fn with_empty(mut batch: Batch, network: Uuid) -> Batch {
    batch.guard(Guard::network_empty(None, network));
    batch
}
