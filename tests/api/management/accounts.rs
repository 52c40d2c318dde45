//! Users, credentials and passwords.

use super::*;
use crate::common::{LEVELS, PASSWORD, from, log_in, with_session};

const USERS: &str = "/api/v1/users";
const ME: &str = "/api/auth/me";

/// Sends a request of a new user, by session.
async fn ask_as(fixture: &Fixture, level: Permission, request: Request<String>) -> Reply {
    let user = fixture.user(&fixture.home, level, &[]).await;
    let session = fixture.sign_in(&user).await;
    fixture.send(with_session(request, &session)).await
}

fn user_body(level: Permission) -> Value {
    json!({"email": format!("{level}@example.org"), "permissions": level.to_string(), "network_ids": []})
}

#[test]
fn level_of_a_user_may_not_exceed_that_of_the_caller() {
    run_new(async |fixture| {
        for level in LEVELS {
            let created =
                ask_as(&fixture, Permission::Admin, send_json("POST", USERS, &user_body(level))).await;
            assert_eq!(created.status == 200, level <= Permission::Admin, "{level}");
            let user = serde_json::to_value(fixture.user(&fixture.home, level, &[]).await).unwrap();
            let path = path_of(USERS, &user);
            for present in LEVELS {
                let body = with(&user, "permissions", present.to_string());
                let reply = ask_as(&fixture, Permission::Admin, send_json("PUT", &path, &body)).await;
                if level.max(present) <= Permission::Admin {
                    assert_eq!(reply.status, 200, "{level} to {present}");
                } else {
                    reply.refuses(403, "auth_permission_denied");
                }
            }
            let reply = ask_as(&fixture, Permission::Admin, bare("DELETE", &path)).await;
            assert_eq!(reply.status == 200, level <= Permission::Admin, "{level}");
        }
    });
}

#[test]
fn last_enabled_owner_stays() {
    run_new(async |fixture| {
        let owner = fixture.user(&fixture.home, Permission::Owner, &[]).await;
        let session = fixture.sign_in(&owner).await;
        let send = async |request| fixture.send(with_session(request, &session)).await;
        let users = send(get(USERS)).await.data().clone();
        let own = json!(owner.id);
        for other in users.as_array().unwrap().iter().filter(|user| user["id"] != own) {
            assert_eq!(send(bare("DELETE", &path_of(USERS, other))).await.status, 200);
        }
        let record = send(get(ME)).await.data().clone();
        let path = path_of(USERS, &record);
        for request in [
            send_json("PUT", &path, &with(&record, "permissions", "Admin")),
            send_json("PUT", &path, &with(&record, "is_enabled", false)),
            bare("DELETE", &path),
        ] {
            let params = send(request).await.refuses(409, "entity_in_use").clone();
            assert_eq!((&params["entity"], &params["name"]), (&json!("User"), &json!(owner.email)));
        }
        send(send_json("POST", USERS, &user_body(Permission::Owner))).await.data();
        let demoted = send(send_json("PUT", &path, &with(&record, "permissions", "Viewer"))).await;
        assert_eq!(demoted.data()["permissions"], "Viewer");
        send(bare("DELETE", &path)).await.refuses(403, "auth_permission_denied");
    });
}

#[test]
fn user_is_unique_across_organizations_and_loses_access_at_once() {
    run_new(async |fixture| {
        let body = with(&user_body(Permission::Viewer), "password", PASSWORD);
        let created = ask_as(&fixture, Permission::Owner, send_json("POST", USERS, &body)).await;
        let user = created.data();
        let again = ask_as(&fixture, Permission::Owner, send_json("POST", USERS, &body)).await;
        let params = json!({"entity": "User", "name": "viewer@example.org", "id": user["id"]});
        assert_eq!(*again.refuses(409, "entity_already_exists"), params);
        let abroad = fixture.user(&fixture.abroad, Permission::Owner, &[]).await;
        let abroad = fixture.sign_in(&abroad).await;
        let taken =
            with_session(send_json("POST", USERS, &with(&body, "email", "VIEWER@example.org")), &abroad);
        let params = json!({"entity": "User", "name": "viewer@example.org"});
        assert_eq!(*fixture.send(taken).await.refuses(409, "entity_already_exists"), params);

        let session = async || {
            let reply = fixture.send(log_in("viewer@example.org", PASSWORD)).await;
            let cookie = reply.header("set-cookie");
            cookie["session_id=".len()..cookie.find(';').unwrap()].to_owned()
        };
        let first = session().await;
        let me = async |session: &str| fixture.send(with_session(get(ME), session)).await;
        assert_eq!(*me(&first).await.data(), *user);
        let posted = with_session(bare("POST", ME), &first);
        assert_eq!(*fixture.send(posted).await.data(), *user);
        let path = path_of(USERS, user);
        let update = async |field: &str, value: Value| {
            ask_as(&fixture, Permission::Owner, send_json("PUT", &path, &with(user, field, value))).await
        };
        assert_eq!(update("network_ids", json!([OFFICE])).await.status, 200);
        assert_eq!(me(&first).await.data()["network_ids"], json!([OFFICE]));
        assert_eq!(update("is_enabled", json!(false)).await.status, 200);
        assert_eq!(me(&first).await.status, 401);
        fixture.send(log_in("viewer@example.org", PASSWORD)).await.refuses(401, "auth_invalid_credentials");
        assert_eq!(update("is_enabled", json!(true)).await.status, 200);
        let second = session().await;
        ask_as(&fixture, Permission::Owner, bare("DELETE", &path)).await.data();
        assert_eq!(me(&second).await.status, 401);
    });
}

