//! A description of each answered request, for the layers around the service.

use super::response::error::ApiError;
use super::routes::route::Route;
use super::sender::Sender;
use crate::access::{Caller, DaemonCaller};
use crate::inventory::ApplicationCode;
use crate::wire::ErrorCode;

/// The extension of every response that describes how the request was served.
///
/// Layers around the service read it, for logs and metrics of their own:
///
/// ```
/// use http::Request;
/// use toposcope::service::Served;
/// use toposcope::wire::ErrorCode;
/// use toposcope::{Api, Inventory, MemoryStore};
/// use tower::ServiceExt;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let api = Api::builder(Inventory::new(MemoryStore::new())).build();
/// let response = api.oneshot(Request::get("/api/v1/hosts/7").body(String::new())?).await?;
/// let served: &Served = response.extensions().get().ok_or("every response has it")?;
/// assert_eq!((served.route, served.operation_id), ("/api/v1/hosts/{id}", Some("get_host_by_id")));
/// assert_eq!(served.error_code, Some(ErrorCode::AuthNotAuthenticated));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Served {
    /// The template of the path, such as `/api/v1/hosts/{id}`; [`UNMATCHED`](Self::UNMATCHED) or [`OWN`](Self::OWN).
    pub route: &'static str,
    /// The operation in the OpenAPI document. `None` for a route that is another name of a documented one, and if no route
    /// matches.
    pub operation_id: Option<&'static str>,
    /// The authenticated caller, also of a request that was refused. `None` for endpoints without credentials, without
    /// a valid credential, and for daemons.
    pub caller: Option<Caller>,
    /// The daemon whose key authenticated the request; `None`: a caller sent it, or there is no valid credential.
    pub daemon: Option<DaemonCaller>,
    /// The code of the error; `None` for a success.
    pub error_code: Option<ErrorCode>,
    /// The code of the host application, if it has refused the request: `error_code` is then `PolicyRefused`.
    pub application_code: Option<ApplicationCode>,
}

impl Served {
    /// The route of requests that match no endpoint.
    pub const UNMATCHED: &'static str = "unmatched";

    /// The route of requests to endpoints of the host application, which [`Api::admit`](crate::Api::admit) refuses or
    /// [`Api::respond`](crate::Api::respond) answers.
    pub const OWN: &'static str = "own";

    pub(super) fn new(route: Option<&'static Route>) -> Self {
        Self {
            route: route.map_or(Self::UNMATCHED, |route| route.path),
            operation_id: route.and_then(|route| route.operation_id.as_deref()),
            caller: None,
            daemon: None,
            error_code: None,
            application_code: None,
        }
    }

    /// Creates the description of a request to an endpoint of the host application.
    pub(super) fn of_own_endpoint() -> Self {
        Self { route: Self::OWN, ..Self::new(None) }
    }

    /// Creates the extension of a response of an endpoint of the host application.
    pub(super) fn own<T>(sender: Option<&Sender>, outcome: &Result<T, ApiError>) -> Self {
        let mut served = Self::of_own_endpoint();
        served.sent_by(sender);
        served.ended_with(outcome);
        served
    }

    pub(super) fn ended_with<T>(&mut self, outcome: &Result<T, ApiError>) {
        let error = outcome.as_ref().err();
        self.error_code = error.map(|error| error.code);
        self.application_code = error.and_then(|error| error.application_code);
    }

    pub(super) fn sent_by(&mut self, sender: Option<&Sender>) {
        match sender {
            Some(Sender::Caller(caller)) => self.caller = Some(caller.clone()),
            #[cfg(feature = "discovery")]
            Some(Sender::Daemon(daemon)) => self.daemon = Some(*daemon),
            None => {}
        }
    }
}
