//! The application into which the API is built, in process and over loopback connections.

mod access;
mod surroundings;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, LOCATION};
use http::{HeaderMap, Request, Response, StatusCode, Uri};
use http_body_util::BodyExt;
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use toposcope::access::ManualClock;
use toposcope::model::{OrganizationId, Permission};
use toposcope::{Inventory, MemoryStore};
use tower::ServiceExt;

use crate::host_app::application::{ACME, Application};
use crate::host_app::tokens::Tokens;

const SECRET: [u8; 64] = [7; 64];
const HOSTS: &str = "/inventory/api/v1/hosts";

/// An application with a clock that moves only on demand, and a way to send requests to it.
struct Site {
    application: Application,
    clock: ManualClock,
    stop: watch::Sender<bool>,
    way: Way,
    /// The server, unless requests are sent in process.
    server: Option<JoinHandle<io::Result<()>>>,
}

#[derive(Clone)]
enum Way {
    InProcess { public: Router, monitoring: Router },
    Loopback { client: Client<HttpConnector, Body>, public: SocketAddr, monitoring: SocketAddr },
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Way {
    /// Sends a request to the listener for users.
    async fn send(&self, request: Request<Body>) -> Response<Body> {
        match self {
            Self::InProcess { public, .. } => public.clone().oneshot(request).await.unwrap(),
            Self::Loopback { client, public, .. } => sent(client, *public, request).await,
        }
    }

    /// Sends a request to the listener for the monitoring.
    async fn monitor(&self, request: Request<Body>) -> Response<Body> {
        match self {
            Self::InProcess { monitoring, .. } => monitoring.clone().oneshot(request).await.unwrap(),
            Self::Loopback { client, monitoring, .. } => sent(client, *monitoring, request).await,
        }
    }
}

async fn sent(
    client: &Client<HttpConnector, Body>,
    address: SocketAddr,
    mut request: Request<Body>,
) -> Response<Body> {
    let target: Uri = format!("http://{address}{}", request.uri()).parse().unwrap();
    *request.uri_mut() = target;
    client.request(request).await.unwrap().map(Body::new)
}

impl Site {
    async fn in_process() -> Self {
        Self::open().await
    }

    async fn over_loopback() -> Self {
        let mut site = Self::open().await;
        let listeners = [listener().await, listener().await];
        let [public, monitoring] = listeners.each_ref().map(|listener| listener.local_addr().unwrap());
        let client = Client::builder(TokioExecutor::new()).build_http();
        site.way = Way::Loopback { client, public, monitoring };
        let [public, monitoring] = listeners;
        site.server = Some(tokio::spawn(site.application.clone().serve(public, monitoring)));
        site
    }

    /// Returns an application for each way.
    async fn both() -> [Self; 2] {
        [Self::in_process().await, Self::over_loopback().await]
    }

    async fn open() -> Self {
        let clock = ManualClock::new("2026-08-14T12:00:00Z".parse().unwrap());
        let inventory = Inventory::new(MemoryStore::new()).with_clock(Arc::new(clock.clone()));
        let tokens = Tokens::new(SECRET, Arc::new(clock.clone()));
        let (stop, stopped) = watch::channel(false);
        let application = Application::open(inventory, tokens, stopped).await.unwrap();
        let way = Way::InProcess { public: application.router(), monitoring: application.monitoring() };
        Self { application, clock, stop, way, server: None }
    }

    /// Logs a user in, and returns the credential of the user's requests.
    async fn log_in(&self, tenant: OrganizationId, level: Permission) -> String {
        let name = format!("a {level} of {tenant}");
        format!("Bearer {}", self.application.log_in(tenant, &name, level).await.unwrap())
    }

    async fn send(&self, request: Request<Body>) -> Answer {
        Answer::of(self.way.send(request).await).await
    }

    async fn ask(&self, method: &str, target: &str, credential: &str, body: &Value) -> Answer {
        self.send(request(method, target, credential, body)).await
    }

    async fn get(&self, target: &str, credential: &str) -> Answer {
        self.ask("GET", target, credential, &Value::Null).await
    }

    async fn metrics(&self) -> Answer {
        let request = Request::get("/metrics").body(Body::empty()).unwrap();
        Answer::of(self.way.monitor(request).await).await
    }

    /// Creates a host in a new network of Acme, and returns its path.
    async fn host(&self) -> String {
        let admin = self.log_in(ACME, Permission::Admin).await;
        let network =
            self.ask("POST", "/inventory/api/v1/networks", &admin, &json!({"name": "Office"})).await;
        let network = network.data()["id"].clone();
        let host = json!({"network_id": network, "name": "printer", "description": "x".repeat(10_000)});
        let created = self.ask("POST", HOSTS, &admin, &host).await;
        created.headers[LOCATION].to_str().unwrap().to_owned()
    }
}

async fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.unwrap()
}

fn request(method: &str, target: &str, credential: &str, body: &Value) -> Request<Body> {
    let request = Request::builder().method(method).uri(target).header(AUTHORIZATION, credential);
    let request = request.header(CONTENT_TYPE, "application/json");
    let body = if body.is_null() { Body::empty() } else { body.to_string().into() };
    request.body(body).unwrap()
}

impl Answer {
    async fn of(response: Response<Body>) -> Self {
        let (parts, body) = response.into_parts();
        Self { status: parts.status, headers: parts.headers, body: body.collect().await.unwrap().to_bytes() }
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{:?}", self.body))
    }

    /// Returns the data of a success.
    #[track_caller]
    fn data(&self) -> Value {
        assert!(self.status.is_success(), "{}", self.json());
        self.json()["data"].take()
    }

    /// Asserts that the request was refused with this code, and returns the params.
    #[track_caller]
    fn refuses(&self, status: u16, code: &str) -> Value {
        let mut json = self.json();
        assert_eq!((self.status.as_u16(), &json["code"]), (status, &Value::from(code)), "{json}");
        json["params"].take()
    }

    #[track_caller]
    fn has(&self, name: &HeaderName, part: &str) {
        let value = self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        assert!(value.to_lowercase().contains(part), "{name}: {value:?} has no {part}");
    }
}

/// Returns the path of the endpoint that enters a host in the books.
fn asset(tag: &str, host: &str) -> String {
    format!("/inventory/assets/{tag}/{}", host.rsplit('/').next().unwrap())
}
