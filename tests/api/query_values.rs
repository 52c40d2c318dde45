//! Parameter values of `GET /api/v1/hosts`.

use serde_json::{Value, json};
use uuid::Uuid;

use crate::common::{OFFICE, World, host};

const FORMAT: &str = "validation_invalid_format";

async fn world() -> World {
    World::with((1..=3).map(|id| host(id, OFFICE))).await
}

fn many(name: &str, count: u128, separator: &str) -> String {
    let ids: Vec<String> = (1..=count).map(|id| Uuid::from_u128(id).to_string()).collect();
    format!("{name}={}", ids.join(separator))
}

#[tokio::test]
async fn a_value_of_the_wrong_form_is_refused_by_the_name_of_its_parameter() {
    let world = world().await;
    let uuid = Uuid::from_u128(1);
    let mut rows: Vec<(&str, String)> = Vec::new();
    for field in ["network_id", "ids", "tag_ids"] {
        let bad = [
            "1",
            "x",
            "null",
            "NULL",
            "%20",
            "%00",
            "%FF",
            "%C3%28",
            "*",
            "[]",
            "'",
            "0",
            "-",
            "00000000-0000-0000-0000-00000000000",
            "00000000-0000-0000-0000-0000000000011",
            "g0000000-0000-0000-0000-000000000001",
            "00000000_0000_0000_0000_000000000001",
        ];
        rows.extend(bad.map(|value| (field, format!("{field}={value}"))));
        rows.push((field, format!("{field}=%20{uuid}")));
        rows.push((field, format!("{field}={uuid}%20")));
        rows.push((field, format!("{field}={uuid};{uuid}")));
        rows.push((field, format!("{field}=\"{uuid}\"").replace('"', "%22")));
    }
    for field in ["ids", "tag_ids"] {
        for value in [
            ",",
            ",,",
            "%2C",
            &format!("{uuid},"),
            &format!(",{uuid}"),
            &format!("{uuid},,{uuid}"),
            &format!("{uuid},x"),
            &format!("{uuid},%20{uuid}"),
            &format!("{uuid}|{uuid}"),
        ] {
            rows.push((field, format!("{field}={value}")));
        }
        rows.push((field, format!("{field}={uuid}&{field}=x")));
        rows.push((field, format!("{field}=x&{field}={uuid}")));
    }
    for field in ["group_by", "order_by"] {
        let bad = [
            "x",
            "null",
            "id",
            "Name",
            "NAME",
            "createdAt",
            "CreatedAt",
            "created_at,name",
            "-name",
            "name%20",
            "%20name",
            "name%00",
            "description",
            "ip",
            "hosts.name",
            "0",
        ];
        rows.extend(bad.map(|value| (field, format!("{field}={value}"))));
    }
    let bad = ["x", "null", "ASC", "Desc", "ascending", "descending", "1", "-1", "asc%20", "asc,desc"];
    rows.extend(bad.map(|value| ("order_direction", format!("order_direction={value}"))));
    for field in ["limit", "offset"] {
        let bad = [
            "-1",
            "-0",
            "1.5",
            "1.0",
            "1e2",
            "0x10",
            "x",
            "null",
            "true",
            "NaN",
            "inf",
            "+5",
            "%2B5",
            "%205",
            "5%20",
            "1_000",
            "1,000",
            "%D9%A3",
            "%EF%BC%91",
            "5%00",
            "-99999999999999999999",
            "''",
            "--5",
            "-",
        ];
        rows.extend(bad.map(|value| (field, format!("{field}={value}"))));
    }
    for (field, query) in rows {
        let reply = world.list(&query).await;
        assert_eq!(reply.refuses(400, FORMAT), &json!({"field": field}), "{query}");
    }
}

#[tokio::test]
async fn a_scalar_may_be_given_once() {
    let world = world().await;
    for (field, value) in [
        ("network_id", OFFICE.to_string()),
        ("group_by", "name".into()),
        ("order_by", "name".into()),
        ("order_direction", "asc".into()),
        ("limit", "5".into()),
        ("offset", "0".into()),
    ] {
        for query in [
            format!("{field}={value}&{field}={value}"),
            format!("{field}={value}&ids=&{field}=x"),
            format!("{field}=x&{field}={value}"),
        ] {
            let reply = world.list(&query).await;
            assert_eq!(reply.refuses(400, FORMAT), &json!({"field": field}), "{query}");
        }
        // An empty value counts as absent, so these give it once.
        for query in [format!("{field}=&{field}={value}"), format!("{field}={value}&{field}&{field}=")] {
            assert_eq!(world.ids(&query).await, [1, 2, 3], "{query}");
        }
    }
}

