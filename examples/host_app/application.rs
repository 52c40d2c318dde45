//! The routes, metrics and lifecycle of the application.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::extract::{ConnectInfo, FromRef, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, put};
use tokio::net::TcpListener;
use tokio::sync::watch;
use toposcope::access::Caller;
use toposcope::inventory::{Entity, Error, ErrorKind, NewOrganization, NewUser};
use toposcope::model::{Network, NetworkId, OrganizationId, Permission};
use toposcope::service::{ClientAddressSource, Endpoints, Served};
use toposcope::{Api, Inventory, figures};
use tower_http::compression::CompressionLayer;
use tower_http::cors::CorsLayer;

use super::assets::{ASSET_TAG, KeepAssets, tag_host};
use super::tokens::Tokens;

pub(crate) const ACME: OrganizationId = OrganizationId::from_u128(1);
pub(crate) const GLOBEX: OrganizationId = OrganizationId::from_u128(2);

/// The origin of the pages that use the API in browsers.
pub(crate) const PAGES: &str = "https://app.example.net";
const PREFIX: &str = "/inventory";

/// Counts of answers by tenant, operation and status. There are few, because no client chooses one.
type Answers = BTreeMap<(String, &'static str, u16), u64>;

/// The application. Clones share its state.
#[derive(Clone)]
pub(crate) struct Application {
    pub(crate) api: Api,
    tokens: Tokens,
    answers: Arc<Mutex<Answers>>,
}

impl FromRef<Application> for Api {
    fn from_ref(application: &Application) -> Self {
        application.api.clone()
    }
}

impl Application {
    pub(crate) async fn open(
        inventory: Inventory,
        tokens: Tokens,
        mut stop: watch::Receiver<bool>,
    ) -> Result<Self, Error> {
        let inventory = inventory.with_policy(KeepAssets).with_custom_index([ASSET_TAG]);
        inventory.upgrade().await?;
        for (id, name) in [(ACME, "Acme"), (GLOBEX, "Globex")] {
            inventory.organizations().ensure(NewOrganization::new(name).id(id)).await?;
            let site = NetworkId::from_u128(id.as_u128());
            inventory.networks().ensure(&Caller::system(id), site, Network::new("Headquarters")).await?;
        }
        let own = Endpoints::LOGIN | Endpoints::USERS | Endpoints::USER_API_KEYS | Endpoints::ORGANIZATIONS;
        let peer = ClientAddressSource::extension(|peer: &ConnectInfo<SocketAddr>| peer.0.ip());
        let api = Api::builder(inventory).path_prefix(PREFIX).without(own).client_address(peer);
        // An error means that the sender was dropped.
        let asked = async move { stop.wait_for(|asked| *asked).await.map_or((), drop) };
        Ok(Self { api: api.shutdown(asked).build(), tokens, answers: Arc::default() })
    }

    /// Returns a token for a user whom the application has authenticated.
    pub(crate) async fn log_in(
        &self,
        tenant: OrganizationId,
        name: &str,
        level: Permission,
    ) -> Result<String, Error> {
        let new = NewUser::external(tenant, name, level);
        let user = self.api.inventory().users().ensure(&Caller::system(tenant), new).await?;
        if !user.is_enabled {
            return Err(ErrorKind::Disabled { entity: Entity::User }.into());
        }
        self.tokens.issue(&user).map_err(|_| ErrorKind::Internal.into())
    }

    /// Returns the routes for users.
    pub(crate) fn router(&self) -> Router {
        let inventory = self.api.routes().route("/assets/{tag}/{host}", put(tag_host));
        Router::new()
            .nest(PREFIX, inventory)
            .fallback(async || (StatusCode::NOT_FOUND, "There is nothing here."))
            .layer(from_fn_with_state(self.clone(), authenticate_and_count))
            // Streams of events are not compressed, so that each event arrives at once.
            .layer(CompressionLayer::new())
            .layer(cors())
            .with_state(self.clone())
    }

    /// Returns the routes for the monitoring.
    pub(crate) fn monitoring(&self) -> Router {
        Router::new().route("/metrics", get(metrics)).with_state(self.clone())
    }

    /// Serves until the application is asked to stop and all requests are answered.
    pub(crate) async fn serve(self, public: TcpListener, monitoring: TcpListener) -> io::Result<()> {
        let service = self.router().into_make_service_with_connect_info::<SocketAddr>();
        let public = axum::serve(public, service).with_graceful_shutdown(self.api.stopping());
        let monitoring =
            axum::serve(monitoring, self.monitoring()).with_graceful_shutdown(self.api.stopping());
        tokio::try_join!(public.into_future(), monitoring.into_future())?;
        // A store that has to be closed is closed after this.
        self.api.drained().await;
        Ok(())
    }

    fn answers(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sets the caller of a request with a token, and counts the answer. The API judges all other credentials, and the expiry.
async fn authenticate_and_count(
    State(application): State<Application>,
    mut request: Request,
    next: Next,
) -> Response {
    if let Some(caller) = application.tokens.caller(request.headers()) {
        request.extensions_mut().insert(caller);
    }
    let response = next.run(request).await;
    if let Some(served) = response.extensions().get::<Served>() {
        let tenant = served.caller.as_ref().map(|caller| caller.organization_id().to_string());
        let operation = served.operation_id.unwrap_or(served.route);
        let answer = (tenant.unwrap_or_default(), operation, response.status().as_u16());
        *application.answers().entry(answer).or_default() += 1;
    }
    response
}

/// Answers with the counts of the application, followed by the figures of the API.
async fn metrics(State(application): State<Application>) -> impl IntoResponse {
    let mut text = String::from("# TYPE app_answers counter\n# HELP app_answers Answers by tenant.\n");
    for ((tenant, operation, status), count) in &*application.answers() {
        let labels = format!("tenant=\"{tenant}\",operation=\"{operation}\",status=\"{status}\"");
        let _ = writeln!(text, "app_answers_total{{{labels}}} {count}");
    }
    text += &application.api.figures().to_openmetrics();
    ([(header::CONTENT_TYPE, figures::CONTENT_TYPE)], text)
}

/// Lets pages of another origin send requests with a token, and read the headers of answers.
fn cors() -> CorsLayer {
    use header::{AUTHORIZATION, CONTENT_TYPE, ETAG, IF_MATCH, IF_NONE_MATCH, LOCATION, RETRY_AFTER};
    CorsLayer::new()
        .allow_origin(HeaderValue::from_static(PAGES))
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        .allow_headers([AUTHORIZATION, CONTENT_TYPE, IF_MATCH, IF_NONE_MATCH])
        .expose_headers([ETAG, LOCATION, RETRY_AFTER, HeaderName::from_static("x-ratelimit-remaining")])
}
