//! Reasons for which a login fails.

use std::error::Error;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

#[derive(Debug)]
pub enum LoginError {
    /// No tenant has this name.
    UnknownTenant,
    /// The browser has not begun this login, or has begun another one since.
    NotBegun,
    /// The provider has not let the user in, or its ID token is not valid for this login.
    Refused,
    /// No group of the user gives a level.
    NoLevel,
    /// The tenant's administrators have disabled the user.
    Disabled,
    /// The provider does not answer as the standard requires.
    Provider,
    /// The inventory cannot store the user.
    Inventory(toposcope::inventory::Error),
}

impl LoginError {
    /// Logs an error of the provider. Its users do not see the details.
    pub(crate) fn provider(error: impl Error) -> Self {
        let (mut text, mut cause) = (error.to_string(), error.source());
        while let Some(error) = cause {
            text = format!("{text}: {error}");
            cause = error.source();
        }
        tracing::warn!("a login failed: {text}");
        Self::Provider
    }

    fn answer(&self) -> (StatusCode, &'static str) {
        match self {
            Self::UnknownTenant => (StatusCode::NOT_FOUND, "No tenant has this name."),
            Self::NotBegun => (StatusCode::BAD_REQUEST, "This login has not begun here. Log in again."),
            Self::Refused => (StatusCode::FORBIDDEN, "The login was refused."),
            Self::NoLevel => (StatusCode::FORBIDDEN, "None of your groups may use the inventory."),
            Self::Disabled => (StatusCode::FORBIDDEN, "Your account is disabled."),
            Self::Provider => {
                (StatusCode::BAD_GATEWAY, "The login provider does not answer. Try again later.")
            }
            Self::Inventory(_) => (StatusCode::SERVICE_UNAVAILABLE, "The login failed. Try again later."),
        }
    }
}

impl From<toposcope::inventory::Error> for LoginError {
    fn from(error: toposcope::inventory::Error) -> Self {
        tracing::warn!("the user of a login was not stored: {error}");
        Self::Inventory(error)
    }
}

impl IntoResponse for LoginError {
    fn into_response(self) -> Response {
        self.answer().into_response()
    }
}