#[tokio::test]
async fn a_number_beyond_its_bounds_is_refused_and_never_capped() {
    let world = world().await;
    let huge = "9".repeat(400);
    for (field, value, max) in [
        ("limit", "1001", 1000_u32),
        ("limit", "2147483647", 1000),
        ("limit", "2147483648", 1000),
        ("limit", "4294967296", 1000),
        ("limit", "4294967297", 1000),
        ("limit", "18446744073709551617", 1000),
        ("limit", &huge, 1000),
        ("offset", "2147483648", 2_147_483_647),
        ("offset", "4294967296", 2_147_483_647),
        ("offset", "18446744073709551616", 2_147_483_647),
        ("offset", &huge, 2_147_483_647),
    ] {
        let reply = world.list(&format!("{field}={value}")).await;
        let params = reply.refuses(400, "validation_out_of_range");
        assert_eq!(params, &json!({"field": field, "min": 0, "max": max}), "{field}={value}");
    }
}

#[tokio::test]
async fn numbers_within_their_bounds_are_applied_and_told() {
    let world = world().await;
    for (query, ids, limit, offset) in [
        ("limit=0", &[1, 2, 3][..], 0, 0),
        ("limit=1", &[1], 1, 0),
        ("limit=3", &[1, 2, 3], 3, 0),
        ("limit=1000", &[1, 2, 3], 1000, 0),
        ("limit=999", &[1, 2, 3], 999, 0),
        ("limit=%31", &[1], 1, 0),
        ("offset=0", &[1, 2, 3], 50, 0),
        ("offset=1", &[2, 3], 50, 1),
        ("offset=3", &[], 50, 3),
        ("offset=2147483647", &[], 50, 2_147_483_647),
        ("limit=0&offset=2147483647", &[], 0, 2_147_483_647),
        ("limit=1000&offset=2147483647", &[], 1000, 2_147_483_647),
        ("limit=0&offset=2", &[3], 0, 2),
        ("limit=1&offset=1", &[2], 1, 1),
    ] {
        let reply = world.list(query).await;
        assert_eq!(reply.ids(), ids, "{query}");
        let has_more = query == "limit=1" || query == "limit=%31" || query == "limit=1&offset=1";
        let expected = json!({"total_count": 3, "limit": limit, "offset": offset, "has_more": has_more});
        assert_eq!(reply.json["meta"]["pagination"], expected, "{query}");
    }
}

#[tokio::test]
async fn an_empty_value_counts_as_absent() {
    let world = world().await;
    let plain = world.list("").await;
    for field in
        ["network_id", "ids", "tag_ids", "group_by", "order_by", "order_direction", "limit", "offset"]
    {
        for query in [field.to_owned(), format!("{field}="), format!("{field}=&{field}&{field}=")] {
            assert_eq!(world.list(&query).await.body, plain.body, "{query}");
        }
    }
    for query in ["&", "&&&", "&limit=&", "ids=&tag_ids=&network_id="] {
        assert_eq!(world.list(query).await.body, plain.body, "{query}");
    }
    let only_two = format!("ids=&ids={}&ids=", Uuid::from_u128(2));
    assert_eq!(world.ids(&only_two).await, [2]);
}

#[tokio::test]
async fn up_to_a_thousand_ids_are_taken() {
    let world = world().await;
    for name in ["ids", "tag_ids"] {
        let found: &[u128] = if name == "ids" { &[1, 2, 3] } else { &[] };
        for query in [
            many(name, 1000, ","),
            many(name, 1000, "%2C"),
            many(name, 1000, &format!("&{name}=")),
            format!("{}&{name}=", many(name, 1000, ",")),
        ] {
            assert_eq!(world.ids(&query).await, found);
        }
        for query in [
            many(name, 1001, ","),
            many(name, 1001, &format!("&{name}=")),
            format!("{}&{name}={}", many(name, 1000, ","), Uuid::from_u128(1)),
            many(name, 1500, ","),
        ] {
            let reply = world.list(&query).await;
            let params = reply.refuses(400, "validation_max_length");
            assert_eq!(params, &json!({"field": name, "max": 1000}));
        }
    }
}

#[tokio::test]
async fn names_and_values_are_percent_decoded() {
    let world = world().await;
    for query in
        ["%6Cimit=1", "%6c%69%6d%69%74=%31", "limit=1&%6Frder_by=n%61me", "limit=1&order_direction=%61%73%63"]
    {
        assert_eq!(world.ids(query).await, [1], "{query}");
    }
}

#[tokio::test]
async fn a_uuid_is_read_in_all_its_forms() {
    let world = world().await;
    let id = Uuid::from_u128(0xabcd_ef01_2345_4678_9abc_def0_1234_5678);
    world.put([host(id.as_u128(), OFFICE)]).await;
    for form in [
        id.to_string(),
        id.to_string().to_uppercase(),
        id.simple().to_string(),
        id.simple().to_string().to_uppercase(),
        id.urn().to_string(),
        format!("%7B{id}%7D"),
    ] {
        assert_eq!(world.ids(&format!("ids={form}")).await, [id.as_u128()], "{form}");
    }
    for form in [OFFICE.simple().to_string(), OFFICE.urn().to_string()] {
        assert_eq!(world.ids(&format!("network_id={form}")).await.len(), 4, "{form}");
    }
    let shown: Value = world.list(&format!("ids={}", id.simple())).await.json["data"][0]["id"].clone();
    assert_eq!(shown, id.to_string());
}
