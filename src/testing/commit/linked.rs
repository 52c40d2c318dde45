use crate::store::{Batch, Facets, Guard, Key, Link, Precondition, StoreErrorKind};
use crate::testing::{Bench, OWNER, Outcome, PARENT, check, delete, linked, put, same};

crate::testing::table! { of "commit":
    "Every record of the organization with this link before the batch is put or deleted by the batch" =>
        a_link_of_nobody_is_within_any_batch,
        a_link_is_within_a_batch_that_writes_all_who_have_it,
        a_link_of_a_record_outside_the_batch_is_refused,
        a_link_of_a_record_of_any_kind_counts,
        another_relation_or_target_is_another_link,
        a_link_that_was_given_up_does_not_count,
        a_link_that_the_batch_adds_does_not_count;
    "Whose records; `None`: all" =>
        a_link_of_another_organization_does_not_count;
    "`Linked` and the link" =>
        the_error_names_the_link_that_is_outside;
}

async fn a_link_of_nobody_is_within_any_batch(mut bench: Bench) -> Outcome {
    let (link, key) = (bench.link(), bench.key());
    bench.store.commit(within(Batch::new(), link)).await?;
    bench.store.commit(within(put(key, Precondition::Absent, Facets::default()), link)).await?;
    bench.store.commit(within(delete(key, Precondition::Present), link)).await?;
    same("the record written under the check", &bench.read(key).await?, &None)
}

/// Whether the link is kept or not by those who are put: being written is enough.
async fn a_link_is_within_a_batch_that_writes_all_who_have_it(mut bench: Bench) -> Outcome {
    let (link, [dropping, keeping, deleted]) = (bench.link(), bench.keys());
    for key in [dropping, keeping, deleted] {
        bench.put(key, linked(&[link]), "has the link").await?;
    }
    let mut batch = put(dropping, Precondition::Present, Facets::default());
    batch
        .put(keeping, Precondition::Present, linked(&[link]), "keeps it")
        .delete(deleted, Precondition::Present);
    bench.store.commit(within(batch, link)).await?;
    let left = within(delete(keeping, Precondition::Present), link);
    bench.store.commit(left).await?;
    let answers = bench.store.get(&[keeping, deleted]).await?;
    same("the records that were deleted", &answers, &[None, None])
}

async fn a_link_of_a_record_outside_the_batch_is_refused(mut bench: Bench) -> Outcome {
    let (link, [inside, outside, new]) = (bench.link(), bench.keys());
    bench.put(inside, linked(&[link]), "has the link").await?;
    let other = bench.link();
    bench.put(outside, linked(&[other, link]), "has it too").await?;
    for batch in [
        put(inside, Precondition::Present, Facets::default()),
        delete(inside, Precondition::Present),
        put(new, Precondition::Absent, Facets::default()),
        Batch::new(),
    ] {
        let what = format!("a batch of {} writes, and one record outside", batch.writes().len());
        bench.refuses(&what, within(batch, link), StoreErrorKind::Linked(link)).await?;
    }
    let mut checked = delete(inside, Precondition::Present);
    checked.guard(Guard::Record { key: outside, precondition: Precondition::Present });
    let what = "a record that the batch guards but does not write";
    bench.refuses(what, within(checked, link), StoreErrorKind::Linked(link)).await
}

async fn a_link_of_a_record_of_any_kind_counts(mut bench: Bench) -> Outcome {
    let (link, key) = (bench.link(), bench.key());
    let namesake = Key::new(bench.other_kind, key.id);
    bench.put(key, linked(&[link]), "has the link").await?;
    bench.put(namesake, linked(&[link]), "has it too").await?;
    let batch = within(delete(key, Precondition::Present), link);
    bench.refuses("one of two kinds", batch.clone(), StoreErrorKind::Linked(link)).await?;
    let mut both = batch;
    both.delete(namesake, Precondition::Present);
    bench.store.commit(both).await?;
    bench.store.commit(check(Guard::LinkedWithin { organization: None, link })).await.map_err(Into::into)
}