#[test]
fn changed_password_ends_the_other_sessions() {
    run_new(async |fixture| {
        let user = fixture.user(&fixture.home, Permission::Viewer, &[]).await;
        let [own, other] = [fixture.sign_in(&user).await, fixture.sign_in(&user).await];
        let change = |current: &str, new: &str| {
            let body = json!({"current_password": current, "new_password": new});
            send_json("POST", "/api/auth/password", &body)
        };
        let new = "another long password";
        let send = async |request, session: &str| fixture.send(with_session(request, session)).await;
        let reply = send(change("wrong password", new), &own).await;
        assert_eq!(*reply.refuses(403, "auth_password_incorrect"), json!({"field": "current_password"}));
        assert_eq!(send(get(ME), &own).await.status, 200, "the session stays valid");
        let reply = send(change(PASSWORD, "short"), &own).await;
        assert_eq!(*reply.refuses(400, "validation_min_length"), json!({"field": "new_password", "min": 10}));
        fixture.ask(change(PASSWORD, new)).await.refuses(403, "auth_user_context_required");
        assert_eq!(*send(change(PASSWORD, new), &own).await.data(), json!({}));
        assert_eq!(
            (send(get(ME), &own).await.status, send(get(ME), &other).await.status.as_u16()),
            (http::StatusCode::OK, 401)
        );
        fixture.send(log_in(&user.email, PASSWORD)).await.refuses(401, "auth_invalid_credentials");
        assert_eq!(fixture.send(log_in(&user.email, new)).await.status, 200);
    });
}

#[test]
fn rotated_key_replaces_the_former_at_once() {
    run_new(async |fixture| {
        let owner = fixture.user(&fixture.home, Permission::Owner, &[]).await;
        let session = fixture.sign_in(&owner).await;
        let send = async |request| fixture.send(with_session(request, &session)).await;
        let user_key = json!({"name": "k", "permissions": "Viewer", "network_ids": [OFFICE]});
        let daemon_key = json!({"name": "k", "network_id": OFFICE, "tags": []});
        for (path, body) in [("/api/v1/auth/keys", user_key), ("/api/v1/auth/daemon", daemon_key)] {
            let issued = send(send_json("POST", path, &body)).await.data().clone();
            assert_eq!(issued["api_key"]["key"], issued["key"]);
            let item = path_of(path, &issued["api_key"]);
            let rotated = send(bare("POST", &format!("{item}/rotate"))).await.data().clone();
            assert_ne!(rotated["key"], issued["key"]);
            assert_eq!(
                (&rotated["api_key"]["id"], &rotated["api_key"]["name"]),
                (&issued["api_key"]["id"], &json!("k"))
            );
            let status = async |issued: &Value| {
                fixture.server.get_with(issued["key"].as_str().unwrap(), HOSTS).await.status.as_u16()
            };
            let accepted = if path.ends_with("keys") { 200 } else { 403 };
            assert_eq!((status(&issued).await, status(&rotated).await), (401, accepted));
            let masked = send(get(&item)).await.data()["key"].as_str().unwrap().to_owned();
            assert!(rotated["key"].as_str().unwrap().ends_with(masked.split('…').next_back().unwrap()));
            let missing = format!("{path}/{NOBODY}/rotate");
            send(bare("POST", &missing)).await.refuses(404, "entity_not_found");
        }
    });
}

#[test]
fn password_of_a_share_is_verified_and_attempts_are_limited() {
    run_new(async |fixture| {
        let fixture = fixture.on_one_instance();
        let share = fixture.post("/api/v1/shares", &with(&host_body(), "password", PASSWORD)).await;
        assert_eq!((&share["requires_password"], share.get("password")), (&json!(true), None));
        let verify = |password: &str, client: &str| {
            let path = format!("/api/v1/shares/public/{}/verify", share["id"].as_str().unwrap());
            from(client, send_json("POST", &path, &json!({"password": password})))
        };
        let token = fixture.send(verify(PASSWORD, "192.0.2.1")).await;
        assert_eq!(token.data()["expires_at"], "2026-08-15T00:00:00Z");
        for _ in 0..5 {
            let reply = fixture.send(verify("wrong", "192.0.2.1")).await;
            reply.refuses(403, "share_password_incorrect");
        }
        fixture.send(verify(PASSWORD, "192.0.2.1")).await.refuses(429, "auth_too_many_attempts");
        assert_eq!(fixture.send(verify(PASSWORD, "198.51.100.7")).await.status, 200);
        let path = path_of("/api/v1/shares", &share);
        let open = fixture.ask(send_json("PUT", &path, &with(&share, "password", Value::Null))).await;
        assert_eq!(open.data()["requires_password"], false);
        let short = fixture.ask(send_json("PUT", &path, &with(&share, "password", "short"))).await;
        assert_eq!(*short.refuses(400, "validation_min_length"), json!({"field": "password", "min": 10}));
    });
}
