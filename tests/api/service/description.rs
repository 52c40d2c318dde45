//! The OpenAPI document, compared with what the endpoints do.

use std::collections::BTreeSet;

use http::Request;
use serde_json::{Value, json};
use toposcope::model::{Permission, TagId};
use toposcope::wire::ErrorCode;

use crate::backend::{run, run_with};
use crate::common::{
    Fixture, HOSTS, NOBODY, OFFICE, PASSWORD, Populated, bare, get, log_in, openapi_document, send_json,
    validator, with_header, with_key, with_session,
};
use crate::requests::routes::routes;

const NETWORKS: &str = "/api/v1/networks";

/// The parts of a documented operation that a request is made from.
pub(super) struct Operation {
    method: String,
    path: String,
    pub(super) described: Value,
}

impl Operation {
    pub(super) fn all() -> Vec<Self> {
        let document = openapi_document();
        let paths = document["paths"].as_object().unwrap();
        let operations = paths.iter().flat_map(|(path, methods)| {
            methods.as_object().unwrap().iter().map(|(method, described)| Self {
                method: method.to_ascii_uppercase(),
                path: path.clone(),
                described: described.clone(),
            })
        });
        operations.collect()
    }

    pub(super) fn id(&self) -> &str {
        self.described["operationId"].as_str().unwrap()
    }

    fn target(&self) -> String {
        ["{id}", "{other}", "{network_id}"]
            .iter()
            .fold(self.path.clone(), |path, name| path.replace(name, &NOBODY.to_string()))
            .replace("{view}", "l2")
    }

    /// Returns a request with this query and body.
    pub(super) fn request(&self, query: &str, body: &Value) -> Request<String> {
        send_json(&self.method, &format!("{}?{query}", self.target()), body)
    }

    fn is_public(&self) -> bool {
        let security = self.described["security"].as_array().unwrap();
        security.is_empty() || security.contains(&json!({}))
    }

    fn is_for_daemons(&self) -> bool {
        self.described["security"] == json!([{"daemon_key": []}])
    }

    fn parameters(&self, place: &str) -> Vec<&str> {
        let parameters = self.described["parameters"].as_array().unwrap().iter();
        let parameters = parameters.filter(|parameter| parameter["in"] == place);
        parameters.map(|parameter| parameter["name"].as_str().unwrap()).collect()
    }
}

#[test]
fn document_is_public_and_conditional_at_both_paths() {
    run(async || {
        let fixture = Fixture::new().await;
        for (path, server) in [("/openapi.json", "."), ("/api/openapi.json", "..")] {
            let reply = fixture.send(get(path)).await;
            assert_eq!(reply.status, 200);
            let mut expected = openapi_document().clone();
            expected["servers"] = json!([{"url": server}]);
            assert_eq!(reply.json, expected);
            let tag = reply.header("etag").to_owned();
            let request = with_header(get(path), "if-none-match", tag);
            assert_eq!(fixture.send(request).await.status, 304);
            assert_eq!(fixture.send(bare("HEAD", path)).await.status, 200);
        }
    });
}

#[test]
fn document_is_consistent() {
    let document = openapi_document();
    assert_eq!(document["openapi"], "3.1.0");
    let mut references = BTreeSet::new();
    collect_references(document, &mut references);
    for reference in &references {
        assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
    }
    let operations = Operation::all();
    let ids: BTreeSet<&str> = operations.iter().map(Operation::id).collect();
    assert_eq!(ids.len(), operations.len());
    for operation in &operations {
        let in_path = operation.path.split('{').skip(1).filter_map(|rest| rest.split('}').next());
        assert_eq!(operation.parameters("path"), in_path.collect::<Vec<_>>(), "{}", operation.id());
        let names: BTreeSet<&str> = operation.parameters("query").into_iter().collect();
        assert_eq!(names.len(), operation.parameters("query").len(), "{}", operation.id());
    }
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        for example in schema["examples"].as_array().unwrap_or_else(|| panic!("{name} has no example")) {
            let errors: Vec<String> =
                validator(schema).iter_errors(example).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{name}: {errors:?}");
        }
    }
}

fn collect_references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|member| collect_references(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, found)),
        _ => {}
    }
}

/// The reference to the schema of a response.
const ERROR_SCHEMA: &str = "/content/application~1json/schema/$ref";

