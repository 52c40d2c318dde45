//! The state of the server.

use serde::Deserialize;
use serde_json::Value;

use super::call::{ClientCall, decode};
use super::{Client, ClientError, HttpService};

/// The versions of a server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Versions {
    /// The version of the API; this crate implements [`API_VERSION`](crate::wire::API_VERSION).
    pub api_version: u32,
    /// The version of the application that embeds the API.
    pub server_version: String,
}

impl<S: HttpService> Client<S> {
    /// Returns the versions of the server. Needs no credential.
    ///
    /// # Errors
    /// None of its own.
    pub async fn version(&self) -> Result<Versions, ClientError> {
        self.value(ClientCall::get("/api/version")).await
    }

    /// Checks that the server can reach its store, and returns the server's name and version. Needs no credential.
    ///
    /// # Errors
    /// Status 503, without a code, if the store does not answer.
    pub async fn health(&self) -> Result<String, ClientError> {
        self.health_at("/api/health").await
    }

    /// Checks that the store of the server accepts writes, and returns the server's name and version. Needs no
    /// credential.
    ///
    /// # Errors
    /// Status 503, without a code, if the store does not accept writes.
    pub async fn write_health(&self) -> Result<String, ClientError> {
        self.health_at("/api/health?write=true").await
    }

    /// Checks that the server answers, whether or not its store does. Needs no credential.
    ///
    /// Returns the server's name and version.
    ///
    /// # Errors
    /// `Transport` if the server does not answer.
    pub async fn liveness(&self) -> Result<String, ClientError> {
        self.health_at("/api/health/live").await
    }

    async fn health_at(&self, path: &'static str) -> Result<String, ClientError> {
        // These responses alone have no metadata.
        #[derive(Deserialize)]
        struct Health {
            data: String,
        }
        let (parts, body) = self.send(ClientCall::get(path)).await?.read(self.response_limit).await?;
        let health = decode::<Health>(&body).map_err(|error| error.with_status(parts.status))?;
        Ok(health.data)
    }

    /// Returns the OpenAPI document of the server. Needs no credential.
    ///
    /// # Errors
    /// `route_not_found` if the server was built without the feature `openapi`.
    pub async fn openapi_document(&self) -> Result<Value, ClientError> {
        let (parts, body) =
            self.send(ClientCall::get("/openapi.json")).await?.read(self.response_limit).await?;
        decode(&body).map_err(|error| error.with_status(parts.status))
    }
}
