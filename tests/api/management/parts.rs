//! Interfaces, ports, services and interface entries, one by one.

use std::time::Duration;

use super::*;

struct Part {
    path: &'static str,
    entity: &'static str,
    /// The field of the host with the parts.
    list: &'static str,
    /// A body without host and network; the field in it that distinguishes
    /// parts.
    body: Value,
    distinct: &'static str,
    required: &'static [&'static str],
    changes: Vec<(&'static str, Value)>,
}

fn parts() -> [Part; 4] {
    [
        Part {
            path: "/api/v1/interfaces",
            entity: "Interface",
            list: "interfaces",
            body: json!({"ip_address": "192.0.2.1", "name": "eth0", "mac_address": "00:1B:21:3C:4D:5E", "position": 3}),
            distinct: "name",
            required: &["ip_address"],
            changes: vec![
                ("ip_address", json!("2001:db8::1")),
                ("name", Value::Null),
                ("position", json!(4)),
            ],
        },
        Part {
            path: "/api/v1/ports",
            entity: "Port",
            list: "ports",
            body: json!({"number": 80, "protocol": "Tcp"}),
            distinct: "number",
            required: &["number", "protocol"],
            changes: vec![("number", json!(443)), ("protocol", json!("Udp"))],
        },
        Part {
            path: "/api/v1/services",
            entity: "Service",
            list: "services",
            body: json!({"name": "web", "service_definition": "Nginx", "position": 3}),
            distinct: "name",
            required: &["name", "service_definition"],
            changes: vec![("service_definition", json!("Caddy")), ("source", json!({"type": "System"}))],
        },
        Part {
            path: "/api/v1/if-entries",
            entity: "If Entry",
            list: "if_entries",
            body: json!({"if_index": 7, "if_descr": "Gi0/7", "if_name": "7", "oper_status": "Up"}),
            distinct: "if_index",
            required: &["if_index", "if_descr"],
            changes: vec![
                ("if_descr", json!("")),
                ("oper_status", Value::Null),
                ("speed_bps", json!(u64::MAX)),
            ],
        },
    ]
}

impl Part {
    fn body(&self, host: &Value) -> Value {
        let owner = [("host_id", &host["id"]), ("network_id", &host["network_id"])];
        owner.into_iter().fold(self.body.clone(), |body, (field, id)| with(&body, field, id.clone()))
    }

    fn numbered(&self, host: &Value, number: usize) -> Value {
        let is_text = self.body[self.distinct].is_string();
        let value = if is_text { json!(format!("{:03}", number * 7 % 10)) } else { json!(number + 1) };
        with(&self.body(host), self.distinct, value)
    }
}

/// Runs a test for each kind of part with a new host.
#[allow(clippy::needless_pass_by_value, reason = "tests pass closures")]
fn for_each(test: impl AsyncFn(&Fixture, &Part, Value)) {
    run(async || {
        for part in parts() {
            let fixture = Fixture::new().await;
            let host = fixture.post(HOSTS, &host_body()).await;
            test(&fixture, &part, host).await;
        }
    });
}

