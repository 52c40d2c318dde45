//! Guards on records, unique keys and links.

use crate::store::Precondition::{Absent, Any, Present};
use crate::store::StoreErrorKind::{Conflict, Linked, UniqueKeyTaken};
use crate::store::{Batch, Facets, Guard, Key, Link, Precondition, Version};
use crate::testing::{
    CaseOutcome, Fixture, OWNER, PARENT, delete, expect_equal, guard_only, put, with_links, with_unique_keys,
};

crate::testing::table! {
    of "commit":
    "The record satisfies the precondition before the batch" =>
        record_guard_passes_if_precondition_holds,
        record_guard_conflicts_if_precondition_fails;
    "The unique key belongs to this record before the batch, or to no record" =>
        unique_key_guard_passes_if_holder_is_expected,
        unique_key_guard_fails_if_holder_differs;
    "Preconditions and guards are evaluated against the state before the batch" =>
        guards_ignore_writes_of_their_batch;
    "If one fails, nothing changes" =>
        one_failed_guard_rejects_the_whole_batch;
    "A batch without writes only evaluates its guards" =>
        batch_of_guards_only_changes_nothing;
    "The batch writes every record of the organization that has this link before the batch" =>
        link_guard_passes_if_no_record_has_the_link,
        link_guard_passes_if_batch_writes_every_linked_record,
        link_guard_fails_if_a_linked_record_is_not_written,
        link_guard_considers_records_of_every_kind,
        link_guard_ignores_other_relations_and_targets,
        link_guard_ignores_removed_links,
        link_guard_ignores_links_added_by_the_batch;
    "Organization whose records are considered; `None`: all records" =>
        link_guard_ignores_other_organizations;
    "`Linked` with the link" =>
        link_guard_error_names_the_failed_link;
}

async fn record_guard_passes_if_precondition_holds(mut fixture: Fixture) -> CaseOutcome {
    let [there, missing, written] = fixture.keys();
    let version = fixture.put(there, Facets::default(), "there").await?.version;
    let guards = [
        (there, Present),
        (there, Precondition::Version(version)),
        (there, Any),
        (missing, Absent),
        (missing, Any),
    ];
    for (key, precondition) in guards {
        let mut batch = put(written, Any, Facets::default());
        batch.guard(Guard::record(key, precondition));
        fixture.store.commit(batch.clone()).await?;
    }
    let mut all = delete(written, Present);
    for (key, precondition) in guards {
        all.guard(Guard::record(key, precondition));
    }
    fixture.store.commit(all).await?;
    expect_equal("the record written under the guards", &fixture.read(written).await?, &None)
}

async fn record_guard_conflicts_if_precondition_fails(mut fixture: Fixture) -> CaseOutcome {
    let [there, missing, new] = fixture.keys();
    let old = fixture.put(there, Facets::default(), "old").await?.version;
    let version = fixture.put(there, Facets::default(), "there").await?.version;
    let guards = [
        (there, Absent),
        (there, Precondition::Version(old)),
        (there, Precondition::Version(Version(version.0.wrapping_add(1)))),
        (missing, Present),
        (missing, Precondition::Version(version)),
        (missing, Precondition::Version(Version(0))),
    ];
    for (key, precondition) in guards {
        let mut batch = put(new, Absent, Facets::default());
        batch.guard(Guard::record(key, precondition));
        let what = format!("a guard that expects {precondition:?}");
        fixture.expect_rejected(&what, batch, Conflict(key)).await?;
    }
    Ok(())
}

async fn unique_key_guard_passes_if_holder_is_expected(mut fixture: Fixture) -> CaseOutcome {
    let ([holder, written], held, free) = (fixture.keys(), fixture.unique_key(), fixture.unique_key());
    fixture.put(holder, with_unique_keys(&[&held]), "has it").await?;
    let mut batch = put(written, Absent, Facets::default());
    batch.guard(Guard::unique_key(held, Some(holder)));
    batch.guard(Guard::unique_key(free, None));
    fixture.store.commit(batch).await?;
    let body = fixture.read(written).await?.map(|record| record.body);
    expect_equal("the record written under the guards", &body, &Some("put".into()))
}

async fn unique_key_guard_fails_if_holder_differs(mut fixture: Fixture) -> CaseOutcome {
    let ([holder, other, new], held, free) = (fixture.keys(), fixture.unique_key(), fixture.unique_key());
    fixture.put(holder, with_unique_keys(&[&held]), "has it").await?;
    fixture.put(other, Facets::default(), "has none").await?;
    for (unique_key, holder) in
        [(&held, Some(other)), (&held, Some(new)), (&held, None), (&free, Some(other))]
    {
        let mut batch = put(new, Absent, Facets::default());
        batch.guard(Guard::unique_key(unique_key.clone(), holder));
        let taken = UniqueKeyTaken(unique_key.clone());
        fixture.expect_rejected(&format!("a guard that expects the holder {holder:?}"), batch, taken).await?;
    }
    Ok(())
}

