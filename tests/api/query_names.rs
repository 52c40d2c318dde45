//! Parameter names of `GET /api/v1/hosts`: an unknown one is never ignored.

use serde_json::json;

use crate::common::World;

#[tokio::test]
async fn a_parameter_that_is_not_known_is_refused_by_its_name() {
    let world = World::new().await;
    let long = "a".repeat(60_000);
    for (query, field) in [
        ("bogus=1", "bogus"),
        ("bogus", "bogus"),
        ("bogus=", "bogus"),
        ("Limit=1", "Limit"),
        ("LIMIT=1", "LIMIT"),
        ("limit%20=1", "limit "),
        ("limit+=1", "limit "),
        ("limit[]=1", "limit[]"),
        ("ids[]=1", "ids[]"),
        ("ids%5B0%5D=1", "ids[0]"),
        ("id=1", "id"),
        ("tags=1", "tags"),
        ("tag_id=1", "tag_id"),
        ("networkId=1", "networkId"),
        ("page=1", "page"),
        ("hidden=true", "hidden"),
        ("organization_id=1", "organization_id"),
        ("order_by.name=1", "order_by.name"),
        ("limit=1&gr%C3%B6%C3%9Fe=1", "größe"),
        ("limit=1;offset=1&b=1", "b"),
        ("?limit=1", "?limit"),
        ("limit%00=1", "limit\0"),
        ("li%FFmit=1", "li\u{fffd}mit"),
        (&long, &long),
    ] {
        let reply = world.list(query).await;
        let params = reply.refuses(400, "validation_unknown_parameter");
        assert_eq!(params, &json!({"field": field}), "{field}");
    }
}

/// Even beside other errors: a mistyped filter never widens the result.
#[tokio::test]
async fn an_unknown_parameter_is_refused_beside_any_other() {
    let world = World::new().await;
    for query in ["limit=1&bogus=1", "bogus=1&limit=1", "limit=x&bogus=1", "bogus=1&ids=x", "ids=&bogus="] {
        assert_eq!(world.list(query).await.status, 400, "{query}");
    }
}
