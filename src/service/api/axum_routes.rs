//! The API as routes of an axum application (feature `axum`).

use axum::extract::{FromRef, FromRequestParts};
use axum::response::{IntoResponse, Response};
use axum::routing::any_service;
use http::request::Parts;

use super::{Admitted, Api};
use crate::service::routes::RouteTable;

impl Api {
    /// Returns a router with the paths of the API, and no others. The host application keeps its own answer to unknown paths.
    ///
    /// It can be merged, and nested under a prefix, which [`path_prefix`](super::ApiBuilder::path_prefix) must name too.
    ///
    /// ```
    /// use axum::Router;
    /// use toposcope::{Api, Inventory, MemoryStore};
    ///
    /// let api = Api::builder(Inventory::new(MemoryStore::new())).path_prefix("/netinv").build();
    /// let app: Router = Router::new()
    ///     .nest("/netinv", api.routes())
    ///     .fallback(|| async { "There is nothing here." });
    /// ```
    pub fn routes<S: Clone + Send + Sync + 'static>(&self) -> axum::Router<S> {
        let route = |router: axum::Router<S>, path| router.route(path, any_service(self.clone()));
        RouteTable::paths(self.state.removed).fold(axum::Router::new(), route)
    }
}

/// Admits the request, as [`Api::admit`] does. The state of the router is, or has, the [`Api`].
impl<S: Send + Sync> FromRequestParts<S> for Admitted
where
    Api: FromRef<S>,
{
    type Rejection = Response;

    async fn from_request_parts(request: &mut Parts, state: &S) -> Result<Self, Response> {
        let admitted = Api::from_ref(state).admit(request).await.map_err(IntoResponse::into_response)?;
        // For the rejections of later extractors.
        request.extensions.insert(admitted.clone());
        Ok(admitted)
    }
}
