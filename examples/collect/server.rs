//! Reports to a running service.

use std::io::Write;

use toposcope::client::{Client, ClientError, ClientErrorKind, HttpService, ReportOptions, RequestBody};
use toposcope::discovery::{Format, Report};
use toposcope::inventory::DiscoveryReport;

use super::args::ServerPlace;
use super::destination::{Answers, Destination, DestinationFuture};
use super::failure::Failure;

/// Returns a client of the service at a URL, over HTTP.
pub(crate) fn connect(place: &ServerPlace) -> Result<Client<impl HttpService + use<>>, Failure> {
    use hyper_util::client::legacy;
    use hyper_util::rt::TokioExecutor;

    let http = legacy::Client::builder(TokioExecutor::new()).build_http();
    let client = Client::new(http).with_base_url(&place.url);
    let client = client.map_err(|error| Failure::usage(format_args!("--server: {error}")))?;
    client
        .with_api_key(&place.key)
        .map_err(|error| Failure::usage(format_args!("The key of the service: {error}")))
}

/// A service that gets the reports.
pub(crate) struct ServerDestination<S>(pub(crate) Client<S>);

impl<S: HttpService> Destination for ServerDestination<S> {
    fn deliver(&self, reports: Vec<Report>) -> DestinationFuture<'_, Answers> {
        Box::pin(async move {
            let mut delivered = Answers::default();
            for report in &reports {
                match import(&self.0, report).await {
                    Ok(answer) => delivered.answers.push(Ok(answer)),
                    Err(error) if concerns_report(&error) => delivered.answers.push(Err(explained(&error))),
                    Err(error) => {
                        delivered.failure = Some(Failure::new(explained(&error)));
                        break;
                    }
                }
            }
            delivered
        })
    }

    fn finish<'d>(&'d self, _: &'d mut dyn Write) -> DestinationFuture<'d, Result<(), Failure>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// Sends a report. The key of a daemon states the network.
pub(crate) async fn import<S: HttpService>(
    client: &Client<S>,
    report: &Report,
) -> Result<DiscoveryReport, ClientError> {
    let json = serde_json::to_vec(report).unwrap_or_default();
    client.import_report(Format::Report, RequestBody::new(json), &ReportOptions::default()).await
}

/// Returns whether the service refuses one report, and may take others.
fn concerns_report(error: &ClientError) -> bool {
    error
        .status()
        .is_some_and(|status| status.is_client_error() && !matches!(status.as_u16(), 401 | 403 | 429))
}

/// Returns the reason why a request failed, with advice.
fn explained(error: &ClientError) -> String {
    let advice = match (error.kind(), error.status().map(|status| status.as_u16())) {
        (ClientErrorKind::Transport, _) => "Check --server, and that the service runs",
        (_, Some(401 | 403)) => {
            "Check that --server-key-env names a daemon key of the service (POST /api/v1/auth/daemon)"
        }
        (_, Some(400 | 422)) => "If it is about `network_id`, the key is a user's: use a daemon key",
        (_, Some(413)) => "Raise the limit of the service (`ApiBuilder::report_body_limit`)",
        (_, Some(429)) => "Ask again later",
        _ => "Look at the log of the service",
    };
    format!("The service did not take a report: {error} {advice}.")
}
