//! Callers of organizations that do not exist, and endpoints that the host application leaves out.

#[cfg(feature = "openapi")]
use std::collections::BTreeSet;

use http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use toposcope::access::{Caller, Scope};
use toposcope::model::Permission;
use toposcope::service::{Api, Endpoints};
use tower::ServiceExt;

use crate::backend::run_with;
use crate::common::{Fixture, NOBODY, bare, get, with_caller, with_key, with_session};
#[cfg(feature = "openapi")]
use crate::common::{Hook, openapi_document, send_json};

const ALL: [Endpoints; 9] = [
    Endpoints::LOGIN,
    Endpoints::USERS,
    Endpoints::USER_API_KEYS,
    Endpoints::ORGANIZATIONS,
    Endpoints::SHARES,
    Endpoints::DAEMONS,
    Endpoints::TOPOLOGY,
    Endpoints::OPENAPI,
    Endpoints::TOPOLOGY_PAGE,
];

/// Returns the status and the error code of an answer, which need not be documented: another server has more endpoints.
async fn answer(api: &Api, request: Request<String>) -> (u16, String) {
    let response = api.clone().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    if status < 400 {
        return (status, String::new());
    }
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let envelope: Value = serde_json::from_slice(&body).unwrap_or_default();
    (status, envelope["code"].as_str().unwrap_or_default().to_owned())
}

/// Returns a request for each documented operation, with its path and its description.
#[cfg(feature = "openapi")]
fn operations() -> Vec<(String, Request<String>, Value)> {
    let document = openapi_document();
    let mut operations = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let target = path.replace("{view}", "l2");
        let target = target.split('/').map(|part| match part.strip_prefix('{') {
            Some(rest) => rest.split_once('}').map_or(part.to_owned(), |(_, end)| format!("{NOBODY}{end}")),
            None => part.to_owned(),
        });
        let target = target.collect::<Vec<_>>().join("/");
        for (method, operation) in methods.as_object().unwrap() {
            let request = match operation.get("requestBody") {
                Some(_) => send_json(&method.to_uppercase(), &target, &json!({})),
                None => bare(&method.to_uppercase(), &target),
            };
            operations.push((path.clone(), request, operation.clone()));
        }
    }
    operations
}

#[cfg(feature = "openapi")]
#[test]
fn caller_of_an_unknown_organization_gets_404_everywhere_and_stores_nothing() {
    run_with(Fixture::with_one_host, async |fixture| {
        let hook = Hook::new();
        let server = fixture.server_with(&hook);
        let mut asked = 0;
        for (path, request, operation) in operations() {
            let needs_caller = operation["security"].as_array().unwrap().iter().any(|scheme| {
                scheme.get("api_key").is_some()
                    || scheme.get("session").is_some() && !path.ends_with("/logout")
            });
            if !needs_caller {
                continue;
            }
            asked += 1;
            let caller = Caller::new(NOBODY.into(), NOBODY.into(), Permission::Owner, Scope::all());
            let reply = server.send(with_caller(request, caller)).await;
            if path.starts_with("/topology/") {
                assert_eq!(reply.status, 404);
                continue;
            }
            let params = reply.refuses(404, "entity_not_found");
            assert_eq!(*params, json!({"entity": "Organization", "id": NOBODY}), "{path}");
        }
        assert!(asked > 60, "{asked}");
        assert_eq!(hook.commits(), 0);
    });
}

#[test]
fn caller_of_an_unknown_organization_may_use_what_needs_no_caller() {
    run_with(Fixture::new, async |fixture| {
        let caller = || Caller::new(NOBODY.into(), NOBODY.into(), Permission::Owner, Scope::all());
        for target in ["/api/version", "/api/health"] {
            assert_eq!(fixture.send(with_caller(get(target), caller())).await.status, 200, "{target}");
        }
        let logout = fixture.send(with_caller(bare("POST", "/api/auth/logout"), caller())).await;
        assert_eq!(logout.status, 200);
        let unknown = fixture.send(with_caller(get("/api/v1/nothing"), caller())).await;
        unknown.refuses(404, "route_not_found");
    });
}

#[test]
fn callers_and_keys_of_a_deleted_organization_are_refused() {
    run_with(Fixture::with_one_host, async |fixture| {
        let user = fixture.user(&fixture.home, Permission::Owner, &[]).await;
        let session = fixture.sign_in(&user).await;
        let list = || get("/api/v1/hosts");
        let home = fixture.home.organization.id;
        assert_eq!(fixture.send(with_caller(list(), fixture.viewer())).await.ids(), [1]);
        fixture.inventory.organizations().delete(home).await.unwrap();
        let reply = fixture.send(with_caller(list(), fixture.viewer())).await;
        assert_eq!(*reply.refuses(404, "entity_not_found"), json!({"entity": "Organization", "id": home}));
        fixture.send(with_key(list(), &fixture.key)).await.refuses(401, "auth_not_authenticated");
        let reply = fixture.send(with_session(list(), &session)).await;
        reply.refuses(401, "auth_not_authenticated");
        let abroad = fixture.owner_key(&fixture.abroad).await;
        assert_eq!(fixture.server.get_with(&abroad, "/api/v1/networks").await.status, 200);
    });
}

