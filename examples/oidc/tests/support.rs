//! The application with two tenants, and a browser.

use std::collections::BTreeMap;
use std::env;
use std::process::Stdio;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, StatusCode, header};
use openidconnect::{ClientId, ClientSecret, IssuerUrl, RedirectUrl, reqwest, url::Url};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use toposcope::access::{Caller, ManualClock};
use toposcope::inventory::NewOrganization;
use toposcope::model::{Network, NetworkId, OrganizationId, Permission, User};
use toposcope::{Inventory, MemoryStore};
use toposcope_oidc::{Application, Registration, Rights};
use tower::ServiceExt;

pub const ACME: OrganizationId = OrganizationId::from_u128(1);
pub const GLOBEX: OrganizationId = OrganizationId::from_u128(2);

const TENANTS: [(&str, OrganizationId); 2] = [("acme", ACME), ("globex", GLOBEX)];

/// The application, whose tenants log in at the providers of `provider.mjs`.
pub struct Site {
    pub inventory: Inventory,
    pub clock: ManualClock,
    pub issuers: Vec<String>,
    pub router: Router,
    /// Ends with the test, because it reads the end of its standard input.
    _providers: Option<Child>,
}

impl Site {
    pub async fn new() -> Self {
        let program = env::var("TOPOSCOPE_OIDC_PROVIDER").expect(
            "`TOPOSCOPE_OIDC_PROVIDER` is the path of `provider.mjs`, installed by `.ci/run packages`",
        );
        let mut providers = Command::new("node")
            .arg(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(providers.stdout.take().unwrap()).lines();
        let mut issuers = Vec::new();
        for _ in TENANTS {
            issuers.push(lines.next_line().await.unwrap().expect("the providers start"));
        }
        Self { _providers: Some(providers), ..Self::with_issuers(issuers).await }
    }

    pub async fn with_issuers(issuers: Vec<String>) -> Self {
        let clock = ManualClock::new("2026-08-14T12:00:00Z".parse().unwrap());
        let inventory = Inventory::new(MemoryStore::new()).with_clock(Arc::new(clock.clone()));
        for (name, id) in TENANTS {
            inventory.organizations().ensure(NewOrganization::new(name).id(id)).await.unwrap();
            let (system, site) = (Caller::system(id), NetworkId::from_u128(id.as_u128()));
            inventory.networks().ensure(&system, site, Network::new(name)).await.unwrap();
        }
        let tenants = TENANTS.iter().zip(&issuers).map(|((name, organization), issuer)| {
            let levels = [("network-admins", Permission::Admin), ("staff", Permission::Viewer)];
            let levels = levels.map(|(group, level)| (group.to_owned(), level)).into();
            let registration = Registration {
                issuer: IssuerUrl::new(issuer.clone()).unwrap(),
                client_id: ClientId::new("toposcope".to_owned()),
                client_secret: ClientSecret::new("a secret".to_owned()),
                redirect: RedirectUrl::new(format!("https://app.example.net/login/{name}/callback")).unwrap(),
            };
            ((*name).to_owned(), Rights { organization: *organization, levels }, registration)
        });
        let application = Application::new(inventory.clone(), Arc::new(clock.clone()), tenants).unwrap();
        Self { inventory, clock, issuers, router: application.router(), _providers: None }
    }

    pub fn browser(&self) -> Browser {
        let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        Browser { router: self.router.clone(), http, cookies: BTreeMap::new() }
    }

    /// Returns the user of a subject, or `None` if it has never logged in.
    pub async fn user(&self, tenant: OrganizationId, subject: &str) -> Option<User> {
        self.inventory.users().find_external(&Caller::system(tenant), subject).await.unwrap()
    }
}

/// A browser with its cookies.
#[derive(Clone)]
pub struct Browser {
    router: Router,
    http: reqwest::Client,
    pub cookies: BTreeMap<String, String>,
}

/// A response that a browser has received.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub location: Option<String>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

impl Browser {
    pub async fn get(&mut self, path: &str) -> Answer {
        self.send(Method::GET, path, &[], Body::empty()).await
    }

    pub async fn send(&mut self, method: Method, path: &str, headers: &[(&str, &str)], body: Body) -> Answer {
        let mut request = Request::builder().method(method).uri(path).header("host", "app.example.net");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        for (name, value) in &self.cookies {
            request = request.header(header::COOKIE, format!("{name}={value}"));
        }
        let response = self.router.clone().oneshot(request.body(body).unwrap()).await.unwrap();
        for cookie in response.headers().get_all(header::SET_COOKIE) {
            self.keep(cookie.to_str().unwrap());
        }
        let location = response.headers().get(header::LOCATION);
        let location = location.map(|value| value.to_str().unwrap().to_owned());
        let status = response.status();
        let body = to_bytes(response.into_body(), 1_000_000).await.unwrap().into();
        Answer { status, location, body }
    }

    /// Keeps a cookie, or forgets it when its time is over.
    fn keep(&mut self, text: &str) {
        let (pair, attributes) = text.split_once(';').unwrap();
        let (name, value) = pair.split_once('=').unwrap();
        assert!(
            name.starts_with("__Host-") && attributes.contains("Secure; HttpOnly; SameSite=Lax"),
            "{text}"
        );
        if attributes.contains("Max-Age=0;") {
            self.cookies.remove(name);
        } else {
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
    }

    /// Logs in at the provider, and returns the path to which the provider sends the browser back.
    pub async fn authenticate(&mut self, tenant: &str, claims: &Value, forge: &str) -> String {
        let answer = self.get(&format!("/login/{tenant}")).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{answer:?}");
        let mut url = Url::parse(&answer.location.unwrap()).unwrap();
        url.query_pairs_mut().append_pair("claims", &claims.to_string()).append_pair("forge", forge);
        let answer = self.http.get(url).send().await.unwrap();
        let back = Url::parse(answer.headers()["location"].to_str().unwrap()).unwrap();
        assert_eq!(back.host_str(), Some("app.example.net"));
        format!("{}?{}", back.path(), back.query().unwrap())
    }

    /// Logs in with these claims of the ID token.
    pub async fn log_in_with(&mut self, tenant: &str, claims: &Value) -> Answer {
        let back = self.authenticate(tenant, claims, "").await;
        self.get(&back).await
    }

    /// Logs in as a user with these groups.
    pub async fn log_in(&mut self, tenant: &str, subject: &str, groups: &[&str]) -> Answer {
        self.log_in_with(tenant, &json!({ "sub": subject, "groups": groups })).await
    }

    /// Returns the names of the networks that the user sees, or the code of the refusal.
    pub async fn networks(&mut self) -> Result<Vec<String>, String> {
        let answer = self.get("/inventory/api/v1/networks").await.json();
        match answer["data"].as_array() {
            Some(networks) => {
                Ok(networks.iter().map(|network| network["name"].as_str().unwrap().to_owned()).collect())
            }
            None => Err(answer["code"].as_str().unwrap().to_owned()),
        }
    }
}
