use uuid::Uuid;

use super::ApiError;
use crate::inventory::{Error, Problem};

/// The id that a path ends with.
pub(crate) fn read_id(segment: &str) -> Result<Uuid, ApiError> {
    segment.parse().map_err(|_| Error::invalid("id", Problem::InvalidFormat).into())
}
