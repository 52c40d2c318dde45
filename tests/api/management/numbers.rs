//! Numbers of clients that know one type of numbers, and integers that are too long for any.

use super::*;

/// An integer of more than 64 bits.
const DIGITS: &str = "12345678901234567890123";

/// Returns a request whose body has text that a `Value` cannot have.
fn send_text(method: &str, path: &str, body: &str) -> Request<String> {
    send_json(method, path, &Value::Null).map(|_| body.to_owned())
}

#[test]
fn whole_number_with_a_fraction_is_an_integer() {
    run_new(async |fixture| {
        let body = json!({
            "network_id": OFFICE, "name": "core",
            "interfaces": [{"ip_address": "192.0.2.1", "position": 3.0}],
            "ports": [{"number": 22.0, "protocol": "Tcp"}],
            "if_entries": [{"if_index": 1e3, "if_descr": "Gi0/3", "if_type": 6.0, "speed_bps": 1e9,
                "vlans": {"untagged": 1.0, "tagged": [20.0], "other_untagged": [30.0]}}],
        });
        let host = fixture.post(HOSTS, &body).await;
        let entry = &host["if_entries"][0];
        assert_eq!(
            (&host["ports"][0]["number"], &host["interfaces"][0]["position"]),
            (&json!(22), &json!(3))
        );
        assert_eq!((&entry["if_index"], &entry["if_type"]), (&json!(1000), &json!(6)));
        assert_eq!(entry["speed_bps"], json!(1_000_000_000));
        assert_eq!(entry["vlans"], json!({"untagged": 1, "tagged": [20], "other_untagged": [30]}));
        let port = path_of("/api/v1/ports", &host["ports"][0]);
        for method in ["PUT", "PATCH"] {
            let body = with(&host["ports"][0], "number", 443.0);
            assert_eq!(fixture.ask(send_json(method, &port, &body)).await.data()["number"], 443);
        }
        let results = fixture.post("/api/v1/hosts/bulk", &json!({"hosts": [body]})).await;
        assert_eq!(results[0]["outcome"], "created");
        let request =
            with_header(bare("POST", "/api/v1/hosts/import"), "content-type", "application/x-ndjson");
        assert_eq!(fixture.ask(request.map(|_| body.to_string())).await.data()["imported"], 1);
        for wrong in [json!(22.5), json!(1e300), json!("22")] {
            let body = with(&body, "ports", json!([{"number": wrong, "protocol": "Tcp"}]));
            let reply = fixture.ask(send_json("POST", HOSTS, &body)).await;
            assert_eq!(*reply.refuses(400, "validation_invalid_format"), json!({"field": "ports.0.number"}));
        }
        let negative = with(&body, "ports", json!([{"number": -22.0, "protocol": "Tcp"}]));
        fixture.ask(send_json("POST", HOSTS, &negative)).await.refuses(400, "validation_out_of_range");
    });
}

#[test]
fn custom_integer_that_would_lose_digits_is_refused_with_its_field() {
    run_new(async |fixture| {
        let host = fixture.post(HOSTS, &with(&host_body(), "custom", json!({"serial": u64::MAX}))).await;
        assert_eq!(host["custom"], json!({"serial": u64::MAX}));
        let custom = format!("{{\"serial\": [{DIGITS}]}}");
        let whole = format!("{{\"network_id\": \"{OFFICE}\", \"name\": \"a\", \"custom\": {custom}}}");
        let part = format!("{{\"custom\": {custom}}}");
        for (request, field) in [
            (send_text("POST", HOSTS, &whole), "custom.serial"),
            (send_text("PUT", &path_of(HOSTS, &host), &whole), "custom.serial"),
            (send_text("PATCH", &path_of(HOSTS, &host), &part), "custom.serial"),
            (send_text("POST", "/api/v1/networks", &whole), "custom.serial"),
            (
                send_text("POST", "/api/v1/hosts/bulk", &format!("{{\"hosts\": [{whole}]}}")),
                "hosts.0.custom.serial",
            ),
        ] {
            let reply = fixture.ask(request).await;
            assert_eq!(*reply.refuses(400, "validation_invalid_format"), json!({"field": field}));
            assert!(reply.json["error"].as_str().unwrap().contains("64 bits"), "{}", reply.json);
        }
        let request =
            with_header(bare("POST", "/api/v1/hosts/import"), "content-type", "application/x-ndjson");
        let reply = fixture.ask(request.map(|_| whole.clone())).await;
        let report = &reply.refuses(400, "import_refused")["report"];
        assert_eq!(report["refusals"][0]["field"], "custom.serial");
        let text = with(&host_body(), "custom", json!({"serial": DIGITS, "ratio": 1.5, "large": 1e300}));
        assert_eq!(fixture.post(HOSTS, &text).await["custom"], text["custom"]);
    });
}

#[test]
fn integer_of_a_source_that_would_lose_digits_is_refused_with_its_field() {
    run_new(async |fixture| {
        let source = format!("{{\"type\": \"Discovery\", \"metadata\": [{{\"serial\": {DIGITS}}}]}}");
        let host = fixture.post(HOSTS, &host_body()).await;
        let whole = format!("{{\"network_id\": \"{OFFICE}\", \"name\": \"a\", \"source\": {source}}}");
        let service = format!("{{\"name\": \"s\", \"service_definition\": \"s\", \"source\": {source}}}");
        let services =
            format!("{{\"network_id\": \"{OFFICE}\", \"name\": \"a\", \"services\": [{service}]}}");
        let subnet = whole.replace("{\"network_id", "{\"cidr\": \"192.0.2.0/24\", \"network_id");
        for (request, field) in [
            (send_text("POST", HOSTS, &whole), "source.metadata"),
            (send_text("PUT", &path_of(HOSTS, &host), &whole), "source.metadata"),
            (
                send_text("PATCH", &path_of(HOSTS, &host), &format!("{{\"source\": {source}}}")),
                "source.metadata",
            ),
            (send_text("POST", HOSTS, &services), "services.0.source.metadata"),
            (send_text("PATCH", &path_of(HOSTS, &host), &services), "services"),
            (send_text("POST", "/api/v1/subnets", &subnet), "source.metadata"),
        ] {
            let reply = fixture.ask(request).await;
            assert_eq!(*reply.refuses(400, "validation_invalid_format"), json!({"field": field}));
            assert!(reply.json["error"].as_str().unwrap().contains("64 bits"), "{}", reply.json);
        }
        for (line, field) in [(whole, "source.metadata"), (services, "services.0.source.metadata")] {
            let request =
                with_header(bare("POST", "/api/v1/hosts/import"), "content-type", "application/x-ndjson");
            let reply = fixture.ask(request.map(|_| line)).await;
            let report = &reply.refuses(400, "import_refused")["report"];
            assert_eq!(report["refusals"][0]["field"], field);
        }
        let source =
            json!({"type": "Discovery", "metadata": [{"serial": u64::MAX, "ratio": 1.5, "name": DIGITS}]});
        assert_eq!(
            fixture.post(HOSTS, &with(&host_body(), "source", source.clone())).await["source"],
            source
        );
    });
}
