//! The API on bare hyper: the same server as the example `axum`, without a framework.
//!
//! ```text
//! cargo run --release --example hyper
//! zcat hosts.jsonl.gz | cargo run --release --example hyper -- --listen 127.0.0.1:0 --import -
//! ```

#[path = "../support/mod.rs"]
mod support;

use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use toposcope::service::{Api, ClientAddressSource};
use tower::util::MapRequest;

fn main() -> ExitCode {
    support::run(serve)
}

async fn serve(ready: support::Ready) -> io::Result<()> {
    // Without the address, all clients that have no key share one rate limit. Behind a reverse proxy, the peer is the
    // proxy: use `ClientAddressSource::x_forwarded_for` or `forwarded` there.
    let api = Api::builder(ready.inventory)
        .client_address(ClientAddressSource::extension(SocketAddr::ip))
        .server_version(ready.server_version)
        .rate_limit(ready.rate_limit)
        .secure_cookies(ready.secure_cookies)
        .build();

    // With a timer, hyper hangs up on clients that do not get their headers sent.
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new());
    let connections = GracefulShutdown::new();
    let mut asked_to_stop = std::pin::pin!(ready.stop.asked());

    loop {
        let (stream, peer) = tokio::select! {
            accepted = ready.listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "a connection was not accepted");
                    // When it is files that are out, they are again as soon as they come back: give others time.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            },
            () = &mut asked_to_stop => break,
        };
        // A response is written at once: waiting for more to send with it gains nothing.
        let _ = stream.set_nodelay(true);

        // Every request carries the address of its peer.
        let api = MapRequest::new(api.clone(), move |mut request: hyper::Request<Incoming>| {
            request.extensions_mut().insert(peer);
            request
        });

        let connection = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(api));
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection broke");
            }
        });
    }

    // Frees the port, and lets every connection finish the request it is at.
    drop(ready.listener);
    connections.shutdown().await;
    Ok(())
}