async fn another_relation_or_target_is_another_link(mut bench: Bench) -> Outcome {
    let ([target, other], key) = (bench.ids(), bench.key());
    let others = [Link::new(PARENT, target), Link::new(OWNER, other)];
    bench.put(key, linked(&others), "has other links").await?;
    let link = Link::new(OWNER, target);
    bench.store.commit(check(Guard::LinkedWithin { organization: None, link })).await?;
    for link in others {
        let batch = check(Guard::LinkedWithin { organization: None, link });
        bench.refuses("a link that it has", batch, StoreErrorKind::Linked(link)).await?;
    }
    Ok(())
}

async fn a_link_that_was_given_up_does_not_count(mut bench: Bench) -> Outcome {
    let ([put_without, deleted, purged], time) = (bench.keys(), bench.antiquity());
    let link = bench.link();
    bench.put(put_without, linked(&[link]), "has the link").await?;
    bench.put(deleted, linked(&[link]), "has it too").await?;
    bench.put(purged, Facets { expires_at: Some(time), ..linked(&[link]) }, "has it for a time").await?;
    bench.put(put_without, Facets::default(), "has it no more").await?;
    bench.delete(deleted).await?;
    let batch = check(Guard::LinkedWithin { organization: None, link });
    bench.refuses("one has expired, but is there", batch.clone(), StoreErrorKind::Linked(link)).await?;
    bench.store.purge_expired(time).await?;
    bench.store.commit(batch).await.map_err(Into::into)
}

async fn a_link_that_the_batch_adds_does_not_count(mut bench: Bench) -> Outcome {
    let (link, [one, two]) = (bench.link(), bench.keys());
    let mut batch = put(one, Precondition::Absent, linked(&[link]));
    batch.put(two, Precondition::Absent, linked(&[link]), "has the link");
    bench.store.commit(within(batch, link)).await?;
    let batch = within(delete(one, Precondition::Present), link);
    bench.refuses("the other record has it now", batch, StoreErrorKind::Linked(link)).await
}

async fn a_link_of_another_organization_does_not_count(mut bench: Bench) -> Outcome {
    let ([red, blue], [reds, nobodys], link) = (bench.ids(), bench.keys(), bench.link());
    let of = |organization| Facets { organization, ..linked(&[link]) };
    let among = |organization| check(Guard::LinkedWithin { organization, link });
    bench.put(reds, of(Some(red)), "has the link").await?;
    bench.put(nobodys, of(None), "has it too").await?;
    bench.store.commit(among(Some(blue))).await?;
    bench.refuses("the records of one organization", among(Some(red)), StoreErrorKind::Linked(link)).await?;
    bench.refuses("the records of all", among(None), StoreErrorKind::Linked(link)).await?;
    let mut moved = among(Some(red));
    moved.put(reds, Precondition::Present, of(Some(blue)), "moves to another organization");
    bench.store.commit(moved).await?;
    bench.store.commit(among(Some(red))).await?;
    bench.refuses("the records of the other one", among(Some(blue)), StoreErrorKind::Linked(link)).await?;
    bench.delete(reds).await?;
    bench.refuses("the records of all, one of none", among(None), StoreErrorKind::Linked(link)).await
}

async fn the_error_names_the_link_that_is_outside(mut bench: Bench) -> Outcome {
    let ([free, inside, outside], [one, two]) = (bench.ids(), bench.keys());
    let [free, inside, outside] = [free, inside, outside].map(|target| Link::new(OWNER, target));
    bench.put(one, linked(&[inside]), "inside").await?;
    bench.put(two, linked(&[outside]), "outside").await?;
    let batch = delete(one, Precondition::Present);
    let batch = within(within(within(batch, free), outside), inside);
    bench.refuses("one of three links", batch, StoreErrorKind::Linked(outside)).await
}

fn within(mut batch: Batch, link: Link) -> Batch {
    batch.guard(Guard::LinkedWithin { organization: None, link });
    batch
}
