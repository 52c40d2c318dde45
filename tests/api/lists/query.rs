//! Parameter names and values of `GET /api/v1/hosts`.

use serde_json::json;
use uuid::Uuid;

use crate::backend::run_with;
use crate::common::{Fixture, OFFICE, host};

const FORMAT: &str = "validation_invalid_format";

async fn fixture() -> Fixture {
    Fixture::with((1..=3).map(|id| host(id, OFFICE))).await
}

fn many(name: &str, count: u128, separator: &str) -> String {
    let ids: Vec<String> = (1..=count).map(|id| Uuid::from_u128(id).to_string()).collect();
    format!("{name}={}", ids.join(separator))
}

#[test]
fn malformed_value_is_refused_with_its_parameter() {
    run_with(fixture, async |fixture| {
        let uuid = Uuid::from_u128(1);
        let mut rows: Vec<(&str, String)> = Vec::new();
        for field in ["network_id", "ids", "tag_ids"] {
            let bad = "1 x null NULL %20 %00 %FF %C3%28 * [] ' 0 - 00000000-0000-0000-0000-00000000000 \
                   00000000-0000-0000-0000-0000000000011 g0000000-0000-0000-0000-000000000001 \
                   00000000_0000_0000_0000_000000000001";
            rows.extend(bad.split(' ').map(|value| (field, format!("{field}={value}"))));
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
            let bad = "x null id Name NAME createdAt CreatedAt created_at,name -name name%20 %20name \
                   name%00 description ip hosts.name 0";
            rows.extend(bad.split(' ').map(|value| (field, format!("{field}={value}"))));
        }
        let bad = "x null ASC Desc ascending descending 1 -1 asc%20 asc,desc";
        rows.extend(bad.split(' ').map(|value| ("order_direction", format!("order_direction={value}"))));
        // Text of another encoding finds nothing, and a script would create what exists.
        for field in ["name", "search", "hostname"] {
            rows.push((field, format!("{field}=B%FCro")));
        }
        for field in ["limit", "offset"] {
            let bad = "-1 -0 1.5 1.0 1e2 0x10 x null true NaN inf +5 %2B5 %205 5%20 1_000 1,000 %D9%A3 \
                   %EF%BC%91 5%00 -99999999999999999999 '' --5 -";
            rows.extend(bad.split(' ').map(|value| (field, format!("{field}={value}"))));
        }
        for (field, query) in rows {
            let reply = fixture.list(&query).await;
            assert_eq!(reply.refuses(400, FORMAT), &json!({"field": field}), "{query}");
        }
    });
}

#[test]
fn scalar_given_twice_is_refused() {
    run_with(fixture, async |fixture| {
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
                let reply = fixture.list(&query).await;
                assert_eq!(reply.refuses(400, FORMAT), &json!({"field": field}), "{query}");
            }
            // An empty value counts as absent, so these give it once.
            for query in [format!("{field}=&{field}={value}"), format!("{field}={value}&{field}&{field}=")] {
                assert_eq!(fixture.ids(&query).await, [1, 2, 3], "{query}");
            }
        }
    });
}

#[test]
fn number_beyond_its_bounds_is_refused() {
    run_with(fixture, async |fixture| {
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
            let reply = fixture.list(&format!("{field}={value}")).await;
            let params = reply.refuses(400, "validation_out_of_range");
            assert_eq!(params, &json!({"field": field, "min": 0, "max": max}), "{field}={value}");
        }
    });
}

#[test]
fn numbers_within_their_bounds_apply() {
    run_with(fixture, async |fixture| {
        for (query, ids, limit, offset) in [
            ("limit=0", &[1, 2, 3][..], 0, 0),
            ("limit=1", &[1], 1, 0),
            ("limit=3", &[1, 2, 3], 3, 0),
            ("limit=1000", &[1, 2, 3], 1000, 0),
            ("limit=999", &[1, 2, 3], 999, 0),
            ("limit=%31", &[1], 1, 0),
            ("%6c%69%6d%69%74=%31", &[1], 1, 0),
            ("limit=1&%6Frder_by=n%61me", &[1], 1, 0),
            ("limit=1&order_direction=%61%73%63", &[1], 1, 0),
            ("offset=0", &[1, 2, 3], 50, 0),
            ("offset=1", &[2, 3], 50, 1),
            ("offset=3", &[], 50, 3),
            ("offset=2147483647", &[], 50, 2_147_483_647),
            ("limit=0&offset=2147483647", &[], 0, 2_147_483_647),
            ("limit=1000&offset=2147483647", &[], 1000, 2_147_483_647),
            ("limit=0&offset=2", &[3], 0, 2),
            ("limit=1&offset=1", &[2], 1, 1),
        ] {
            let reply = fixture.list(query).await;
            assert_eq!(reply.ids(), ids, "{query}");
            let has_more = limit == 1;
            let expected = json!({"total_count": 3, "limit": limit, "offset": offset, "has_more": has_more});
            assert_eq!(reply.json["meta"]["pagination"], expected, "{query}");
        }
    });
}

