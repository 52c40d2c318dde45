//! The callers that each endpoint admits.

use serde_json::json;
use toposcope::model::Permission;

use crate::backend::run_with;
use crate::common::{LEVELS, NOBODY, OFFICE, Populated, key_for, send_json, with_key, with_session};
use crate::requests::routes::{Access, Route, routes};

/// The credentials with which each endpoint is tried.
#[derive(Clone, Copy, Debug)]
enum Credential {
    None,
    DaemonKey,
    Key(Permission),
    Session(Permission),
}

impl Access {
    /// Returns the expected code of the 401 or 403 for a caller. Returns `None` if the endpoint admits the caller.
    fn refusal(self, credential: Credential) -> Option<&'static str> {
        let (needed, is_in_person) = match self {
            Self::Anyone => return None,
            Self::Caller(level) => (level, true),
            Self::InPerson(level) => (level, !matches!(credential, Credential::Key(_))),
            #[cfg(feature = "discovery")]
            Self::Daemon if matches!(credential, Credential::DaemonKey) => return None,
            #[cfg(feature = "discovery")]
            Self::Daemon => return Some("auth_not_authenticated"),
            #[cfg(feature = "discovery")]
            Self::CallerOrDaemon(_) if matches!(credential, Credential::DaemonKey) => return None,
            #[cfg(feature = "discovery")]
            Self::CallerOrDaemon(level) => (level, true),
        };
        match credential {
            Credential::None => Some("auth_not_authenticated"),
            Credential::DaemonKey => Some("auth_user_context_required"),
            _ if !is_in_person => Some("auth_user_context_required"),
            Credential::Key(level) | Credential::Session(level) => {
                (level < needed).then_some("auth_permission_denied")
            }
        }
    }
}

/// The requests change nothing, because they name unknown records and have no fields.
#[test]
fn every_endpoint_admits_the_callers_that_the_contract_names() {
    run_with(Populated::new, async |fixture| {
        let mut callers =
            vec![(Credential::None, String::new()), (Credential::DaemonKey, fixture.daemon_key.clone())];
        for level in LEVELS {
            let user = fixture.user(&fixture.home, level, &[OFFICE]).await;
            callers.push((Credential::Session(level), fixture.sign_in(&user).await));
            callers.push((Credential::Key(level), fixture.issue(key_for(&user, level, &[OFFICE])).await));
        }
        // The logout comes last, because it ends the sessions.
        let ends_sessions = |route: &&Route| route.path == "/api/auth/logout";
        let (last, first): (Vec<_>, Vec<_>) = routes().iter().partition(ends_sessions);
        for route in first.into_iter().chain(last) {
            let path = route.path_of(&NOBODY.to_string(), &NOBODY.to_string());
            for (credential, text) in &callers {
                let request = send_json(route.method, &path, &json!({}));
                let reply = fixture.send(match credential {
                    Credential::None => request,
                    Credential::Session(_) => with_session(request, text),
                    Credential::Key(_) | Credential::DaemonKey => with_key(request, text),
                });
                let reply = reply.await;
                let status = reply.status.as_u16();
                if route.path == "/topology/{id}" {
                    // It explains a refusal in words.
                    let is_refused = [401, 403].contains(&status);
                    assert_eq!(is_refused, route.access.refusal(*credential).is_some(), "{credential:?}");
                    continue;
                }
                let given = (status == 401 || status == 403).then(|| reply.json["code"].as_str().unwrap());
                assert_eq!(given, route.access.refusal(*credential), "{} {credential:?}", route.name());
                assert_ne!(status, 405, "{}", route.name());
            }
        }
    });
}
