//! The values of statements: their parameters, and the columns of the rows that they return.

use std::error::Error;
use std::fmt;

use bytes::BytesMut;
use tokio_postgres::Row;
use tokio_postgres::types::{Format, IsNull, ToSql, Type, to_sql_checked};
use uuid::Uuid;

use super::error::undecodable;
use crate::store::log::replica::LogRow;
use crate::store::{Key, Name, StoreError};

/// A parameter of a statement.
///
/// The driver logs the parameters of prepared statements, so their `Debug` shows nothing.
#[derive(Clone)]
pub(super) enum SqlValue<'v> {
    Number(i64),
    Numbers(Vec<i64>),
    Id(Uuid),
    Ids(Vec<Uuid>),
    Bytes(&'v [u8]),
    ByteStrings(Vec<&'v [u8]>),
}

impl SqlValue<'_> {
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

impl ToSql for SqlValue<'_> {
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

impl fmt::Debug for SqlValue<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("_")
    }
}

/// Splits keys into the arrays that a statement takes.
pub(super) fn split<'k>(keys: impl Iterator<Item = &'k Key>) -> (Vec<Uuid>, Vec<&'k [u8]>) {
    keys.map(|key| (key.id, key.kind.as_str().as_bytes())).unzip()
}

/// Reads a row of the log from the first three columns.
pub(super) fn log_row(row: &Row) -> Result<LogRow, StoreError> {
    let read = || {
        let changes: Option<&[u8]> = row.try_get(2)?;
        let changes = changes.unwrap_or_default().to_vec();
        Ok(LogRow { number: row.try_get(0)?, nonce: row.try_get(1)?, changes })
    };
    read().map_err(|_: tokio_postgres::Error| undecodable())
}

/// Reads a key from two columns: the id, and the kind after it.
pub(super) fn key_of(row: &Row, column: usize) -> Result<Key, StoreError> {
    let id = row.try_get(column).map_err(|_| undecodable())?;
    Ok(Key::new(name_of(row, column + 1)?, id))
}

pub(super) fn name_of(row: &Row, column: usize) -> Result<Name, StoreError> {
    let name: &[u8] = row.try_get(column).map_err(|_| undecodable())?;
    std::str::from_utf8(name).ok().and_then(Name::parse).ok_or_else(undecodable)
}