async fn guards_ignore_writes_of_their_batch(mut fixture: Fixture) -> CaseOutcome {
    let ([created, replaced, deleted], unique_key) = (fixture.keys(), fixture.unique_key());
    let version = fixture.put(replaced, with_unique_keys(&[&unique_key]), "before").await?.version;
    fixture.put(deleted, Facets::default(), "before").await?;
    let mut writes = put(created, Absent, with_unique_keys(&[&unique_key]));
    writes.put(replaced, Present, Facets::default(), "after").delete(deleted, Present);

    let taken = UniqueKeyTaken(unique_key.clone());
    for (what, guard, error) in [
        ("a record that the batch creates", Guard::record(created, Present), Conflict(created)),
        ("a record that the batch deletes", Guard::record(deleted, Absent), Conflict(deleted)),
        ("a moved unique key", Guard::unique_key(unique_key.clone(), Some(created)), taken),
    ] {
        let mut batch = writes.clone();
        batch.guard(guard);
        fixture.expect_rejected(&format!("a guard on {what}"), batch, error).await?;
    }

    writes.guard(Guard::record(created, Absent));
    writes.guard(Guard::record(replaced, Precondition::Version(version)));
    writes.guard(Guard::record(deleted, Present));
    writes.guard(Guard::unique_key(unique_key.clone(), Some(replaced)));
    fixture.store.commit(writes).await?;
    expect_equal("the holder afterwards", &fixture.holder(&unique_key).await?, &Some(created))
}

async fn one_failed_guard_rejects_the_whole_batch(mut fixture: Fixture) -> CaseOutcome {
    let ([created, replaced, deleted, missing], unique_key) = (fixture.keys(), fixture.unique_key());
    fixture.put(replaced, with_unique_keys(&[&unique_key]), "before").await?;
    fixture.put(deleted, Facets::default(), "before").await?;
    let mut batch = put(created, Absent, with_unique_keys(&[&unique_key]));
    batch.put(replaced, Present, Facets::default(), "after").delete(deleted, Present);
    batch.guard(Guard::record(replaced, Present));
    batch.guard(Guard::record(missing, Present));
    batch.guard(Guard::unique_key(unique_key.clone(), Some(replaced)));
    fixture.expect_rejected("one of three guards fails", batch, Conflict(missing)).await?;
    expect_equal("the holder of the unique key", &fixture.holder(&unique_key).await?, &Some(replaced))
}

async fn batch_of_guards_only_changes_nothing(mut fixture: Fixture) -> CaseOutcome {
    let ([there, missing], unique_key) = (fixture.keys(), fixture.unique_key());
    let record = fixture.put(there, with_unique_keys(&[&unique_key]), "there").await?;
    let mut passing = Batch::new();
    passing.guard(Guard::record(there, Precondition::Version(record.version)));
    passing.guard(Guard::record(missing, Absent));
    passing.guard(Guard::unique_key(unique_key.clone(), Some(there)));
    passing.guard(Guard::linked_within(None, fixture.link()));
    passing.guard(Guard::network_empty(None, fixture.uuid()));
    fixture.store.commit(passing).await?;
    let answers = fixture.store.get(&[there, missing]).await?;
    expect_equal("the records after passing guards", &answers, &[Some(record), None])?;
    let failing = guard_only(Guard::record(missing, Present));
    fixture.expect_rejected("a failing guard alone", failing, Conflict(missing)).await?;
    let failing = guard_only(Guard::unique_key(unique_key.clone(), None));
    fixture
        .expect_rejected("a failing guard on a unique key alone", failing, UniqueKeyTaken(unique_key))
        .await
}

async fn link_guard_passes_if_no_record_has_the_link(mut fixture: Fixture) -> CaseOutcome {
    let (link, key) = (fixture.link(), fixture.key());
    fixture.store.commit(within(Batch::new(), link)).await?;
    fixture.store.commit(within(put(key, Absent, Facets::default()), link)).await?;
    fixture.store.commit(within(delete(key, Present), link)).await?;
    expect_equal("the record written under the guard", &fixture.read(key).await?, &None)
}

/// A record that is put may keep the link: it only has to be written.
async fn link_guard_passes_if_batch_writes_every_linked_record(mut fixture: Fixture) -> CaseOutcome {
    let (link, [dropping, keeping, deleted]) = (fixture.link(), fixture.keys());
    for key in [dropping, keeping, deleted] {
        fixture.put(key, with_links(&[link]), "has the link").await?;
    }
    let mut batch = put(dropping, Present, Facets::default());
    batch.put(keeping, Present, with_links(&[link]), "keeps it").delete(deleted, Present);
    fixture.store.commit(within(batch, link)).await?;
    let left = within(delete(keeping, Present), link);
    fixture.store.commit(left).await?;
    let answers = fixture.store.get(&[keeping, deleted]).await?;
    expect_equal("the records that were deleted", &answers, &[None, None])
}

