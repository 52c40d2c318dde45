use std::fmt;

use toposcope::inventory::{Entity, Error, ErrorKind, Problem};
use uuid::Uuid;

use super::World;

/// Returns why an operation was refused.
#[track_caller]
pub(crate) fn refusal<T: fmt::Debug>(result: Result<T, Error>) -> ErrorKind {
    match result {
        Ok(value) => panic!("this should have been refused: {value:?}"),
        Err(error) => error.kind().clone(),
    }
}

impl World {
    /// Returns why an operation was refused, and asserts that it left the store unchanged.
    pub(crate) async fn refusal<T: fmt::Debug>(
        &self,
        attempt: impl Future<Output = Result<T, Error>>,
    ) -> ErrorKind {
        let before = self.store.contents().await;
        let kind = refusal(attempt.await);
        assert_eq!(self.store.contents().await, before, "what is refused ({kind:?}) leaves no trace");
        kind
    }
}

pub(crate) fn invalid(field: &str, problem: Problem) -> ErrorKind {
    ErrorKind::Invalid { field: field.to_owned(), problem }
}

pub(crate) fn not_found(entity: Entity, id: Uuid) -> ErrorKind {
    ErrorKind::NotFound { entity, id }
}

pub(crate) fn reference_invalid(entity: Entity, field: &str) -> ErrorKind {
    ErrorKind::ReferenceInvalid { entity, field: field.to_owned() }
}

pub(crate) fn access_denied(network: Uuid) -> ErrorKind {
    ErrorKind::AccessDenied { entity: Entity::Network, id: network }
}
