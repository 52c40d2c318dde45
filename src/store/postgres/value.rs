use std::error::Error;
use std::fmt;

use bytes::BytesMut;
use tokio_postgres::types::{Format, IsNull, ToSql, Type, to_sql_checked};
use uuid::Uuid;

/// A parameter of a statement.
///
/// The driver logs the parameters of prepared statements, so their `Debug` shows nothing.
#[derive(Clone)]
pub(super) enum Value<'v> {
    Number(i64),
    Numbers(Vec<i64>),
    Id(Uuid),
    Ids(Vec<Uuid>),
    Bytes(&'v [u8]),
    ByteStrings(Vec<&'v [u8]>),
}

impl Value<'_> {
    pub(super) const fn sql_type(&self) -> Type {
        match self {
            Self::Number(_) => Type::INT8,
            Self::Numbers(_) => Type::INT8_ARRAY,
            Self::Id(_) => Type::UUID,
            Self::Ids(_) => Type::UUID_ARRAY,
            Self::Bytes(_) => Type::BYTEA,
            Self::ByteStrings(_) => Type::BYTEA_ARRAY,
        }
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self, sql_type: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Number(number) => number.to_sql(sql_type, out),
            Self::Numbers(numbers) => numbers.to_sql(sql_type, out),
            Self::Id(id) => id.to_sql(sql_type, out),
            Self::Ids(ids) => ids.to_sql(sql_type, out),
            Self::Bytes(bytes) => bytes.to_sql(sql_type, out),
            Self::ByteStrings(strings) => strings.to_sql(sql_type, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, _: &Type) -> Format {
        Format::Binary
    }

    to_sql_checked!();
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("_")
    }
}