#[test]
fn part_is_created_read_listed_changed_and_deleted_with_its_host() {
    for_each(async |fixture, part, host| {
        let tick = || fixture.clock.advance(Duration::from_secs(1));
        let stored = async || fixture.read(&path_of(HOSTS, &host)).await;
        tick();
        let body = part.body(&host);
        let ignored = with(&with(&body, "id", NOBODY.to_string()), "created_at", "x");
        let created = fixture.post(part.path, &ignored).await;
        for (field, value) in body.as_object().unwrap() {
            assert_eq!(created[field], *value, "{field} of a {}", part.entity);
        }
        assert_ne!(created["id"], json!(NOBODY));
        let path = path_of(part.path, &created);
        let mut record = created;
        for (field, value) in &part.changes {
            assert_eq!(stored().await[part.list], json!([record]));
            assert_eq!(stored().await["updated_at"], record["updated_at"]);
            assert_eq!(fixture.read(&path).await, record);
            let listed =
                fixture.read(&format!("{}?host_id={}", part.path, host["id"].as_str().unwrap())).await;
            assert_eq!(listed, json!([record]));
            tick();
            let least =
                part.required.iter().fold(with(&json!({}), "host_id", host["id"].clone()), |body, field| {
                    with(&body, field, record[*field].clone())
                });
            let least = with(&least, "network_id", json!(OFFICE));
            let changed = fixture.ask(send_json("PUT", &path, &with(&least, field, value.clone()))).await;
            let mut expected = with(&record, field, value.clone());
            for set in ["updated_at", "type"].into_iter().filter(|set| record.get(*set).is_some()) {
                expected[set] = changed.data()[set].clone();
            }
            assert_eq!(*changed.data(), expected, "{field} of a {}", part.entity);
            assert_ne!(changed.data()["updated_at"], record["updated_at"]);
            record = expected;
        }
        tick();
        assert_eq!(*fixture.ask(bare("DELETE", &path)).await.data(), json!({}));
        assert_eq!(stored().await[part.list], json!([]));
        assert_ne!(stored().await["updated_at"], record["updated_at"]);
        let gone = json!({"entity": part.entity, "id": record["id"]});
        for request in [bare("DELETE", &path), get(&path), send_json("PUT", &path, &record)] {
            assert_eq!(*fixture.ask(request).await.refuses(404, "entity_not_found"), gone);
        }
    });
}

#[test]
fn required_fields_of_a_part_are_named() {
    for_each(async |fixture, part, host| {
        let record = fixture.post(part.path, &part.body(&host)).await;
        let path = path_of(part.path, &record);
        for field in ["host_id", "network_id"].iter().chain(part.required) {
            let body = without(&part.body(&host), field);
            let reply = fixture.ask(send_json("POST", part.path, &body)).await;
            assert_eq!(*reply.refuses(400, "validation_required"), json!({"field": field}));
            let reply = fixture.ask(send_json("PUT", &path, &body)).await;
            if part.path != "/api/v1/ports" && ["host_id", "network_id"].contains(field) {
                assert_eq!(reply.data()[*field], record[*field], "an update keeps the {field}");
            } else {
                assert_eq!(*reply.refuses(400, "validation_required"), json!({"field": field}));
            }
        }
        for query in ["limit=1001", "offset=x", "order_by=id", "network_id=x", "tag_ids=x"] {
            for host in [format!("host_id={NOBODY}&"), String::new()] {
                let reply = fixture.ask(get(&format!("{}?{host}{query}", part.path))).await;
                assert_eq!(reply.json["params"]["field"], query.split('=').next().unwrap());
            }
        }
        assert_eq!(fixture.read(&format!("{}?host_id={NOBODY}", part.path)).await, json!([]));
    });
}