#[cfg(feature = "openapi")]
#[test]
fn endpoints_that_are_left_out_do_not_exist() {
    run_with(Fixture::new, async |fixture| {
        let all: BTreeSet<String> = operations().into_iter().map(|(path, ..)| path).collect();
        let mut removed_by_any = BTreeSet::new();
        for group in ALL {
            let server = fixture.configured(|builder| builder.without(group));
            let mut removed = BTreeSet::new();
            for (path, request, _) in operations() {
                let (status, code) = answer(&server.api, with_key(request, &fixture.key)).await;
                if code == "route_not_found" {
                    assert_eq!(status, 404);
                    removed.insert(path);
                }
            }
            assert!(!removed.is_empty(), "{group:?}");
            if group != Endpoints::OPENAPI {
                let document: Value =
                    serde_json::from_slice(&server.get("/openapi.json").await.body).unwrap();
                let left: BTreeSet<String> = document["paths"].as_object().unwrap().keys().cloned().collect();
                assert_eq!(left, all.difference(&removed).cloned().collect(), "{group:?}");
                check_references(&document);
            }
            for path in removed {
                // The page of a network is left out with all of topologies, too.
                let is_other = removed_by_any.insert(path.clone()) || group == Endpoints::TOPOLOGY_PAGE;
                assert!(is_other, "{path} is of two groups");
            }
        }
        let kept: Vec<&String> = all.difference(&removed_by_any).collect();
        assert!(kept.iter().any(|path| *path == "/api/v1/hosts") && kept.len() > 20, "{kept:?}");
        for path in ["/api/auth/", "/api/v1/users", "/share/", "/api/v1/auth/", "/api/daemons/"] {
            assert!(!kept.iter().any(|kept| kept.starts_with(path)), "{path}");
        }
    });
}

/// Asserts that everything that is referred to is there, and that each schema is referred to.
#[cfg(feature = "openapi")]
fn check_references(document: &Value) {
    let text = document.to_string();
    let referred: BTreeSet<&str> =
        text.split("\"$ref\":\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    for reference in &referred {
        assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
    }
    for name in document["components"]["schemas"].as_object().unwrap().keys() {
        assert!(referred.contains(format!("#/components/schemas/{name}").as_str()), "{name}");
    }
}

#[test]
fn groups_that_are_left_out_add_up_and_the_rest_works() {
    run_with(Fixture::with_one_host, async |fixture| {
        let server = fixture.configured(|builder| {
            builder.without(Endpoints::LOGIN | Endpoints::USERS).without(Endpoints::SHARES)
        });
        for (method, target) in
            [("POST", "/api/auth/login"), ("GET", "/api/v1/users"), ("GET", "/api/v1/shares")]
        {
            let refused = answer(&server.api, bare(method, target)).await;
            assert_eq!(refused, (404, "route_not_found".to_owned()), "{target}");
        }
        assert_eq!(server.get_with(&fixture.key, "/api/v1/hosts").await.ids(), [1]);
        assert_eq!(server.get_with(&fixture.key, "/api/v1/auth/keys").await.status, 200);
        let groups = Endpoints::LOGIN | Endpoints::SHARES;
        assert_eq!(format!("{groups:?}"), "Endpoints(LOGIN | SHARES)");
        assert!(groups.contains(Endpoints::LOGIN) && !groups.contains(Endpoints::LOGIN | Endpoints::USERS));
    });
}

#[cfg(feature = "axum")]
#[test]
fn routes_for_axum_lack_what_is_left_out() {
    run_with(Fixture::new, async |fixture| {
        let api = fixture.configured(|builder| builder.without(Endpoints::LOGIN)).api;
        let application: axum::Router = api.routes().fallback(|| async { "nothing here" });
        let login = bare("POST", "/api/auth/login").map(axum::body::Body::from);
        let response = application.oneshot(login).await.unwrap();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(&body[..], b"nothing here");
    });
}

#[cfg(feature = "client")]
#[test]
fn methods_of_the_client_for_what_is_left_out_fail_and_the_others_work() {
    use toposcope::client::Client;
    use toposcope::model::Tag;
    use toposcope::wire::ErrorCode;

    run_with(Fixture::with_one_host, async |fixture| {
        let groups = ALL.into_iter().fold(Endpoints::default(), |all, group| all | group);
        let api = fixture.configured(|builder| builder.without(groups)).api;
        let mut client = Client::new(api).with_api_key(&fixture.key).unwrap();
        let missing = Some(ErrorCode::RouteNotFound);
        assert_eq!(client.me().await.unwrap_err().code(), missing);
        assert_eq!(client.share_metadata(NOBODY.into()).await.unwrap_err().code(), missing);
        assert_eq!(client.log_in("a@example.net", "a password").await.unwrap_err().code(), missing);
        client.version().await.unwrap();
        let tag: Tag = client.get(fixture.home.tags[0]).await.unwrap().record;
        assert_eq!(tag.id, fixture.home.tags[0]);
    });
}
