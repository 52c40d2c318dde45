//! A server that embeds the API in axum and stores the inventory in a folder.
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
use axum::extract::ConnectInfo;
use axum::serve::ListenerExt;
use toposcope::service::ClientAddressSource;

fn main() -> ExitCode {
    support::run(serve)
}

async fn serve(ready: support::Ready) -> io::Result<()> {
    let api = ready.api(ClientAddressSource::extension(|peer: &ConnectInfo<SocketAddr>| peer.0.ip()))?;

    // As the fallback, the API handles every request that matches none of your routes. Its paths begin with `/api/`,
    // except `/openapi.json`, `/share/{id}` and `/topology/{network_id}`. Below a prefix, it handles only paths that
    // begin with the prefix.
    let app = match ready.prefix.as_str() {
        "" => Router::new().fallback_service(api),
        prefix => Router::new().nest_service(prefix, api),
    };

    // Every response is written in one piece, so delaying it to combine packets only adds latency.
    let listener = ready.listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, app.into_make_service_with_connect_info::<SocketAddr>())
        .with_graceful_shutdown(ready.stop.asked())
        .await
}
