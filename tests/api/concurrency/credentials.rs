//! A credential that ends while many requests use it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use http::Request;
use serde_json::json;
use tokio::task::{JoinSet, yield_now};
use tokio::time::timeout;
use toposcope::model::{Permission, User};
use uuid::Uuid;

use super::outcome::{Outcome, disabled, not_authenticated, succeeded_or};
use super::stage::Stage;
use super::{FOR_EVER, STORES, join_all};
use crate::common::{OFFICE, bare, get, key_for, send_json, with_key, with_session};

const USERS: usize = 64;

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
    stage: Stage,
    user: User,
    key_id: Uuid,
    key: String,
    session: String,
    /// Whether the requests use the key rather than the session.
    is_key: bool,
    uses: AtomicUsize,
    is_over: AtomicBool,
}

impl Used {
    async fn new(stage: Stage, is_key: bool) -> Self {
        let user = stage.world.user(&stage.world.home, Permission::Owner, &[]).await;
        let key = key_for(&user, Permission::Owner, &[OFFICE]);
        let key = stage.inventory.create_user_api_key(key).await.unwrap();
        let session = stage.world.sign_in(&user).await;
        let (key_id, key) = (key.record().id, key.plaintext().to_owned());
        let (uses, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
        Self { stage, user, key_id, key, session, is_key, uses, is_over }
    }

    fn request(&self, number: usize) -> Request<String> {
        let new = json!({"name": "a daemon", "network_id": OFFICE, "tags": []});
        let request = if number.is_multiple_of(2) {
            get("/api/v1/hosts")
        } else {
            send_json("POST", "/api/v1/auth/daemon", &new)
        };
        if self.is_key { with_key(request, &self.key) } else { with_session(request, &self.session) }
    }

    /// Sends requests until one is refused, and one more. Only the first refusal may be any of `refusals`.
    async fn use_up(self: Arc<Self>, number: usize, refusals: Vec<Outcome>) {
        let mut is_refused = false;
        loop {
            let is_over = self.is_over.load(Ordering::SeqCst);
            let reply = self.stage.server.send(self.request(number)).await;
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
        let (inventory, id) = (&self.stage.inventory, self.user.id);
        match end {
            End::DeleteKey => {
                let request = bare("DELETE", &format!("/api/v1/auth/keys/{}", self.key_id));
                let reply = self.stage.server.send(with_session(request, &self.session)).await;
                assert_eq!(reply.data(), &json!({}));
            }
            End::LogOut => {
                let request = bare("POST", "/api/auth/logout");
                let reply = self.stage.server.send(with_session(request, &self.session)).await;
                assert_eq!(reply.data(), &json!({}));
            }
            End::DisableKey => drop(inventory.disable_user_api_key(self.key_id).await.unwrap()),
            End::TakeApiAccess => {
                inventory.disable_api_access(self.stage.organization()).await.unwrap();
            }
            End::ChangePassword => {
                inventory.set_user_password(id, Some("another password".to_owned())).await.unwrap();
            }
            End::DisableUser => drop(inventory.disable_user(id).await.unwrap()),
            End::DeleteUser => inventory.delete_user(id).await.unwrap(),
        }
    }
}

async fn race(stage: Stage, is_key: bool, end: End, refusals: Vec<Outcome>) {
    let used = Arc::new(Used::new(stage, is_key).await);
    let mut users = JoinSet::new();
    for number in 0..USERS {
        users.spawn(used.clone().use_up(number, refusals.clone()));
    }
    let ending = async {
        while used.uses.load(Ordering::SeqCst) < USERS {
            yield_now().await;
        }
        used.end(end).await;
        used.is_over.store(true, Ordering::SeqCst);
    };
    timeout(FOR_EVER, ending).await.unwrap_or_else(|_| panic!("{end:?} waits for ever"));
    join_all(users).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_key_that_has_ended_works_for_none_of_the_many_who_use_it() {
    let feature = (403, "billing_feature_not_available", json!({"feature": "api_access"}));
    for store in STORES {
        for (end, refusal) in [
            (End::DeleteKey, not_authenticated()),
            (End::DisableKey, disabled("User API Key")),
            (End::TakeApiAccess, feature.clone()),
            (End::DisableUser, disabled("User")),
            (End::DeleteUser, not_authenticated()),
        ] {
            race(Stage::new(store).await, true, end, vec![refusal]).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_session_that_has_ended_works_for_none_of_the_many_who_use_it() {
    for store in STORES {
        for end in [End::LogOut, End::ChangePassword, End::DisableUser, End::DeleteUser] {
            // A user disabled between the lookups of the session and of the user gets the second refusal.
            let refusals = vec![not_authenticated(), disabled("User")];
            race(Stage::new(store).await, false, end, refusals).await;
        }
    }
}
