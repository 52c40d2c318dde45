//! The HTTP client, for the inventory and for webhooks.

use std::time::Duration;

use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::{ClientConfig, RootCertStore};
use toposcope::client::RequestBody;
use tower::timeout::Timeout;
use tower_http::timeout::ResponseBodyTimeout;

/// The time until a response begins.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);

/// The time between two parts of a response. A silent stream of changes sends a comment every 15 seconds.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(45);

/// An HTTP client with a time limit for each wait.
pub type HttpClient =
    Timeout<ResponseBodyTimeout<legacy::Client<HttpsConnector<HttpConnector>, RequestBody>>>;

/// Returns a client for `http` and `https`, which trusts the certificate authorities of this machine.
#[must_use]
pub fn http_client() -> HttpClient {
    let mut authorities = RootCertStore::empty();
    // On a machine without any, `http` still works.
    authorities.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let tls = ClientConfig::builder().with_root_certificates(authorities).with_no_client_auth();
    let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1().build();
    let client = legacy::Client::builder(TokioExecutor::new()).build(connector);
    Timeout::new(ResponseBodyTimeout::new(client, SILENCE_TIMEOUT), RESPONSE_TIMEOUT)
}
