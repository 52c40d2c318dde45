//! Deletions that change other records, and what keeps a record from being deleted.

use super::*;

const SUBNETS: &str = "/api/v1/subnets";
const TAGS: &str = "/api/v1/tags";

fn subnet(cidr: &str) -> Value {
    json!({"network_id": OFFICE, "name": cidr, "cidr": cidr})
}

#[test]
fn subnets_are_found_by_an_address_in_them() {
    run_new(async |fixture| {
        for cidr in ["10.0.0.0/8", "10.1.0.0/16", "10.1.2.3/32", "0.0.0.0/0", "2001:db8::/32", "::/0"] {
            fixture.post(SUBNETS, &subnet(cidr)).await;
        }
        let rows: [(&str, &[&str]); 6] = [
            ("10.1.2.3", &["0.0.0.0/0", "10.0.0.0/8", "10.1.0.0/16", "10.1.2.3/32"]),
            ("10.2.0.0", &["0.0.0.0/0", "10.0.0.0/8"]),
            ("192.0.2.1", &["0.0.0.0/0"]),
            ("2001:db8:ffff::1", &["2001:db8::/32", "::/0"]),
            ("::1", &["::/0"]),
            ("::ffff:10.2.0.0", &["0.0.0.0/0", "10.0.0.0/8", "::/0"]),
        ];
        for (address, expected) in rows {
            let found = fixture.read(&format!("{SUBNETS}?contains={address}&order_by=name")).await;
            let found: Vec<&Value> = found.as_array().unwrap().iter().map(|subnet| &subnet["cidr"]).collect();
            assert_eq!(found, expected, "{address}");
        }
        assert_eq!(fixture.read(&format!("{SUBNETS}?contains=10.1.2.3&network_id={LAB}")).await, json!([]));
        let reply = fixture.ask(get(&format!("{SUBNETS}?contains=10.0.0.0/8"))).await;
        assert_eq!(*reply.refuses(400, "validation_invalid_format"), json!({"field": "contains"}));
    });
}

#[test]
fn addresses_of_a_subnet_are_canonical() {
    run_new(async |fixture| {
        for cidr in ["10.0.0.1/8", "10.0.0.0/33", "10.0.0.0", "2001:db8::1/64", "x", ""] {
            let body = with(&subnet("10.0.0.0/8"), "cidr", cidr);
            let reply = fixture.ask(send_json("POST", SUBNETS, &body)).await;
            assert_eq!(*reply.refuses(400, "validation_invalid_format"), json!({"field": "cidr"}));
        }
        let created = fixture.post(SUBNETS, &subnet("2001:DB8:0::/32")).await;
        assert_eq!((&created["cidr"], &created["subnet_type"]), (&json!("2001:db8::/32"), &json!("Unknown")));
        fixture.post(SUBNETS, &with(&subnet("2001:db8::/32"), "network_id", LAB.to_string())).await;
    });
}

