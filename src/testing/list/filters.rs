use uuid::Uuid;

use crate::store::{Batch, Facets, Key, Link, LinkFilter, Name, Precondition, Query};
use crate::testing::{Bench, OWNER, Outcome, PARENT, linked, of, shows};

crate::testing::table! { of "list":
    "Only records that pass every filter of the query, each once" =>
        only_records_of_the_kind_are_listed,
        the_organization_filters_and_none_is_all,
        the_filters_combine_with_and;
    "a filter's values match with ANY" =>
        any_of_the_networks_matches_and_none_is_all,
        any_of_the_ids_matches,
        hundreds_of_ids_match,
        any_target_of_a_link_filter_matches,
        the_relation_of_a_link_matters;
    "Only records with at least one link of each of these filters" =>
        a_record_needs_a_link_of_every_link_filter;
    "the empty list of values matches nothing" =>
        an_empty_list_of_values_matches_nothing;
    "A value that stands twice in a filter counts once" =>
        a_value_given_twice_lists_a_record_once;
    "The same link twice counts once" =>
        a_link_put_twice_lists_a_record_once;
}

async fn only_records_of_the_kind_are_listed(mut bench: Bench) -> Outcome {
    let [one, two] = bench.keys();
    let namesake = Key::new(bench.other_kind, one.id);
    for key in [one, two, namesake] {
        bench.put(key, Facets::default(), "record").await?;
    }
    let other = Query::new(bench.other_kind);
    shows("the kind", &bench.store.list(&bench.query()).await?, &[one, two])?;
    shows("the other kind", &bench.store.list(&other).await?, &[namesake])?;
    bench.delete(one).await?;
    shows("the kind after a delete", &bench.store.list(&bench.query()).await?, &[two])?;
    shows("the other kind after it", &bench.store.list(&other).await?, &[namesake])
}

async fn the_organization_filters_and_none_is_all(mut bench: Bench) -> Outcome {
    let [red, blue, empty] = bench.ids();
    let [a, b, c, d] = bench.keys();
    for (key, organization) in [(a, Some(red)), (b, Some(blue)), (c, None), (d, Some(red))] {
        bench.put(key, of(organization, None), "record").await?;
    }
    let query = |organization| Query { organization, ..bench.query() };
    shows("one organization", &bench.store.list(&query(Some(red))).await?, &[a, d])?;
    shows("an organization without records", &bench.store.list(&query(Some(empty))).await?, &[])?;
    shows("all organizations and none", &bench.store.list(&query(None)).await?, &[a, b, c, d])
}

async fn any_of_the_networks_matches_and_none_is_all(mut bench: Bench) -> Outcome {
    let [home, office, empty] = bench.ids();
    let [a, b, c, d] = bench.keys();
    for (key, network) in [(a, Some(home)), (b, None), (c, Some(office)), (d, Some(home))] {
        bench.put(key, of(None, network), "record").await?;
    }
    let query = |networks: &[Uuid]| Query { networks: Some(networks.to_vec()), ..bench.query() };
    shows("one network", &bench.store.list(&query(&[home])).await?, &[a, d])?;
    shows("two networks", &bench.store.list(&query(&[office, home])).await?, &[a, c, d])?;
    shows("a network without records", &bench.store.list(&query(&[empty])).await?, &[])?;
    shows("any network and none", &bench.store.list(&bench.query()).await?, &[a, b, c, d])
}

async fn any_of_the_ids_matches(mut bench: Bench) -> Outcome {
    let [a, b, c, missing] = bench.keys();
    let stranger = bench.other_key();
    for key in [a, b, c, stranger] {
        bench.put(key, Facets::default(), "record").await?;
    }
    let query = |ids: &[Uuid]| Query { ids: Some(ids.to_vec()), ..bench.query() };
    shows("one id", &bench.store.list(&query(&[b.id])).await?, &[b])?;
    let ids = [c.id, missing.id, stranger.id, a.id];
    shows("two ids, one of nobody and one of another kind", &bench.store.list(&query(&ids)).await?, &[a, c])
}

async fn hundreds_of_ids_match(mut bench: Bench) -> Outcome {
    let mut keys: Vec<Key> = (0..800).map(|_| bench.key()).collect();
    keys.sort_unstable();
    let mut batch = Batch::new();
    for key in &keys {
        batch.put(*key, Precondition::Absent, Facets::default(), "record");
    }
    bench.store.commit(batch).await?;
    let wanted: Vec<Key> =
        keys.into_iter().enumerate().filter(|(n, _)| n % 3 > 0).map(|(_, key)| key).collect();
    let ids = wanted.iter().map(|key| key.id).collect();
    let query = Query { ids: Some(ids), ..bench.query() };
    shows("two thirds of 800 records", &bench.store.list(&query).await?, &wanted)
}

async fn any_target_of_a_link_filter_matches(mut bench: Bench) -> Outcome {
    let [mine, yours, nobodys] = bench.ids();
    let [a, b, c, d] = bench.keys();
    let link = |target| Link::new(OWNER, target);
    for (key, links) in [(a, vec![link(mine)]), (b, vec![]), (c, vec![link(yours), link(mine)])] {
        bench.put(key, linked(&links), "record").await?;
    }
    bench.put(d, linked(&[link(yours)]), "record").await?;
    let query = |targets: &[Uuid]| Query { links: vec![filter(OWNER, targets)], ..bench.query() };
    shows("one target", &bench.store.list(&query(&[mine])).await?, &[a, c])?;
    shows("two targets", &bench.store.list(&query(&[yours, mine])).await?, &[a, c, d])?;
    shows("a target of nobody", &bench.store.list(&query(&[nobodys])).await?, &[])
}