async fn link_guard_fails_if_a_linked_record_is_not_written(mut fixture: Fixture) -> CaseOutcome {
    let (link, [inside, outside, new]) = (fixture.link(), fixture.keys());
    fixture.put(inside, with_links(&[link]), "has the link").await?;
    let other = fixture.link();
    fixture.put(outside, with_links(&[other, link]), "has it too").await?;
    for batch in [
        put(inside, Present, Facets::default()),
        delete(inside, Present),
        put(new, Absent, Facets::default()),
        Batch::new(),
    ] {
        let what = format!("a batch of {} writes, and one record outside", batch.writes().len());
        fixture.expect_rejected(&what, within(batch, link), Linked(link)).await?;
    }
    let mut checked = delete(inside, Present);
    checked.guard(Guard::record(outside, Present));
    let what = "a record that the batch guards but does not write";
    fixture.expect_rejected(what, within(checked, link), Linked(link)).await
}

async fn link_guard_considers_records_of_every_kind(mut fixture: Fixture) -> CaseOutcome {
    let (link, key) = (fixture.link(), fixture.key());
    let namesake = Key::new(fixture.other_kind, key.id);
    fixture.put(key, with_links(&[link]), "has the link").await?;
    fixture.put(namesake, with_links(&[link]), "has it too").await?;
    let batch = within(delete(key, Present), link);
    fixture.expect_rejected("one of two kinds", batch.clone(), Linked(link)).await?;
    let mut both = batch;
    both.delete(namesake, Present);
    fixture.store.commit(both).await?;
    fixture.store.commit(guard_only(Guard::linked_within(None, link))).await.map_err(Into::into)
}

async fn link_guard_ignores_other_relations_and_targets(mut fixture: Fixture) -> CaseOutcome {
    let ([target, other], key) = (fixture.ids(), fixture.key());
    let others = [Link::new(PARENT, target), Link::new(OWNER, other)];
    fixture.put(key, with_links(&others), "has other links").await?;
    let link = Link::new(OWNER, target);
    fixture.store.commit(guard_only(Guard::linked_within(None, link))).await?;
    for link in others {
        let batch = guard_only(Guard::linked_within(None, link));
        fixture.expect_rejected("a link that it has", batch, Linked(link)).await?;
    }
    Ok(())
}

async fn link_guard_ignores_removed_links(mut fixture: Fixture) -> CaseOutcome {
    let ([put_without, deleted, purged], time) = (fixture.keys(), fixture.ancient_time());
    let link = fixture.link();
    fixture.put(put_without, with_links(&[link]), "has the link").await?;
    fixture.put(deleted, with_links(&[link]), "has it too").await?;
    fixture
        .put(purged, Facets { expires_at: Some(time), ..with_links(&[link]) }, "has it for a time")
        .await?;
    fixture.put(put_without, Facets::default(), "has it no more").await?;
    fixture.delete(deleted).await?;
    let batch = guard_only(Guard::linked_within(None, link));
    fixture.expect_rejected("an expired record that is not purged", batch.clone(), Linked(link)).await?;
    fixture.store.purge_expired(time).await?;
    fixture.store.commit(batch).await.map_err(Into::into)
}

async fn link_guard_ignores_links_added_by_the_batch(mut fixture: Fixture) -> CaseOutcome {
    let (link, [one, two]) = (fixture.link(), fixture.keys());
    let mut batch = put(one, Absent, with_links(&[link]));
    batch.put(two, Absent, with_links(&[link]), "has the link");
    fixture.store.commit(within(batch, link)).await?;
    let batch = within(delete(one, Present), link);
    fixture.expect_rejected("the other record has it now", batch, Linked(link)).await
}

async fn link_guard_ignores_other_organizations(mut fixture: Fixture) -> CaseOutcome {
    let ([red, blue], [reds, unowned], link) = (fixture.ids(), fixture.keys(), fixture.link());
    let of = |organization| Facets { organization, ..with_links(&[link]) };
    let among = |organization| guard_only(Guard::linked_within(organization, link));
    fixture.put(reds, of(Some(red)), "has the link").await?;
    fixture.put(unowned, of(None), "has it too").await?;
    fixture.store.commit(among(Some(blue))).await?;
    fixture.expect_rejected("the records of one organization", among(Some(red)), Linked(link)).await?;
    fixture.expect_rejected("all records", among(None), Linked(link)).await?;
    let mut moved = among(Some(red));
    moved.put(reds, Present, of(Some(blue)), "moves to another organization");
    fixture.store.commit(moved).await?;
    fixture.store.commit(among(Some(red))).await?;
    fixture.expect_rejected("the records of the other organization", among(Some(blue)), Linked(link)).await?;
    fixture.delete(reds).await?;
    fixture
        .expect_rejected("all records, one of them without an organization", among(None), Linked(link))
        .await
}

async fn link_guard_error_names_the_failed_link(mut fixture: Fixture) -> CaseOutcome {
    let ([free, inside, outside], [one, two]) = (fixture.ids(), fixture.keys());
    let [free, inside, outside] = [free, inside, outside].map(|target| Link::new(OWNER, target));
    fixture.put(one, with_links(&[inside]), "inside").await?;
    fixture.put(two, with_links(&[outside]), "outside").await?;
    let batch = delete(one, Present);
    let batch = within(within(within(batch, free), outside), inside);
    fixture.expect_rejected("one of three links", batch, Linked(outside)).await
}

fn within(mut batch: Batch, link: Link) -> Batch {
    batch.guard(Guard::linked_within(None, link));
    batch
}