#[test]
fn fault_of_a_part_is_reported_before_what_the_records_say() {
    for_each(async |fixture, part, host| {
        let (long, ids) = ("x".repeat(65_537), vec![NOBODY; 1_001]);
        let lldp = json!({"subtype": "MacAddress", "value": long});
        let docker = json!({"container_name": null, "container_id": long, "service_id": NOBODY});
        let deep = (0..70).fold(json!(1), |value, _| json!([value]));
        let (max, format) = ("validation_max_length", "validation_invalid_format");
        let rows = match part.list {
            "interfaces" => vec![
                ("ip_address", json!("x"), format, "ip_address"),
                ("mac_address", json!("00:1B"), format, "mac_address"),
                ("subnet_id", json!("x"), format, "subnet_id"),
                ("position", json!("1"), format, "position"),
                ("name", json!(long), max, "name"),
            ],
            "ports" => vec![
                ("number", json!(0), "validation_out_of_range", "number"),
                ("protocol", json!({"Tcp": null}), format, "protocol"),
            ],
            "services" => vec![
                ("service_definition", json!(""), format, "service_definition"),
                ("service_definition", json!(long), max, "service_definition"),
                ("name", json!(long), max, "name"),
                ("tags", json!(ids), max, "tags"),
                ("bindings", json!([{"type": "Port"}]), format, "bindings.0"),
                (
                    "source",
                    json!({"type": "Discovery", "metadata": [{"a": deep}]}),
                    format,
                    "source.metadata",
                ),
                (
                    "virtualization",
                    json!({"type": "Docker", "details": docker}),
                    max,
                    "virtualization.details.container_id",
                ),
            ],
            _ => vec![
                ("if_descr", json!(long), max, "if_descr"),
                ("if_alias", json!(long), max, "if_alias"),
                ("cdp_platform", json!(long), max, "cdp_platform"),
                ("lldp_chassis_id", lldp.clone(), max, "lldp_chassis_id.value"),
                ("lldp_port_id", lldp, max, "lldp_port_id.value"),
                ("oper_status", json!("Gone"), format, "oper_status"),
                ("admin_status", json!({"Up": null}), format, "admin_status"),
                ("vlans", json!([1, [2]]), format, "vlans"),
                ("vlans", json!({"tagged": vec![1; 4_097]}), max, "vlans.tagged"),
                ("speed_bps", json!(-1), format, "speed_bps"),
            ],
        };
        let record = fixture.post(part.path, &part.body(&host)).await;
        let elsewhere = with(&part.body(&host), "host_id", NOBODY.to_string());
        for (field, value, code, path) in rows {
            let body = with(&part.body(&host), field, value.clone());
            for request in [
                send_json("POST", part.path, &with(&elsewhere, field, value)),
                send_json("PUT", &format!("{}/{NOBODY}", part.path), &body),
                with_header(send_json("PUT", &path_of(part.path, &record), &body), "if-match", "\"other\""),
            ] {
                let reply = fixture.ask(request).await;
                assert_eq!(reply.refuses(400, code)["field"], path, "{field}");
            }
        }
        assert_eq!(fixture.read(&path_of(part.path, &record)).await, record);
    });
}

#[test]
fn null_and_ignored_fields_of_a_new_part_count_as_missing() {
    for_each(async |fixture, part, host| {
        let body = ["position", "source", "tags", "bindings"]
            .iter()
            .fold(part.body(&host), |body, field| with(&body, field, Value::Null));
        fixture.post(part.path, &with(&body, "id", "no id")).await;
    });
}

#[test]
fn parts_are_filtered_by_network_and_services_by_tag() {
    for_each(async |fixture, part, host| {
        let [tag, other, unused] = fixture.home.tags;
        let mut records = Vec::new();
        for number in 0..3 {
            fixture.clock.advance(Duration::from_secs(1));
            let tags = [json!([tag]), json!([other]), json!([])][number].clone();
            records.push(fixture.post(part.path, &with(&part.numbered(&host, number), "tags", tags)).await);
        }
        let path = format!("{}?host_id={}&order_by=created_at", part.path, host["id"].as_str().unwrap());
        let listed = async |filter: &str| fixture.ask(get(&format!("{path}&{filter}"))).await;
        assert_eq!(*listed(&format!("network_id={OFFICE}")).await.data(), json!(records));
        for network in [LAB, NOBODY.into(), ELSEWHERE] {
            let reply = listed(&format!("network_id={network}")).await;
            assert_eq!((reply.data(), reply.total()), (&json!([]), 0));
        }
        listed("network_id=x").await.refuses(400, "validation_invalid_format");
        if part.list != "services" {
            let refused = listed(&format!("tag_ids={tag}")).await;
            refused.refuses(400, "validation_unknown_parameter");
            return;
        }
        let rows = [(format!("{tag}"), 0..1), (format!("{tag},{other}"), 0..2), (format!("{unused}"), 0..0)];
        for (tags, expected) in rows {
            let reply = listed(&format!("tag_ids={tags}&network_id={OFFICE}&limit=0")).await;
            assert_eq!(*reply.data(), json!(records[expected.clone()]), "{tags}");
            assert_eq!(reply.total(), expected.len() as u64);
        }
        let first = listed(&format!("tag_ids={tag},{other}&limit=1&cursor=")).await;
        let cursor = first.json["meta"]["pagination"]["next_cursor"].as_str().unwrap();
        let second = listed(&format!("tag_ids={tag},{other}&limit=1&cursor={cursor}")).await;
        assert_eq!(*second.data(), json!([records[1]]));
        let of_another_list = listed(&format!("tag_ids={tag}&limit=1&cursor={cursor}")).await;
        of_another_list.refuses(400, "validation_invalid_format");
    });
}

