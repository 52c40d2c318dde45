//! An application whose users log in at the OpenID Connect providers of their tenants, with the inventory built in.
//!
//! | Path | |
//! |---|---|
//! | `GET /login/{tenant}` | sends the browser to the provider of the tenant |
//! | `GET /login/{tenant}/callback` | the redirect target of the provider: begins a session |
//! | `POST /logout` | ends the session, and the user's open streams |
//! | `/inventory/…` | the API, for users with a session |
//!
//! `caller.rs` is the part that maps a login to a [`Caller`].

mod caller;
mod cookie;
mod error;
mod provider;
mod sessions;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use openidconnect::reqwest;
use serde::Deserialize;
use toposcope::access::{Caller, Clock};
use toposcope::service::Endpoints;
use toposcope::{Api, Inventory};

pub use self::caller::{Claims, GroupClaims, Rights};
pub use self::error::LoginError;
pub use self::provider::Registration;
use self::provider::{PendingLogin, Provider};
pub use self::sessions::MAX_SESSIONS;
use self::sessions::Sessions;

/// The time in which a login has to be finished.
const LOGIN_LIFETIME: Duration = Duration::from_secs(10 * 60);

/// The time after which users log in again. Changes of their groups take effect then.
pub const SESSION_LIFETIME: Duration = Duration::from_secs(60 * 60);

/// A tenant with its own provider. Sessions are counted by tenant, so that no tenant ends those of another.
struct Tenant {
    rights: Rights,
    provider: Provider,
    sessions: Sessions,
}

/// The application. Clones share its state.
#[derive(Clone)]
pub struct Application {
    api: Api,
    clock: Arc<dyn Clock>,
    /// Tenants by the names in their paths, which consist of letters, digits and hyphens.
    tenants: Arc<BTreeMap<String, Tenant>>,
}

impl Application {
    /// Creates the application. The organizations of the tenants must exist.
    ///
    /// # Errors
    /// The errors of the HTTP client, when it finds no certificates.
    pub fn new(
        inventory: Inventory,
        clock: Arc<dyn Clock>,
        tenants: impl IntoIterator<Item = (String, Rights, Registration)>,
    ) -> Result<Self, reqwest::Error> {
        let tenants = tenants.into_iter().map(|(name, rights, registration)| {
            let provider = Provider::new(registration)?;
            Ok((name, Tenant { rights, provider, sessions: Sessions::default() }))
        });
        let tenants = tenants.collect::<Result<_, reqwest::Error>>()?;
        // Keys would outlive the sessions in which they were made.
        let own = Endpoints::LOGIN | Endpoints::USERS | Endpoints::USER_API_KEYS | Endpoints::ORGANIZATIONS;
        let api = Api::builder(inventory).path_prefix("/inventory").without(own).build();
        Ok(Self { api, clock, tenants: Arc::new(tenants) })
    }

    /// Returns the API, for its shutdown.
    pub fn api(&self) -> &Api {
        &self.api
    }

    /// Returns the routes of the application.
    pub fn router(&self) -> Router {
        Router::new()
            .route("/login/{tenant}", get(begin_login))
            .route("/login/{tenant}/callback", get(finish_login))
            .route("/logout", post(log_out))
            .nest("/inventory", self.api.routes())
            .layer(from_fn_with_state(self.clone(), set_caller))
            .with_state(self.clone())
    }

    fn tenant(&self, name: &str) -> Result<&Tenant, LoginError> {
        self.tenants.get(name).ok_or(LoginError::UnknownTenant)
    }

    /// Returns the tenant of the request's session, and the id of the session.
    fn session(&self, headers: &HeaderMap) -> Option<(&Tenant, String)> {
        let [tenant, id] = cookie::SESSION.parts(headers)?;
        Some((self.tenants.get(&tenant)?, id))
    }
}

/// Sets the caller of a request with a session. The API judges all others.
async fn set_caller(State(application): State<Application>, mut request: Request, next: Next) -> Response {
    let session = application.session(request.headers());
    if let Some(caller) = session.and_then(|(tenant, id)| tenant.sessions.caller(&id)) {
        request.extensions_mut().insert::<Caller>(caller);
    }
    next.run(request).await
}

async fn begin_login(
    State(application): State<Application>,
    Path(name): Path<String>,
) -> Result<Response, LoginError> {
    let (url, login) = application.tenant(&name)?.provider.begin().await?;
    let parts = [&*name, &login.state, &login.nonce, &login.verifier];
    let cookie = cookie::LOGIN.set(&parts, LOGIN_LIFETIME.as_secs());
    Ok(([(header::SET_COOKIE, cookie)], Redirect::to(url.as_str())).into_response())
}

/// The query parameters that the provider adds to the redirect address.
#[derive(Deserialize)]
struct Callback {
    state: String,
    /// Missing if the provider has not let the user in.
    code: Option<String>,
}

async fn finish_login(
    State(application): State<Application>,
    Path(name): Path<String>,
    Query(callback): Query<Callback>,
    headers: HeaderMap,
) -> Result<Response, LoginError> {
    let tenant = application.tenant(&name)?;
    let [begun_at, state, nonce, verifier] = cookie::LOGIN.parts(&headers).ok_or(LoginError::NotBegun)?;
    if begun_at != name || state != callback.state {
        return Err(LoginError::NotBegun);
    }
    let code = callback.code.ok_or(LoginError::Refused)?;
    let claims = tenant.provider.finish(PendingLogin { state, nonce, verifier }, code).await?;
    let lifetime = i64::try_from(SESSION_LIFETIME.as_micros()).unwrap_or(i64::MAX);
    let session_end = application.clock.now().plus_micros(lifetime);
    let caller = tenant.rights.caller(application.api.inventory(), &claims, session_end).await?;
    let session = tenant.sessions.begin(caller);
    let mut response = Redirect::to("/").into_response();
    response.headers_mut().append(header::SET_COOKIE, cookie::LOGIN.set(&[], 0));
    let cookie = cookie::SESSION.set(&[&name, &session], SESSION_LIFETIME.as_secs());
    response.headers_mut().append(header::SET_COOKIE, cookie);
    Ok(response)
}

/// Ends the session of the request, whether or not it has expired. Other sessions of the user go on, without their streams.
async fn log_out(State(application): State<Application>, headers: HeaderMap) -> Result<Response, LoginError> {
    let session = application.session(&headers);
    if let Some(caller) = session.and_then(|(tenant, id)| tenant.sessions.end(&id)) {
        application.api.revoke(caller.user_id()).await?;
    }
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie::SESSION.set(&[], 0))]).into_response())
}