async fn the_relation_of_a_link_matters(mut bench: Bench) -> Outcome {
    let [target] = bench.ids();
    let [owned, child] = bench.keys();
    bench.put(owned, linked(&[Link::new(OWNER, target)]), "owned").await?;
    bench.put(child, linked(&[Link::new(PARENT, target)]), "child").await?;
    let query = |relation| Query { links: vec![filter(relation, &[target])], ..bench.query() };
    shows("one relation", &bench.store.list(&query(OWNER)).await?, &[owned])?;
    shows("the other relation", &bench.store.list(&query(PARENT)).await?, &[child])
}

async fn a_record_needs_a_link_of_every_link_filter(mut bench: Bench) -> Outcome {
    let [one, two, three] = bench.ids();
    let [a, b, c] = bench.keys();
    let link = |target| Link::new(OWNER, target);
    bench.put(a, linked(&[link(one), link(two)]), "record").await?;
    bench.put(b, linked(&[link(one), Link::new(PARENT, three)]), "record").await?;
    bench.put(c, linked(&[link(two), link(three), Link::new(PARENT, three)]), "record").await?;
    let query = |links: &[LinkFilter]| Query { links: links.to_vec(), ..bench.query() };
    let same_relation = query(&[filter(OWNER, &[one]), filter(OWNER, &[two, three])]);
    shows("two filters of one relation", &bench.store.list(&same_relation).await?, &[a])?;
    let two_relations = query(&[filter(OWNER, &[one, two]), filter(PARENT, &[three])]);
    shows("filters of two relations", &bench.store.list(&two_relations).await?, &[b, c])
}

async fn an_empty_list_of_values_matches_nothing(mut bench: Bench) -> Outcome {
    let ([target, network], key) = (bench.ids(), bench.key());
    let facets = Facets { network: Some(network), ..linked(&[Link::new(OWNER, target)]) };
    bench.put(key, facets, "record").await?;
    let networks = Query { networks: Some(Vec::new()), ..bench.query() };
    shows("no networks", &bench.store.list(&networks).await?, &[])?;
    let ids = Query { ids: Some(Vec::new()), ..bench.query() };
    shows("no ids", &bench.store.list(&ids).await?, &[])?;
    let links = Query { links: vec![filter(OWNER, &[target]), filter(OWNER, &[])], ..bench.query() };
    shows("a link filter without targets", &bench.store.list(&links).await?, &[])
}

async fn a_value_given_twice_lists_a_record_once(mut bench: Bench) -> Outcome {
    let ([target, network], key) = (bench.ids(), bench.key());
    let facets = Facets { network: Some(network), ..linked(&[Link::new(OWNER, target)]) };
    bench.put(key, facets, "record").await?;
    let networks = Query { networks: Some(vec![network; 2]), ..bench.query() };
    shows("a network twice", &bench.store.list(&networks).await?, &[key])?;
    let ids = Query { ids: Some(vec![key.id; 2]), ..bench.query() };
    shows("an id twice", &bench.store.list(&ids).await?, &[key])?;
    let targets = Query { links: vec![filter(OWNER, &[target; 2])], ..bench.query() };
    shows("a target twice", &bench.store.list(&targets).await?, &[key])?;
    let filters = Query { links: vec![filter(OWNER, &[target]); 2], ..bench.query() };
    shows("a link filter twice", &bench.store.list(&filters).await?, &[key])
}

async fn a_link_put_twice_lists_a_record_once(mut bench: Bench) -> Outcome {
    let [target, other] = bench.ids();
    let key = bench.key();
    let link = Link::new(OWNER, target);
    bench.put(key, linked(&[link, Link::new(OWNER, other), link]), "record").await?;
    let query = Query { links: vec![filter(OWNER, &[target, other])], ..bench.query() };
    shows("the targets of its links", &bench.store.list(&query).await?, &[key])?;
    bench.put(key, linked(&[Link::new(OWNER, other)]), "record").await?;
    let query = Query { links: vec![filter(OWNER, &[target])], ..bench.query() };
    shows("the target after a put without it", &bench.store.list(&query).await?, &[])
}

/// One record passes; each of the others fails one filter only.
async fn the_filters_combine_with_and(mut bench: Bench) -> Outcome {
    let [organization, network, target, other] = bench.ids();
    let [passing, a, b, c, d] = bench.keys();
    let facets = |organization, network, target| Facets {
        links: vec![Link::new(OWNER, target)],
        ..of(Some(organization), Some(network))
    };
    let mut batch = Batch::new();
    batch.put(passing, Precondition::Absent, facets(organization, network, target), "passes");
    batch.put(a, Precondition::Absent, facets(other, network, target), "of another organization");
    batch.put(b, Precondition::Absent, facets(organization, other, target), "of another network");
    batch.put(c, Precondition::Absent, facets(organization, network, other), "with another link");
    batch.put(d, Precondition::Absent, facets(organization, network, target), "with another id");
    bench.store.commit(batch).await?;
    let query = Query {
        organization: Some(organization),
        networks: Some(vec![network]),
        ids: Some(vec![passing.id, a.id, b.id, c.id]),
        links: vec![filter(OWNER, &[target])],
        ..bench.query()
    };
    shows("all filters", &bench.store.list(&query).await?, &[passing])
}

fn filter(relation: Name, targets: &[Uuid]) -> LinkFilter {
    LinkFilter { relation, targets: targets.to_vec() }
}