#[test]
fn parts_are_listed_in_order_page_by_page() {
    for_each(async |fixture, part, host| {
        for number in 0..5 {
            fixture.clock.advance(Duration::from_secs(1));
            fixture.post(part.path, &part.numbered(&host, number)).await;
        }
        let orders: &[&str] = if part.list == "ports" { &["created_at"] } else { &["created_at", "name"] };
        for (order, direction) in orders.iter().flat_map(|order| [(order, "asc"), (order, "desc")]) {
            let host = host["id"].as_str().unwrap();
            let query = format!("{}?host_id={host}&order_by={order}&order_direction={direction}", part.path);
            let whole = fixture.ask(get(&format!("{query}&limit=0"))).await;
            let whole = whole.data().as_array().unwrap();
            let order = if part.list == "if_entries" && **order == *"name" { "if_name" } else { order };
            let key = |part: &Value| part[order].to_string();
            let is_sorted = whole.is_sorted_by(|left, right| {
                if direction == "asc" { key(left) <= key(right) } else { key(left) >= key(right) }
            });
            assert!(is_sorted && whole.len() == 5, "{query}: {whole:?}");
            let (mut cursor, mut found) = (String::new(), Vec::new());
            for offset in [0, 2, 4] {
                let page = fixture.ask(get(&format!("{query}&limit=2&offset={offset}"))).await;
                assert_eq!(
                    (page.data().as_array().unwrap().as_slice(), page.total()),
                    (&whole[offset..whole.len().min(offset + 2)], 5)
                );
                let page = fixture.ask(get(&format!("{query}&limit=2&cursor={cursor}"))).await;
                found.extend(page.data().as_array().unwrap().clone());
                cursor = page.json["meta"]["pagination"]["next_cursor"].as_str().unwrap_or("end").to_owned();
            }
            assert_eq!((found.as_slice(), cursor.as_str()), (whole.as_slice(), "end"));
            let known =
                with_header(get(&query), "if-none-match", fixture.ask(get(&query)).await.header("etag"));
            assert_eq!(fixture.ask(known).await.status, 304);
        }
    });
}

#[test]
fn part_has_a_strong_tag_for_conditional_requests() {
    for_each(async |fixture, part, host| {
        let record = fixture.post(part.path, &part.body(&host)).await;
        let path = path_of(part.path, &record);
        let tag = fixture.ask(get(&path)).await.header("etag").to_owned();
        assert_eq!(fixture.ask(with_header(get(&path), "if-none-match", &tag)).await.status, 304);
        let failed = json!({"entity": part.entity, "id": record["id"]});
        fixture.clock.advance(Duration::from_secs(1));
        let (field, value) = &part.changes[0];
        let put = send_json("PUT", &path, &with(&part.body(&host), field, value.clone()));
        assert_eq!(fixture.ask(with_header(put.clone(), "if-match", &tag)).await.status, 200);
        for request in [put, bare("DELETE", &path)] {
            let reply = fixture.ask(with_header(request, "if-match", &tag)).await;
            assert_eq!(*reply.refuses(412, "precondition_failed"), failed);
        }
    });
}