#[test]
fn deleted_subnet_and_tag_are_removed_everywhere() {
    run_new(async |fixture| {
        let [tag, other, _] = fixture.home.tags;
        let tags = json!([tag, other]);
        let subnet = fixture.post(SUBNETS, &with(&subnet("10.0.0.0/8"), "tags", tags.clone())).await;
        let key = json!({"name": "scanner", "network_id": OFFICE, "tags": tags});
        let key = fixture.post("/api/v1/auth/daemon", &key).await["api_key"].take();
        let mut body = with(&host_body(), "tags", tags.clone());
        body["interfaces"] = json!([{"ip_address": "10.0.0.1", "subnet_id": subnet["id"]}]);
        body["services"] = json!([{"name": "web", "service_definition": "Nginx", "tags": tags}]);
        let host = fixture.post(HOSTS, &body).await;
        let count = async |query: &str| fixture.list(query).await.total();
        let filters = [format!("tag_ids={tag}"), format!("subnet_id={}", subnet["id"].as_str().unwrap())];
        assert_eq!((count(&filters[0]).await, count(&filters[1]).await), (1, 1));

        assert_eq!(fixture.ask(bare("DELETE", &format!("/api/v1/tags/{tag}"))).await.status, 200);
        let left = json!([other]);
        assert_eq!(fixture.read(&path_of(SUBNETS, &subnet)).await["tags"], left);
        assert_eq!(fixture.read(&path_of("/api/v1/auth/daemon", &key)).await["tags"], left);
        let stored = fixture.read(&path_of(HOSTS, &host)).await;
        assert_eq!((&stored["tags"], &stored["services"][0]["tags"]), (&left, &left));
        assert_eq!(fixture.ask(bare("DELETE", &path_of(SUBNETS, &subnet))).await.status, 200);
        let stored = fixture.read(&path_of(HOSTS, &host)).await;
        assert_eq!(stored["interfaces"][0]["subnet_id"], Value::Null);
        assert_eq!((count(&filters[0]).await, count(&filters[1]).await), (0, 0));
        let reply = fixture.ask(send_json("PUT", &path_of(HOSTS, &host), &body)).await;
        assert_eq!(
            *reply.refuses(400, "entity_reference_invalid"),
            json!({"entity": "Tag", "field": "tags.0"})
        );
    });
}

#[test]
fn network_is_in_use_while_anything_is_on_it() {
    run_new(async |fixture| {
        let owner = fixture.user(&fixture.home, Permission::Owner, &[]).await;
        let session = fixture.sign_in(&owner).await;
        let delete =
            || crate::common::with_session(bare("DELETE", &format!("/api/v1/networks/{OFFICE}")), &session);
        let name = fixture.read(&format!("/api/v1/networks/{OFFICE}")).await["name"].clone();
        let rows = [
            (HOSTS, host_body(), "Host"),
            (SUBNETS, subnet("10.0.0.0/8"), "Subnet"),
            ("/api/v1/shares", host_body(), "Share"),
        ];
        for (path, body, used_by) in rows {
            let record = fixture.post(path, &body).await;
            let in_use = json!({"entity": "Network", "name": name, "used_by": used_by});
            assert_eq!(*fixture.send(delete()).await.refuses(409, "entity_in_use"), in_use);
            fixture.ask(bare("DELETE", &path_of(path, &record))).await.data();
        }
        assert_eq!(*fixture.send(delete()).await.data(), json!({}));
        let reply = fixture.ask(get(&format!("/api/v1/networks/{OFFICE}"))).await;
        assert_eq!(*reply.refuses(404, "entity_not_found"), json!({"entity": "Network", "id": OFFICE}));
    });
}

/// Every error's sentence is checked for its length and for control characters.
#[test]
fn name_of_a_record_stays_readable_in_errors() {
    run_new(async |fixture| {
        let name = format!("\0 O'Brien \u{1b}[31m\u{202e} {}", "x".repeat(80));
        fixture.post(TAGS, &json!({"name": name})).await;
        let reply = fixture.ask(send_json("POST", TAGS, &json!({"name": name}))).await;
        let expected =
            format!("The Tag \\0 O'Brien \\u{{1b}}[31m\\u{{202e}} {}… already exists.", "x".repeat(34));
        assert_eq!(reply.json["error"], expected);
        assert_eq!(reply.refuses(409, "entity_already_exists")["name"], json!(name));
    });
}

/// Creates a node whose service virtualizes a host and a service of another host. Returns the node and both guests.
async fn node_with_guests(fixture: &Fixture) -> [Value; 3] {
    let node =
        with(&host_body(), "services", json!([{"name": "hypervisor", "service_definition": "Proxmox"}]));
    let node = fixture.post(HOSTS, &node).await;
    let service = &node["services"][0]["id"];
    let by = json!({"type": "Proxmox", "details": {"vm_name": null, "vm_id": null, "service_id": service}});
    let guest = fixture.post(HOSTS, &with(&host_body(), "virtualization", by)).await;
    let by = json!({"type": "Docker", "details": {"service_id": service}});
    let container = json!({"name": "container", "service_definition": "Nginx", "virtualization": by});
    let pod = fixture.post(HOSTS, &with(&host_body(), "services", json!([container]))).await;
    [node, guest, pod]
}

