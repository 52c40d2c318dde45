//! A server that embeds the API in hyper without a framework.
//!
//! Otherwise it is identical to the example `axum`.
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
use std::sync::Arc;
use std::time::Duration;

use hyper::Uri;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use toposcope::service::ClientAddressSource;
use tower::util::MapRequest;

fn main() -> ExitCode {
    support::run(serve)
}

async fn serve(ready: support::Ready) -> io::Result<()> {
    let api = ready.api(ClientAddressSource::extension(SocketAddr::ip))?;
    let prefix: Arc<str> = ready.prefix.as_str().into();

    // With a timer, hyper closes connections whose request headers take too long.
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new());
    let connections = GracefulShutdown::new();
    let mut asked_to_stop = std::pin::pin!(ready.stop.asked());

    loop {
        let (stream, peer) = tokio::select! {
            accepted = ready.listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "failed to accept a connection");
                    // If file descriptors are exhausted, the next attempt would fail immediately: wait for some to
                    // close.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            },
            () = &mut asked_to_stop => break,
        };
        // Every response is written in one piece, so delaying it to combine packets only adds latency.
        let _ = stream.set_nodelay(true);

        // Attaches the peer's address to every request, and strips the prefix.
        let prefix = Arc::clone(&prefix);
        let api = MapRequest::new(api.clone(), move |mut request: hyper::Request<Incoming>| {
            request.extensions_mut().insert(peer);
            *request.uri_mut() = below(&prefix, request.uri());
            request
        });

        let connection = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(api));
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection failed");
            }
        });
    }

    // Frees the port, then lets every connection finish its current request.
    drop(ready.listener);
    connections.shutdown().await;
    Ok(())
}

/// Returns a target without the prefix, as the API expects it. Targets outside of the prefix become `/`, which is no route.
fn below(prefix: &str, target: &Uri) -> Uri {
    let path = target.path().strip_prefix(prefix).filter(|path| path.starts_with('/')).unwrap_or("/");
    let query = target.query().map(|query| format!("?{query}")).unwrap_or_default();
    format!("{path}{query}").parse().unwrap_or_default()
}
