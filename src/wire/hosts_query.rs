use super::ApiError;
use super::query::QueryValues;
use crate::inventory::HostQuery;

const PARAMETERS: [&str; 8] =
    ["network_id", "ids", "tag_ids", "group_by", "order_by", "order_direction", "limit", "offset"];
const DEFAULT_LIMIT: u32 = 50;
pub(super) const MAX_LIMIT: u32 = 1000;
/// The API calls an offset a 32-bit integer.
const MAX_OFFSET: u32 = i32::MAX as u32;
const MAX_IDS: usize = 1000;

/// The query of `GET /api/v1/hosts`, and the limit as the response tells it.
pub(crate) fn read_hosts_query(query: Option<&str>) -> Result<(HostQuery, u64), ApiError> {
    let values = QueryValues::read(query, &PARAMETERS)?;
    let limit = values.number("limit", MAX_LIMIT)?.unwrap_or(DEFAULT_LIMIT);
    let query = HostQuery {
        network_id: values.value("network_id")?,
        ids: values.list("ids", MAX_IDS)?,
        tag_ids: values.list("tag_ids", MAX_IDS)?,
        group_by: values.value("group_by")?,
        order_by: values.value("order_by")?,
        order_direction: values.value("order_direction")?.unwrap_or_default(),
        limit: if limit == 0 { None } else { usize::try_from(limit).ok() },
        offset: values.number("offset", MAX_OFFSET)?.unwrap_or_default().into(),
    };
    Ok((query, limit.into()))
}
