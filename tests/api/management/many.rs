//! `POST /api/v1/hosts/bulk`.

use super::*;
use crate::common::FOREIGN_HOST;

const BULK: &str = "/api/v1/hosts/bulk";

fn bulk(hosts: impl IntoIterator<Item = Value>) -> Value {
    json!({"hosts": hosts.into_iter().collect::<Vec<_>>()})
}

#[test]
fn bulk_creates_or_replaces_by_id() {
    run_new(async |fixture| {
        let known = json!("00000000-0000-4000-8000-000000000077");
        let hosts = [host_body(), with(&host_body(), "id", known.clone())];
        let results = fixture.post(BULK, &bulk(hosts.clone())).await;
        let outcomes = |results: &Value| -> Vec<Value> {
            results.as_array().unwrap().iter().map(|result| result["outcome"].clone()).collect()
        };
        assert_eq!(outcomes(&results), ["created", "created"]);
        assert_eq!((&results[1]["id"], &results[1]["index"]), (&known, &json!(1)));
        let host = fixture.read(&path_of(HOSTS, &results[0])).await;
        let changed = with(&with(&hosts[1], "name", "b"), "hidden", true);
        let results = fixture.post(BULK, &bulk([host, changed, host_body()])).await;
        assert_eq!(outcomes(&results), ["unchanged", "updated", "created"]);
        let moved = bulk([with(&hosts[1], "network_id", LAB.to_string())]);
        let reply = fixture.ask(send_json("POST", BULK, &moved)).await;
        assert_eq!(
            *reply.refuses(400, "entity_network_mismatch"),
            json!({"entity": "Host", "field": "hosts.0"})
        );
        assert_eq!(fixture.list("").await.total(), 3);
    });
}

#[test]
fn faulty_host_refuses_an_atomic_request_and_fails_alone_otherwise() {
    run_new(async |fixture| {
        let mut hosts = vec![host_body(); 4];
        hosts[3]["ports"] = json!([{"number": 70_000, "protocol": "Tcp"}]);
        let params = json!({"field": "hosts.3.ports.0.number", "min": 1, "max": 65_535});
        for body in [bulk(hosts.clone()), with(&bulk(hosts.clone()), "atomic", true)] {
            let reply = fixture.ask(send_json("POST", BULK, &body)).await;
            assert_eq!(*reply.refuses(400, "validation_out_of_range"), params);
            assert_eq!(fixture.list("").await.total(), 0);
        }
        let results = fixture.post(BULK, &with(&bulk(hosts), "atomic", false)).await;
        assert_eq!((&results[2]["outcome"], &results[3]["outcome"]), (&json!("created"), &json!("failed")));
        let error = &results[3]["error"];
        assert_eq!((&error["code"], &error["params"]), (&json!("validation_out_of_range"), &params));
        assert_eq!((&results[3]["id"], fixture.list("").await.total()), (&Value::Null, 3));
    });
}

#[test]
fn error_of_an_atomic_request_names_the_host_where_it_names_no_field() {
    run_new(async |fixture| {
        let mut hosts = vec![host_body(); 9];
        hosts[7]["ports"] = json!([{"number": 443, "protocol": "Tcp"}, {"number": 443, "protocol": "Tcp"}]);
        let reply = fixture.ask(send_json("POST", BULK, &bulk(hosts.clone()))).await;
        let params = json!({"entity": "Port", "name": "443/Tcp", "field": "hosts.7"});
        assert_eq!(*reply.refuses(409, "entity_already_exists"), params);
        let results = fixture.post(BULK, &with(&bulk(hosts), "atomic", false)).await;
        assert_eq!(results[7]["error"]["params"], params);
    });
}

#[test]
fn id_of_another_organization_is_replaced() {
    run_new(async |fixture| {
        let elsewhere = fixture.abroad.networks[0];
        fixture.put_abroad(crate::common::host(FOREIGN_HOST.as_u128(), elsewhere)).await;
        let results = fixture.post(BULK, &bulk([with(&host_body(), "id", FOREIGN_HOST.to_string())])).await;
        assert_eq!(results[0]["outcome"], "created");
        assert_ne!(results[0]["id"], json!(FOREIGN_HOST));
        let theirs = fixture.ask_abroad(get(&format!("{HOSTS}/{FOREIGN_HOST}"))).await;
        assert_eq!(theirs.data()["network_id"], json!(elsewhere));
    });
}

#[test]
fn bulk_request_has_limits_and_needs_a_member() {
    run_new(async |fixture| {
        let send = async |body: &Value| fixture.ask(send_json("POST", BULK, body)).await;
        let max = json!({"field": "hosts", "max": 1_000});
        assert_eq!(*send(&bulk(vec![json!({}); 1_001])).await.refuses(400, "validation_max_length"), max);
        assert_eq!(*send(&bulk([])).await.refuses(400, "validation_empty"), json!({"field": "hosts"}));
        assert_eq!(*send(&json!({})).await.refuses(400, "validation_required"), json!({"field": "hosts"}));
        let viewer = fixture.key(Permission::Viewer, &[OFFICE]).await;
        let request = || send_json("POST", BULK, &bulk([host_body()]));
        fixture.send(with_key(request(), &viewer)).await.refuses(403, "auth_permission_denied");
        let stranger = fixture.key(Permission::Member, &[LAB]).await;
        let denied = json!({"entity": "Network", "id": OFFICE, "field": "hosts.0"});
        assert_eq!(
            *fixture.send(with_key(request(), &stranger)).await.refuses(403, "entity_access_denied"),
            denied
        );
        // Its body may be larger than that of other requests.
        let size = request().body().len();
        let tight = fixture.configured(|builder| builder.body_limit(10).bulk_body_limit(size));
        assert_eq!(tight.send(with_key(request(), &fixture.key)).await.status, 200);
        let tighter = fixture.configured(|builder| builder.bulk_body_limit(size - 1));
        let reply = tighter.send(with_key(request(), &fixture.key)).await;
        assert_eq!(*reply.refuses(413, "request_too_large"), json!({"limit": size - 1}));
    });
}