#[test]
fn every_error_code_is_documented_with_its_status() {
    let document = openapi_document();
    let mut documented = BTreeSet::new();
    for operation in Operation::all() {
        for (status, response) in operation.described["responses"].as_object().unwrap() {
            let Some(shared) = response["$ref"].as_str() else { continue };
            let response = document.pointer(shared.trim_start_matches('#')).unwrap();
            assert_eq!(response.pointer(ERROR_SCHEMA), Some(&json!("#/components/schemas/Error")));
            for code in response["x-error-codes"].as_array().unwrap() {
                let typed: ErrorCode = serde_json::from_value(code.clone()).unwrap();
                assert_eq!(typed.status().as_str(), status);
                documented.insert(code.as_str().unwrap());
            }
        }
    }
    let all = document["components"]["schemas"]["ErrorCode"]["x-extensible-enum"].as_array().unwrap();
    let all = all.iter().map(|code| code.as_str().unwrap());
    // Errors of routing are no errors of an operation.
    let expected = all.filter(|code| !["route_not_found", "method_not_allowed"].contains(code));
    assert_eq!(documented, expected.collect());
}

/// Calls `check` with every object in a document and its place.
fn for_each_object(value: &Value, place: &str, check: &mut dyn FnMut(&str, &Value)) {
    match value {
        Value::Object(members) => {
            check(place, value);
            for (name, member) in members.iter().filter(|(name, _)| *name != "examples") {
                for_each_object(member, &format!("{place}/{name}"), check);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| for_each_object(item, place, check)),
        _ => {}
    }
}

/// Code generators make types of strings of constant booleans, and no type of a value that is always null.
#[test]
fn no_boolean_is_constant_and_no_property_is_always_null() {
    let (mut booleans, mut properties) = (0, 0);
    for_each_object(openapi_document(), "", &mut |place, object| {
        if object["type"] == "boolean" {
            booleans += 1;
            assert!(object.get("const").is_none() && object.get("enum").is_none(), "{place}");
        }
        for (name, property) in object["properties"].as_object().into_iter().flatten() {
            properties += 1;
            let kind = &property["type"];
            assert!(*kind != "null" && *kind != json!(["null"]), "{place}: {name}");
        }
    });
    assert!(booleans > 20 && properties > 500, "{booleans} {properties}");
}

#[test]
fn lists_have_one_media_type_and_items_of_one_schema() {
    let document = openapi_document();
    let mut lists = 0;
    for operation in Operation::all() {
        if !operation.id().starts_with("get_all_") {
            continue;
        }
        lists += 1;
        let content = operation.described["responses"]["200"]["content"].as_object().unwrap();
        assert_eq!(content.keys().collect::<Vec<_>>(), ["application/json"], "{}", operation.id());
        let envelope = content["application/json"]["schema"]["$ref"].as_str().unwrap();
        let envelope = document.pointer(envelope.trim_start_matches('#')).unwrap();
        let items = &envelope["properties"]["data"]["items"];
        assert_eq!(items.as_object().unwrap().keys().collect::<Vec<_>>(), ["$ref"], "{}", operation.id());
    }
    assert!(lists >= 13);
    let hosts = Operation::all().into_iter().find(|operation| operation.id() == "get_all_hosts").unwrap();
    assert!(hosts.described["description"].as_str().unwrap().contains("`application/x-ndjson`"));
}

#[test]
fn selectable_fields_are_those_of_the_records() {
    let document = openapi_document();
    for (path, schema) in [
        (HOSTS, "Host"),
        ("/api/v1/interfaces", "Interface"),
        ("/api/v1/ports", "Port"),
        ("/api/v1/services", "Service"),
        ("/api/v1/if-entries", "IfEntry"),
    ] {
        let parameters = document["paths"][path]["get"]["parameters"].as_array().unwrap();
        let fields = parameters.iter().find(|parameter| parameter["name"] == "fields").unwrap();
        let fields: BTreeSet<&str> =
            fields["schema"]["items"]["enum"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let properties = document["components"]["schemas"][schema]["properties"].as_object().unwrap();
        assert_eq!(fields, properties.keys().map(String::as_str).collect(), "{schema}");
    }
}

/// A code generator makes a type of each schema that is not in the list of schemas.
#[test]
fn errors_have_one_schema_and_successes_that_of_their_data() {
    let document = openapi_document();
    let mut schemas = BTreeSet::new();
    for response in document["components"]["responses"].as_object().unwrap().values() {
        let contents = response["content"].as_object().into_iter().flat_map(|contents| contents.values());
        schemas.extend(contents.filter_map(|content| content.get("schema").map(Value::to_string)));
    }
    assert_eq!(schemas, BTreeSet::from([json!({"$ref": "#/components/schemas/Error"}).to_string()]));
    for operation in Operation::all() {
        let success = operation.described.pointer("/responses/200/content/application~1json/schema");
        let Some(success) = success.filter(|_| operation.id() != "export_topology") else { continue };
        assert!(success.get("$ref").is_some(), "{}: {success}", operation.id());
    }
}

#[test]
fn errors_that_an_operation_never_produces_are_not_documented() {
    let document = openapi_document();
    let codes = |id: &str| {
        let operation = Operation::all().into_iter().find(|operation| operation.id() == id).unwrap();
        let responses = operation.described["responses"].as_object().unwrap().clone();
        let shared = responses.values().filter_map(|response| response["$ref"].as_str());
        let shared =
            shared.map(|shared| document.pointer(shared.trim_start_matches('#')).unwrap().to_string());
        shared.collect::<String>()
    };
    for (id, never) in [
        ("update_organization", vec!["entity_already_exists", "entity_in_use", "quota_exceeded"]),
        ("delete_share", vec!["entity_in_use"]),
        ("delete_user_api_key", vec!["entity_in_use"]),
        ("delete_daemon_api_key", vec!["entity_in_use"]),
        ("get_current_user_by_post", vec!["entity_conflict"]),
        ("verify_share_password", vec!["entity_conflict", "validation_max_length"]),
        #[cfg(feature = "discovery")]
        ("report_progress", vec!["entity_not_found", "entity_reference_invalid"]),
    ] {
        for code in never {
            assert!(!codes(id).contains(&format!("\"{code}\"")), "{id}: {code}");
        }
    }
    for (id, code) in [("update_network", "entity_already_exists"), ("delete_user", "entity_in_use")] {
        assert!(codes(id).contains(&format!("\"{code}\"")), "{id}: {code}");
    }
}

#[test]
fn paths_support_exactly_the_documented_methods() {
    run(async || {
        let fixture = Fixture::new().await;
        let operations = Operation::all();
        let paths: BTreeSet<String> = operations.iter().map(Operation::target).collect();
        for path in paths {
            let reply = fixture.send(bare("OPTIONS", &path)).await;
            reply.refuses(405, "method_not_allowed");
            let supported: BTreeSet<&str> = reply.header("allow").split(", ").collect();
            let at_path = operations.iter().filter(|operation| operation.target() == path);
            let mut documented: BTreeSet<&str> = at_path.map(|operation| operation.method.as_str()).collect();
            if documented.contains("GET") {
                documented.insert("HEAD");
            }
            if path == "/api/auth/me" {
                documented.insert("POST");
            }
            assert_eq!(supported, documented, "{path}");
        }
    });
}

/// The tests of access, isolation, damage and cost go through this list.
#[test]
fn list_of_the_tests_has_every_documented_endpoint() {
    let shape = |method: &str, path: &str| {
        let segments = path.split('/').map(|segment| if segment.starts_with('{') { "{}" } else { segment });
        format!("{method} {}", segments.collect::<Vec<_>>().join("/"))
    };
    let documented: BTreeSet<String> =
        Operation::all().iter().map(|operation| shape(&operation.method, &operation.path)).collect();
    let listed: BTreeSet<String> = routes().iter().map(|route| shape(route.method, route.path)).collect();
    assert_eq!(documented.difference(&listed).collect::<Vec<_>>(), Vec::<&String>::new());
    let other_names = ["GET /api/hosts", "GET /api/openapi.json", "POST /api/hosts"];
    assert_eq!(listed.difference(&documented).collect::<Vec<_>>(), other_names);
}

#[test]
fn credentials_parameters_and_fields_are_required_as_documented() {
    let document = openapi_document();
    run_with(Populated::new, async |fixture| {
        let owner = fixture.user(&fixture.home, Permission::Owner, &[]).await;
        for operation in Operation::all() {
            let anonymous = fixture.send(operation.request("", &json!({}))).await;
            let is_login = operation.id() == "get_network_page" && anonymous.status == 401;
            let needs_credential = is_login || anonymous.json["code"] == "auth_not_authenticated";
            assert_eq!(needs_credential, !operation.is_public(), "{}", operation.id());
            // Logging out ends the session, so that each operation has its own.
            let session = fixture.sign_in(&owner).await;
            let authenticated = |request| match operation.is_for_daemons() {
                true => with_key(request, &fixture.daemon_key),
                false => with_session(request, &session),
            };
            let unknown = authenticated(operation.request("no_such=1", &json!({})));
            let unknown = fixture.send(unknown).await;
            // If the page does not exist, its parameters are not checked.
            if ["get_share_page", "get_network_page"].contains(&operation.id()) {
                let is_of_share = operation.id() == "get_share_page";
                assert_eq!(unknown.status, if is_of_share { 404 } else { 400 });
                continue;
            }
            unknown.refuses(400, "validation_unknown_parameter");
            for name in operation.parameters("query") {
                let reply = fixture.send(authenticated(operation.request(&format!("{name}="), &json!({}))));
                assert_ne!(reply.await.json["code"], "validation_unknown_parameter", "{name}");
            }
            let schema = operation.described.pointer("/requestBody/content/application~1json/schema/$ref");
            let Some(schema) = schema.and_then(Value::as_str) else { continue };
            let schema = document.pointer(schema.trim_start_matches('#')).unwrap();
            let required: Vec<&Value> = schema["required"].as_array().unwrap().iter().collect();
            let reply = fixture.send(authenticated(operation.request("", &json!({})))).await;
            match required.first() {
                Some(_) => {
                    let params = reply.refuses(400, "validation_required");
                    assert!(required.contains(&&params["field"]), "{}: {params}", operation.id());
                }
                None => assert_ne!(reply.json["code"], "validation_required"),
            }
        }
        assert_eq!(fixture.send(log_in(&owner.email, PASSWORD)).await.status, 200);
    });
}

/// The operation ids of the reference product, whose clients name their methods after them.
const OPERATION_IDS: [&str; 8] = [
    "get_public_share_metadata",
    "verify_share_password",
    "submit_referral_source",
    "login",
    "logout",
    "get_current_user",
    "get_version",
    "get_health",
];

/// The singular and the plural of each collection in operation ids, and the operations that it has.
const COLLECTIONS: [(&str, &str, &str); 13] = [
    ("organization", "organizations", "list get update"),
    ("user", "users", "list get create update delete"),
    ("network", "networks", "list get create update delete"),
    ("subnet", "subnets", "list get create update delete bulk"),
    ("tag", "tags", "list get create update delete bulk"),
    ("host", "hosts", "list get create update delete bulk"),
    ("interface", "interfaces", "list get create update delete"),
    ("port", "ports", "list get create update delete"),
    ("service", "services", "list get create update delete"),
    ("if_entry", "if_entries", "list get create update delete"),
    ("user_api_key", "user_api_keys", "list get create update delete bulk"),
    ("daemon_api_key", "daemon_api_keys", "list get create update delete bulk"),
    ("share", "shares", "list get create update delete bulk"),
];

#[test]
fn operations_have_the_ids_of_the_reference_product() {
    let mut expected: BTreeSet<String> = OPERATION_IDS.map(str::to_owned).into();
    for (singular, plural, operations) in COLLECTIONS {
        expected.extend(operations.split(' ').map(|operation| match operation {
            "list" => format!("get_all_{plural}"),
            "get" => format!("get_{singular}_by_id"),
            "bulk" => format!("bulk_delete_{plural}"),
            _ => format!("{operation}_{singular}"),
        }));
    }
    let operations = Operation::all();
    let found: BTreeSet<String> = operations.iter().map(|operation| operation.id().to_owned()).collect();
    let missing: Vec<&String> = expected.difference(&found).collect();
    assert!(missing.is_empty(), "{missing:?}");
    for (id, method, path) in [
        ("get_all_hosts", "GET", "/api/v1/hosts"),
        ("get_if_entry_by_id", "GET", "/api/v1/if-entries/{id}"),
        ("create_daemon_api_key", "POST", "/api/v1/auth/daemon"),
        ("update_user_api_key", "PUT", "/api/v1/auth/keys/{id}"),
        ("bulk_delete_subnets", "POST", "/api/v1/subnets/bulk-delete"),
        ("delete_tag", "DELETE", "/api/v1/tags/{id}"),
    ] {
        let operation = operations.iter().find(|operation| operation.id() == id).unwrap();
        assert_eq!((operation.method.as_str(), operation.path.as_str()), (method, path));
    }
}

#[test]
fn types_of_subnets_that_users_may_send_are_those_that_they_receive() {
    let document = openapi_document();
    let schemas = &document["components"]["schemas"];
    let received: BTreeSet<&str> = match schemas["SubnetType"]["enum"].as_array() {
        Some(values) => values.iter().filter_map(Value::as_str).collect(),
        None => {
            let alternatives = schemas["SubnetType"]["oneOf"].as_array().unwrap();
            alternatives.iter().filter_map(|alternative| alternative["const"].as_str()).collect()
        }
    };
    let create = Operation::all().into_iter().find(|operation| operation.id() == "create_subnet").unwrap();
    let body = create.described.pointer("/requestBody/content/application~1json/schema/$ref").unwrap();
    let body = document.pointer(body.as_str().unwrap().trim_start_matches('#')).unwrap();
    let sent = body.pointer("/properties/subnet_type/enum").unwrap().as_array().unwrap();
    assert_eq!(sent.iter().filter_map(Value::as_str).collect::<BTreeSet<_>>(), received);
    assert_eq!(received.len(), 17);
}

#[test]
fn error_of_the_example_is_the_one_that_the_server_sends() {
    run(async || {
        let reply = Fixture::new().await.send(get(HOSTS)).await;
        let example = &openapi_document()["components"]["schemas"]["Error"]["examples"][0];
        assert_eq!((&reply.json["code"], &reply.json["error"]), (&example["code"], &example["error"]));
    });
}

#[test]
fn optional_fields_within_a_body_are_not_required() {
    let document = openapi_document();
    for (schema, required) in [
        ("CredentialAssignmentInput", json!(["credential_id"])),
        ("DockerVirtualizationInput", json!(["service_id"])),
        ("HostItemInput", json!(["network_id", "name"])),
        ("ProxmoxVirtualizationInput", json!(["service_id"])),
        ("VlansInput", Value::Null),
        #[cfg(feature = "discovery")]
        ("ReportedHostInput", json!(["name"])),
        #[cfg(feature = "topology")]
        ("LinkEndInput", json!(["host_id"])),
    ] {
        assert_eq!(document["components"]["schemas"][schema]["required"], required, "{schema}");
    }
    #[cfg(feature = "discovery")]
    for part in ["properties", "examples"] {
        let part = document["components"]["schemas"]["ReportedHostInput"][part].to_string();
        assert!(part.contains("\"sys_name\"") && !part.contains("\"custom\""), "{part}");
    }
    run(async || {
        let fixture = Fixture::new().await;
        let entry = json!({"if_index": 1, "if_descr": "", "vlans": {}});
        let assigned = json!([{"credential_id": NOBODY}]);
        let body = json!({"network_id": OFFICE, "name": "a host", "credential_assignments": assigned,
            "if_entries": [entry]});
        let created = fixture.send(with_key(send_json("POST", HOSTS, &body), &fixture.key)).await;
        assert_eq!(created.data()["if_entries"][0]["vlans"], json!({"untagged": null, "tagged": []}));
    });
}

#[test]
fn lists_of_a_body_have_the_documented_sizes() {
    run_with(Populated::new, async |fixture| {
        let tags: Vec<TagId> = (0..1_001).map(TagId::from_u128).collect();
        let body = json!({"name": "a network", "tags": tags});
        let session = &fixture.sign_in(&fixture.user(&fixture.home, Permission::Owner, &[]).await).await;
        let refused = fixture.send(with_session(send_json("POST", NETWORKS, &body), session)).await;
        assert_eq!(refused.refuses(400, "validation_max_length"), &json!({"field": "tags", "max": 1_000}));
        let schemas = &openapi_document()["components"]["schemas"];
        assert_eq!(schemas["CreateNetworkInput"]["properties"]["tags"]["maxItems"], 1_000);

        let bulk = &schemas["BulkPutHostsInput"]["properties"];
        assert_eq!((&bulk["hosts"]["minItems"], &bulk["hosts"]["maxItems"]), (&json!(1), &json!(1_000)));
        assert_eq!(bulk["atomic"]["default"], true);
        for (hosts, code) in [(0, "validation_empty"), (1_001, "validation_max_length")] {
            let body = json!({"hosts": vec![json!({}); hosts]});
            let request = send_json("POST", "/api/v1/hosts/bulk", &body);
            fixture.send(with_session(request, session)).await.refuses(400, code);
        }
    });
}

#[test]
fn options_of_a_query_have_documented_defaults_and_choices() {
    let parameter = |path: &str, method: &str, name: &str| {
        let document = openapi_document();
        let parameters = document["paths"][path][method]["parameters"].as_array().unwrap().clone();
        parameters.into_iter().find(|parameter| parameter["name"] == name).unwrap()["schema"].take()
    };
    assert_eq!(parameter("/api/v1/hosts/import", "post", "dry_run")["default"], false);
    let fields = parameter(HOSTS, "get", "fields");
    assert!(fields["items"]["enum"].as_array().unwrap().contains(&json!("if_entries")), "{fields}");
    let sources = &parameter(HOSTS, "get", "source")["items"]["enum"];
    assert_eq!(*sources, json!(["Manual", "System", "Discovery", "DiscoveryWithMatch", "Unknown"]));
    #[cfg(feature = "discovery")]
    for name in ["complete", "create_neighbors", "dry_run"] {
        assert_eq!(parameter("/api/v1/discovery/import", "post", name)["default"], false, "{name}");
    }
    #[cfg(feature = "topology")]
    for name in ["collapse", "show_stale", "layout"] {
        assert_eq!(parameter("/api/v1/topology/graph", "get", name)["default"], true, "{name}");
    }
}

#[test]
fn passwords_are_only_written() {
    let document = openapi_document();
    for (schema, fields) in [
        ("CreateShareInput", vec!["password"]),
        ("UpdateShareInput", vec!["password"]),
        ("PatchShareInput", vec!["password"]),
        ("CreateUserInput", vec!["password"]),
        ("LoginInput", vec!["password"]),
        ("ChangePasswordInput", vec!["current_password", "new_password"]),
        ("VerifySharePasswordInput", vec!["password"]),
    ] {
        for field in fields {
            let property = &document["components"]["schemas"][schema]["properties"][field];
            assert_eq!(property["writeOnly"], true, "{schema}: {field}");
        }
    }
}

#[cfg(feature = "topology")]
#[test]
fn token_of_a_share_is_a_security_scheme() {
    let document = openapi_document();
    assert_eq!(document["components"]["securitySchemes"]["share_token"]["scheme"], "bearer");
    let shares = "/api/v1/shares/public/{id}";
    for (path, method) in [("topology", "post"), ("topology.svg", "get")] {
        let operation = &document["paths"][format!("{shares}/{path}")][method];
        assert_eq!(operation["security"], json!([{}, {"share_token": []}]));
    }
}

#[test]
fn objects_of_patches_and_repeated_answers_require_only_what_is_always_there() {
    let document = openapi_document();
    let schemas = &document["components"]["schemas"];
    for (path, field, form) in [
        (HOSTS, "source", "SourcePatch"),
        (HOSTS, "virtualization", "HostVirtualizationPatch"),
        ("/api/v1/services", "virtualization", "ServiceVirtualizationPatch"),
        ("/api/v1/if-entries", "lldp_chassis_id", "LldpChassisIdPatch"),
        ("/api/v1/shares", "options", "ShareOptionsPatch"),
    ] {
        let content = &document["paths"][format!("{path}/{{id}}")]["patch"]["requestBody"]["content"];
        let body = content["application/merge-patch+json"]["schema"]["$ref"].as_str().unwrap();
        let body = document.pointer(body.trim_start_matches('#')).unwrap();
        assert_eq!(body["required"], json!([]), "{path}");
        let property = body["properties"][field].to_string();
        assert!(property.contains(&format!("schemas/{form}\"")), "{property}");
        assert!(schemas[form]["properties"].as_object().unwrap().len() > 1, "{form}");
        assert!(schemas[form].get("required").is_none(), "{form}");
    }
    assert_eq!(
        schemas["HostVirtualizationPatch"]["properties"]["details"],
        json!({"$ref": "#/components/schemas/ProxmoxVirtualizationPatch"})
    );
    for (path, schema) in [(HOSTS, "HostOrIdResponse"), ("/api/v1/hosts/bulk", "BulkResultOrIdListResponse")]
    {
        let content = &document["paths"][path]["post"]["responses"]["200"]["content"];
        let expected = format!("#/components/schemas/{schema}");
        assert_eq!(content["application/json"]["schema"]["$ref"], expected);
    }
    for schema in ["HostOrId", "BulkResultOrId", "TagOrId"] {
        assert_eq!(schemas[schema]["required"], json!(["id"]));
    }
    assert!(schemas["Host"]["required"].as_array().unwrap().len() > 10, "a record that is read is whole");
}
