//! `ETag`, `If-None-Match` and `If-Match`.

use super::*;

fn if_match(request: Request<String>, tag: &str) -> Request<String> {
    with_header(request, "if-match", tag)
}

/// Returns the forms that proxies give to the tag of a response that they compress.
fn changed_by_proxies(tag: &str) -> Vec<String> {
    let opaque = tag.trim_matches('"');
    let endings = ["", "-gzip", "-br", "-zstd"];
    let changed = endings.map(|ending| format!("\"{opaque}{ending}\""));
    changed.iter().flat_map(|tag| [tag.clone(), format!("W/{tag}")]).collect()
}

#[test]
fn tag_that_a_proxy_has_changed_allows_an_update() {
    for_each(async |scene| {
        let record = scene.create(1).await;
        let path = scene.item(&record);
        let (field, value) = &scene.kind.changes[0];
        let bodies = [with(&record, field, value.clone()), record.clone()];
        let forms = changed_by_proxies(scene.send(get(&path)).await.header("etag")).len();
        for form in 0..forms {
            let tag = scene.send(get(&path)).await.header("etag").to_owned();
            let changed = changed_by_proxies(&tag)[form].clone();
            let put = send_json("PUT", &path, &bodies[form % 2]);
            let reply = scene.send(if_match(put.clone(), &changed)).await;
            assert_eq!(reply.status, 200, "{changed}: {}", reply.json);
            let reply = scene.send(if_match(put, &changed)).await;
            reply.refuses(412, "precondition_failed");
            assert!(!reply.json["error"].as_str().unwrap().contains("has changed"), "{}", reply.json);
        }
    });
}

#[test]
fn record_has_a_strong_tag_for_conditional_requests() {
    for_each(async |scene| {
        let record = scene.create(1).await;
        let path = scene.item(&record);
        let tag = scene.send(get(&path)).await.header("etag").to_owned();
        for known in [tag.clone(), format!("W/{tag}, \"other\""), "*".to_owned()]
            .into_iter()
            .chain(changed_by_proxies(&tag))
        {
            assert_eq!(scene.send(with_header(get(&path), "if-none-match", known)).await.status, 304);
        }
        let (field, value) = &scene.kind.changes[0];
        let put = |tag: &str| if_match(send_json("PUT", &path, &with(&record, field, value.clone())), tag);
        let opaque = tag.trim_matches('"');
        let unknown = ["-xz", "-gzip-gzip", "-GZIP", "gzip"].map(|ending| format!("\"{opaque}{ending}\""));
        let others = ["\"other\"", "W/\"other-gzip\"", "\"a\", \"b\"", "\"-gzip\"", &format!("w/{tag}")]
            .map(str::to_owned);
        for foreign in others.iter().chain(&unknown) {
            let reply = scene.send(put(foreign)).await;
            assert_eq!(*reply.refuses(412, "precondition_failed"), scene.params(&record));
        }
        let changed = scene.send(put(&format!("\"other\", {tag}"))).await.header("etag").to_owned();
        assert_ne!(changed, tag);
        scene.send(put(&tag)).await.refuses(412, "precondition_failed");
        let reply = scene.send(with_header(get(&path), "if-none-match", &tag)).await;
        assert_eq!((reply.status.as_u16(), reply.header("etag")), (200, changed.as_str()));
    });
}

#[test]
fn created_record_has_the_tag_of_the_record() {
    for_each_that(
        |kind| kind.body(1).is_some() && !kind.path.contains("/auth/"),
        async |scene| {
            let created = scene.send(send_json("POST", scene.kind.path, &scene.kind.body(1).unwrap())).await;
            let read = scene.send(get(&scene.item(created.data()))).await;
            assert_eq!(read.header("etag"), created.header("etag"));
        },
    );
}

#[test]
fn deletion_may_be_conditional() {
    for_each_that(
        |kind| kind.can_delete,
        async |scene| {
            let record = scene.create(1).await;
            let delete = |tag: &str| if_match(bare("DELETE", &scene.item(&record)), tag);
            let reply = scene.send(delete("\"other\"")).await;
            assert_eq!(*reply.refuses(412, "precondition_failed"), scene.params(&record));
            let tag = scene.send(get(&scene.item(&record))).await.header("etag").to_owned();
            assert_eq!(scene.send(delete(&tag)).await.status, 200);
            scene.send(delete("*")).await.refuses(404, "entity_not_found");
        },
    );
}

#[test]
fn list_has_a_weak_tag_that_changes_with_its_records() {
    for_each(async |scene| {
        let record = scene.create(1).await;
        for query in ["", "?limit=0", "?limit=1&cursor="] {
            let path = format!("{}{query}", scene.kind.path);
            let tag = scene.send(get(&path)).await.header("etag").to_owned();
            let known = || with_header(get(&path), "if-none-match", &tag);
            assert_eq!(scene.send(known()).await.status, 304);
            let (field, value) = &scene.kind.changes[0];
            for value in [value, &record[*field]] {
                assert_eq!(scene.put(&record, &with(&record, field, value.clone())).await.status, 200);
            }
            assert_eq!(scene.send(known()).await.status, 200, "{path}");
        }
    });
}