#[test]
fn virtualizing_service_is_in_use_whichever_request_removes_it() {
    run_new(async |fixture| {
        let [node, guest, pod] = node_with_guests(&fixture).await;
        let path = path_of(HOSTS, &node);
        let emptied = with(&node, "services", json!([]));
        let bulk = |is_atomic: bool| json!({"hosts": [host_body(), emptied], "atomic": is_atomic});
        let (stored, total) = (fixture.read(&path).await, fixture.list("").await.total());
        for used_by in ["Host", "Service"] {
            let in_use = json!({"entity": "Service", "name": "hypervisor", "used_by": used_by});
            let in_list = with(&in_use, "field", "services");
            let in_bulk = with(&in_use, "field", "hosts.1.services");
            let rows = [
                (send_json("PATCH", &path, &json!({"services": []})), &in_list),
                (send_json("PUT", &path, &emptied), &in_list),
                (bare("DELETE", &path), &in_use),
                (send_json("POST", "/api/v1/hosts/bulk-delete", &json!([node["id"]])), &in_use),
                (bare("DELETE", &path_of("/api/v1/services", &node["services"][0])), &in_use),
                (send_json("POST", "/api/v1/hosts/bulk", &bulk(true)), &in_bulk),
            ];
            for (request, params) in rows {
                let shown = format!("{} {}", request.method(), request.uri());
                assert_eq!(fixture.ask(request).await.refuses(409, "entity_in_use"), params, "{shown}");
            }
            let target = format!("/api/v1/hosts/import?network_id={OFFICE}");
            let line =
                with_header(send_json("POST", &target, &emptied), "content-type", "application/x-ndjson");
            let report = fixture.ask(line).await.refuses(400, "import_refused")["report"].clone();
            assert_eq!(report["refusals"][0]["field"], "services", "{report}");
            assert_eq!(fixture.list("").await.total(), total);
            // The container remains, once the virtual machine is none any more.
            fixture
                .ask(send_json("PATCH", &path_of(HOSTS, &guest), &json!({"virtualization": null})))
                .await
                .data();
        }
        let results = fixture.post("/api/v1/hosts/bulk", &bulk(false)).await;
        assert_eq!((&results[0]["outcome"], &results[1]["outcome"]), (&json!("created"), &json!("failed")));
        assert_eq!(results[1]["error"]["params"]["field"], "hosts.1.services");
        assert_eq!(fixture.read(&path).await, stored);
        fixture.ask(bare("DELETE", &path_of(HOSTS, &pod))).await.data();
        fixture.ask(bare("DELETE", &path)).await.data();
    });
}

#[test]
fn virtualizing_service_is_removed_or_moved_together_with_all_that_it_virtualizes() {
    run_new(async |fixture| {
        let [node, guest, pod] = node_with_guests(&fixture).await;
        let mut heir = fixture.post(HOSTS, &host_body()).await;
        heir["services"] = node["services"].clone();
        let hosts = json!([with(&node, "services", json!([])), heir]);
        fixture.post("/api/v1/hosts/bulk", &json!({"hosts": hosts})).await;
        let heir = fixture.read(&path_of(HOSTS, &heir)).await;
        assert_eq!(heir["services"][0]["id"], node["services"][0]["id"]);
        fixture.ask(bare("DELETE", &path_of(HOSTS, &node))).await.data();
        let hosts = json!([
            with(&heir, "services", json!([])),
            with(&guest, "virtualization", Value::Null),
            with(&pod, "services", json!([])),
        ]);
        fixture.post("/api/v1/hosts/bulk", &json!({"hosts": hosts})).await;

        let all = node_with_guests(&fixture).await;
        let ids: Vec<&Value> = all.iter().map(|host| &host["id"]).collect();
        let deleted = fixture.post("/api/v1/hosts/bulk-delete", &json!(ids)).await;
        assert_eq!(deleted, json!({"deleted_count": 3, "requested_count": 3}));
    });
}