#[test]
fn parts_are_as_accessible_as_their_host() {
    for_each(async |fixture, part, host| {
        let record = fixture.post(part.path, &part.body(&host)).await;
        let path = path_of(part.path, &record);
        let body = part.numbered(&host, 3);
        let writes =
            || [send_json("POST", part.path, &body), send_json("PUT", &path, &body), bare("DELETE", &path)];
        let viewer = fixture.key(Permission::Viewer, &[OFFICE]).await;
        let stranger = fixture.key(Permission::Member, &[LAB]).await;
        let denied = json!({"entity": "Network", "id": OFFICE});
        for request in writes() {
            fixture.send(with_key(request.clone(), &viewer)).await.refuses(403, "auth_permission_denied");
            let reply = fixture.send(with_key(request, &stranger)).await;
            assert_eq!(*reply.refuses(403, "entity_access_denied"), denied);
        }
        assert_eq!(*fixture.send(with_key(get(&path), &viewer)).await.data(), record);
        fixture.send(with_key(get(&path), &stranger)).await.refuses(403, "entity_access_denied");
        let list = format!("{}?host_id={}", part.path, host["id"].as_str().unwrap());
        assert_eq!(fixture.send(with_key(get(&list), &stranger)).await.total(), 0);
        assert_eq!(fixture.ask_abroad(get(&list)).await.total(), 0);
        for request in [get(&path), send_json("PUT", &path, &body), bare("DELETE", &path)] {
            fixture.ask_abroad(request).await.refuses(404, "entity_not_found");
        }
        let rows = [
            ("network_id", LAB.uuid(), "entity_network_mismatch", json!({"entity": "Host"})),
            (
                "network_id",
                NOBODY,
                "entity_reference_invalid",
                json!({"entity": "Network", "field": "network_id"}),
            ),
            ("host_id", NOBODY, "entity_reference_invalid", json!({"entity": "Host", "field": "host_id"})),
        ];
        for (field, id, code, params) in rows {
            let body = with(&body, field, id.to_string());
            for request in [send_json("POST", part.path, &body), send_json("PUT", &path, &body)] {
                assert_eq!(*fixture.ask(request).await.refuses(400, code), params);
            }
        }
    });
}

#[test]
fn part_in_use_cannot_be_deleted() {
    run_new(async |fixture| {
        let [one, two] = ["00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"];
        let service = json!({
            "id": one,
            "name": "web",
            "service_definition": "Docker",
            "bindings": [{"type": "Port", "port_id": one, "interface_id": one}],
        });
        let container = json!({"type": "Docker", "details": {"service_id": one}});
        let guest = json!({"name": "guest", "service_definition": "x", "virtualization": container});
        let mut body = host_body();
        body["interfaces"] =
            json!([{"id": one, "ip_address": "192.0.2.1"}, {"id": two, "ip_address": "192.0.2.2"}]);
        body["ports"] = json!([{"id": one, "number": 80, "protocol": "Tcp"}]);
        body["services"] = json!([service, guest]);
        body["if_entries"] = json!([{"if_index": 1, "if_descr": "", "interface_id": two}]);
        let host = fixture.post(HOSTS, &body).await;
        let rows = [
            ("/api/v1/interfaces", &host["interfaces"][0], "Interface", "192.0.2.1", "Service"),
            ("/api/v1/interfaces", &host["interfaces"][1], "Interface", "192.0.2.2", "If Entry"),
            ("/api/v1/ports", &host["ports"][0], "Port", "80/Tcp", "Service"),
            ("/api/v1/services", &host["services"][0], "Service", "web", "Service"),
        ];
        for (path, part, entity, name, used_by) in rows {
            let reply = fixture.ask(bare("DELETE", &path_of(path, part))).await;
            let in_use = json!({"entity": entity, "name": name, "used_by": used_by});
            assert_eq!(*reply.refuses(409, "entity_in_use"), in_use);
        }
        // In the opposite order, nothing is in use any more.
        fixture.ask(bare("DELETE", &path_of("/api/v1/if-entries", &host["if_entries"][0]))).await.data();
        fixture.ask(bare("DELETE", &path_of("/api/v1/services", &host["services"][1]))).await.data();
        for (path, part, ..) in rows.iter().rev() {
            assert_eq!(fixture.ask(bare("DELETE", &path_of(path, part))).await.status, 200);
        }
    });
}
