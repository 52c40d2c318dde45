//! The API on axum: a server with an inventory in a folder.
//!
//! ```text
//! cargo run --release --example axum
//! zcat hosts.jsonl.gz | cargo run --release --example axum -- --listen 127.0.0.1:0 --import -
//! ```

#[path = "../support/mod.rs"]
mod support;

use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::serve::ListenerExt;
use toposcope::service::{Api, ClientAddr};

fn main() -> ExitCode {
    support::run(serve)
}

async fn serve(ready: support::Ready) -> io::Result<()> {
    let api = Api::builder(ready.inventory)
        .server_version(ready.server_version)
        .rate_limit(ready.rate_limit)
        .secure_cookies(ready.secure_cookies)
        .build();

    // As the fallback it answers whatever no route of yours does. Its paths begin with `/api/`.
    let app = Router::new().fallback_service(api).layer(middleware::from_fn(tell_client_address));

    // A response is written at once, so there is nothing to be gained from waiting for more to send along.
    let listener = ready.listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, app.into_make_service_with_connect_info::<SocketAddr>())
        .with_graceful_shutdown(ready.stop.asked())
        .await
}

/// Tells the API who asks, so that it limits each client for itself. Without this all that have no key share one limit.
///
/// Behind a reverse proxy the peer is the proxy: take the address from the header that yours sets.
async fn tell_client_address(
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    mut request: Request,
    next: Next,
) -> Response {
    request.extensions_mut().insert(ClientAddr(peer.ip().to_canonical()));
    next.run(request).await
}
