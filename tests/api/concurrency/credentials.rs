//! A credential that ends while many requests use it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use toposcope::access::Caller;

use http::Request;
use serde_json::json;
use tokio::task::{JoinSet, yield_now};
use tokio::time::timeout;

use super::{DEADLINE, Fixture, Owner, join_all, on_each_store, succeeded_or};
use crate::common::{OFFICE, get, send_json, with_key, with_session};
use crate::isolation::oracle::values::{Refusal, disabled, not_authenticated, refusal};

const CLIENTS: usize = 64;

/// How the credential ends.
#[derive(Clone, Copy, Debug)]
enum End {
    DeleteKey,
    DisableKey,
    TakeApiAccess,
    LogOut,
    ChangePassword,
    DisableUser,
    DeleteUser,
}

/// The credential in use, and everything that ends with it.
struct Used {
    fixture: Fixture,
    owner: Owner,
    /// Whether the requests use the key rather than the session.
    is_key: bool,
    uses: AtomicUsize,
    is_over: AtomicBool,
}

impl Used {
    fn request(&self, number: usize) -> Request<String> {
        let new = json!({"name": "a daemon", "network_id": OFFICE, "tags": []});
        let request = if number.is_multiple_of(2) {
            get("/api/v1/hosts")
        } else {
            send_json("POST", "/api/v1/auth/daemon", &new)
        };
        let Owner { key_text, session, .. } = &self.owner;
        if self.is_key { with_key(request, key_text) } else { with_session(request, session) }
    }

    /// Sends requests until one is refused, and one more. Only the first refusal may be any of `refusals`.
    async fn use_up(self: Arc<Self>, number: usize, refusals: Vec<Refusal>) {
        let mut is_refused = false;
        loop {
            let is_over = self.is_over.load(Ordering::SeqCst);
            let reply = self.fixture.send(self.request(number)).await;
            let refusals = if is_over { &refusals[..1] } else { &refusals };
            if succeeded_or(&reply, refusals) {
                assert!(!is_over && !is_refused, "it still works");
                self.uses.fetch_add(1, Ordering::SeqCst);
            } else {
                is_refused = true;
            }
            if is_over {
                return;
            }
            yield_now().await;
        }
    }

    async fn end(&self, end: End) {
        let (inventory, id, key) = (&self.fixture.inventory, self.owner.user.id, self.owner.key);
        let send = async |method, target: &str| {
            let reply = self.fixture.send_as(&self.owner.session, method, target, &json!(null)).await;
            assert_eq!(reply.data(), &json!({}));
        };
        match end {
            End::DeleteKey => send("DELETE", &format!("/api/v1/auth/keys/{key}")).await,
            End::LogOut => send("POST", "/api/auth/logout").await,
            End::DisableKey => drop(
                inventory
                    .user_api_keys()
                    .disable(&Caller::system(self.fixture.organization()), key)
                    .await
                    .unwrap(),
            ),
            End::TakeApiAccess => {
                inventory.organizations().disable_api_access(self.fixture.organization()).await.unwrap();
            }
            End::ChangePassword => {
                inventory
                    .users()
                    .set_password(
                        &Caller::system(self.fixture.organization()),
                        id,
                        Some("another password".to_owned()),
                    )
                    .await
                    .unwrap();
            }
            End::DisableUser => drop(
                inventory.users().disable(&Caller::system(self.fixture.organization()), id).await.unwrap(),
            ),
            End::DeleteUser => {
                inventory.users().delete(&Caller::system(self.fixture.organization()), id).await.unwrap();
            }
        }
    }
}

async fn race(fixture: Fixture, is_key: bool, end: End, refusals: Vec<Refusal>) {
    let owner = fixture.new_owner(&[OFFICE]).await;
    let (uses, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let used = Arc::new(Used { fixture, owner, is_key, uses, is_over });
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        clients.spawn(used.clone().use_up(number, refusals.clone()));
    }
    let ending = async {
        while used.uses.load(Ordering::SeqCst) < CLIENTS {
            yield_now().await;
        }
        used.end(end).await;
        used.is_over.store(true, Ordering::SeqCst);
    };
    timeout(DEADLINE, ending).await.unwrap_or_else(|_| panic!("{end:?} hangs"));
    join_all(clients).await;
}

#[test]
fn ended_key_is_refused_to_all_concurrent_requests() {
    on_each_store(async |wrap| {
        let feature = refusal(403, "billing_feature_not_available", json!({"feature": "api_access"}));
        for (end, expected) in [
            (End::DeleteKey, not_authenticated()),
            (End::DisableKey, disabled("User API Key")),
            (End::TakeApiAccess, feature),
            (End::DisableUser, disabled("User")),
            (End::DeleteUser, not_authenticated()),
        ] {
            race(Fixture::new(wrap).await, true, end, vec![expected]).await;
        }
    });
}

#[test]
fn ended_session_is_refused_to_all_concurrent_requests() {
    on_each_store(async |wrap| {
        for end in [End::LogOut, End::ChangePassword, End::DisableUser, End::DeleteUser] {
            // A user disabled between the lookups of the session and of the user gets the second refusal.
            let refusals = vec![not_authenticated(), disabled("User")];
            race(Fixture::new(wrap).await, false, end, refusals).await;
        }
    });
}