#[test]
fn an_empty_value_counts_as_absent() {
    run_with(fixture, async |fixture| {
        let plain = fixture.list("").await;
        for field in
            ["network_id", "ids", "tag_ids", "group_by", "order_by", "order_direction", "limit", "offset"]
        {
            for query in [field.to_owned(), format!("{field}="), format!("{field}=&{field}&{field}=")] {
                assert_eq!(fixture.list(&query).await.body, plain.body, "{query}");
            }
        }
        for query in ["&", "&&&", "&limit=&", "ids=&tag_ids=&network_id="] {
            assert_eq!(fixture.list(query).await.body, plain.body, "{query}");
        }
        let only_two = format!("ids=&ids={}&ids=", Uuid::from_u128(2));
        assert_eq!(fixture.ids(&only_two).await, [2]);
    });
}

#[test]
fn more_than_a_thousand_ids_are_refused() {
    run_with(fixture, async |fixture| {
        for name in ["ids", "tag_ids"] {
            let found: &[u128] = if name == "ids" { &[1, 2, 3] } else { &[] };
            for query in [
                many(name, 1000, ","),
                many(name, 1000, "%2C"),
                many(name, 1000, &format!("&{name}=")),
                format!("{}&{name}=", many(name, 1000, ",")),
            ] {
                assert_eq!(fixture.ids(&query).await, found);
            }
            for query in [
                many(name, 1001, ","),
                many(name, 1001, &format!("&{name}=")),
                format!("{}&{name}={}", many(name, 1000, ","), Uuid::from_u128(1)),
                many(name, 1500, ","),
                format!("{name}={}", vec![Uuid::nil().to_string(); 1001].join(",")),
            ] {
                let reply = fixture.list(&query).await;
                let params = reply.refuses(400, "validation_max_length");
                assert_eq!(params, &json!({"field": name, "max": 1000}));
            }
        }
    });
}

#[test]
fn unknown_parameter_is_refused_with_its_name() {
    run_with(Fixture::new, async |fixture| {
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
            ("hide=true", "hide"),
            ("organization_id=1", "organization_id"),
            ("order_by.name=1", "order_by.name"),
            ("limit=1&gr%C3%B6%C3%9Fe=1", "größe"),
            ("limit=1;offset=1&b=1", "b"),
            ("?limit=1", "?limit"),
            ("limit%00=1", "limit\0"),
            ("li%FFmit=1", "li\u{fffd}mit"),
            (&long, &long),
        ] {
            let reply = fixture.list(query).await;
            let params = reply.refuses(400, "validation_unknown_parameter");
            assert_eq!(params, &json!({"field": field}), "{field}");
        }
        // Beside other errors too: a mistyped filter never widens the result.
        for query in ["limit=1&bogus=1", "bogus=1&limit=1", "limit=x&bogus=1", "bogus=1&ids=x", "ids=&bogus="]
        {
            assert_eq!(fixture.list(query).await.status, 400, "{query}");
        }
    });
}

#[test]
fn refusal_lists_possible_values_or_names_the_parameter_that_excludes_it() {
    run_with(fixture, async |fixture| {
        for (query, field, sentence) in [
            ("order_by=foo", "order_by", "values: created_at, updated_at, name"),
            ("order_direction=up", "order_direction", "values: asc, desc"),
            ("fields=id,nam", "fields", "values in the description of the API"),
        ] {
            let reply = fixture.list(query).await;
            assert_eq!(reply.refuses(400, FORMAT)["field"], field);
            let error = reply.json["error"].as_str().unwrap();
            assert!(error.contains(sentence), "{error}");
        }
        let first = fixture.list("limit=1&cursor=").await;
        let cursor = first.json["meta"]["pagination"]["next_cursor"].as_str().unwrap();
        let reply = fixture.list(&format!("cursor={cursor}&offset=1")).await;
        assert_eq!(reply.refuses(400, FORMAT)["field"], "cursor");
        assert!(reply.json["error"].as_str().unwrap().contains("`offset`"), "{}", reply.json);
    });
}
