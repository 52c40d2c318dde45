//! Filters by which clients find the record that they would otherwise create.

use super::*;

const TAGS: &str = "/api/v1/tags";
const NETWORKS: &str = "/api/v1/networks";
const SUBNETS: &str = "/api/v1/subnets";

async fn ids(fixture: &Fixture, target: &str) -> Vec<Value> {
    let list = fixture.ask(get(target)).await;
    assert_eq!(list.total(), list.data().as_array().unwrap().len() as u64);
    list.data().as_array().unwrap().iter().map(|record| record["id"].clone()).collect()
}

#[test]
fn tag_and_network_are_found_by_name_in_any_case() {
    run_new(async |fixture| {
        let tag = fixture.post(TAGS, &json!({"name": "Côte Ouest"})).await;
        fixture.post(TAGS, &json!({"name": "Côte"})).await;
        let network = fixture.read(&format!("{NETWORKS}/{OFFICE}")).await;
        for (path, record) in [(TAGS, &tag), (NETWORKS, &network)] {
            let (id, name) = (record["id"].as_str().unwrap(), record["name"].as_str().unwrap());
            let name: String = form_urlencoded::byte_serialize(name.to_uppercase().as_bytes()).collect();
            let found = vec![record["id"].clone()];
            for (query, expected) in [
                (format!("name={name}"), found.clone()),
                (format!("name={name}&ids={id}"), found),
                (format!("name={name}&ids={NOBODY}"), Vec::new()),
                ("name=absent".to_owned(), Vec::new()),
            ] {
                assert_eq!(ids(&fixture, &format!("{path}?{query}")).await, expected, "{path}?{query}");
            }
        }
        let abroad = fixture.ask_abroad(get(&format!("{TAGS}?name=C%C3%B4te+Ouest"))).await;
        assert_eq!(abroad.total(), 0, "names are those of the caller's organization");
        fixture.ask(get(&format!("{SUBNETS}?name=a"))).await.refuses(400, "validation_unknown_parameter");
    });
}

#[test]
fn subnet_is_found_by_its_addresses() {
    run_new(async |fixture| {
        let subnet = async |network, cidr: &str| {
            let body = json!({"network_id": network, "name": "a", "cidr": cidr, "subnet_type": "Lan"});
            fixture.post(SUBNETS, &body).await["id"].clone()
        };
        let (office, lab) = (subnet(OFFICE, "192.0.2.0/24").await, subnet(LAB, "192.0.2.0/24").await);
        subnet(OFFICE, "192.0.2.0/25").await;
        let both = ids(&fixture, &format!("{SUBNETS}?cidr=192.0.2.0%2F24&order_by=created_at")).await;
        assert_eq!(both.len(), 2);
        assert!(both.contains(&office) && both.contains(&lab));
        let found = ids(&fixture, &format!("{SUBNETS}?cidr=192.0.2.0/24&network_id={OFFICE}")).await;
        assert_eq!(found, [office]);
        let wrong = fixture.ask(get(&format!("{SUBNETS}?cidr=192.0.2.1/24"))).await;
        assert_eq!(*wrong.refuses(400, "validation_invalid_format"), json!({"field": "cidr"}));
        assert!(wrong.json["error"].as_str().unwrap().contains("host bits"), "{}", wrong.json);
    });
}

#[test]
fn encoded_comma_belongs_to_a_text_or_separates_it_and_others_separate() {
    run_new(async |fixture| {
        let mut hosts = Vec::new();
        for definition in ["A,B", "C", "A", "B"] {
            fixture.clock.advance(std::time::Duration::from_secs(1));
            let service = json!([{"name": "s", "service_definition": definition}]);
            hosts.push(fixture.post(HOSTS, &with(&host_body(), "services", service)).await["id"].clone());
        }
        let found = async |query: &str| ids(&fixture, &format!("{HOSTS}?{query}&order_by=created_at")).await;
        assert_eq!(found("service_definition=A%2CB").await, [&hosts[..1], &hosts[2..]].concat());
        assert_eq!(found("service_definition=A%2cB,C").await, hosts);
        assert_eq!(found("service_definition=A,B").await, hosts[2..]);
        assert_eq!(found("service_definition=C&service_definition=A").await, hosts[1..3]);
        let of_ids = hosts.iter().map(|id| id.as_str().unwrap()).collect::<Vec<_>>().join("%2C");
        assert_eq!(
            found(&format!("ids={of_ids}")).await,
            hosts,
            "ids have no commas, however a client encodes them"
        );
    });
}

#[test]
fn conflict_names_the_record_that_exists() {
    run_new(async |fixture| {
        let tag = fixture.post(TAGS, &json!({"name": "critical"})).await;
        let other = fixture.post(TAGS, &json!({"name": "other"})).await;
        let params = json!({"entity": "Tag", "name": "Critical", "id": tag["id"]});
        for request in [
            send_json("POST", TAGS, &json!({"name": "Critical"})),
            send_json("PATCH", &path_of(TAGS, &other), &json!({"name": "Critical"})),
        ] {
            assert_eq!(*fixture.ask(request).await.refuses(409, "entity_already_exists"), params);
        }
    });
}
