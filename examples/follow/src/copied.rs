//! The kinds of records that are copied, and their states after changes.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use toposcope::client::{Client, HttpService, Readable};
use toposcope::model::{Change, ChangedEntity, Host, Network, Subnet, Tag};
use toposcope::uuid::Uuid;
use toposcope::wire::ErrorCode;

use crate::Error;
use crate::database::{Database, Table};

/// The kinds of records that are copied, with the words for them.
pub const COPIED: [(ChangedEntity, &str); 4] = [
    (ChangedEntity::Host, "hosts"),
    (ChangedEntity::Network, "networks"),
    (ChangedEntity::Subnet, "subnets"),
    (ChangedEntity::Tag, "tags"),
];

/// Evaluates an expression with the type of the records; for other kinds of records, another expression.
macro_rules! with_type {
    ($entity:expr, $T:ident => $then:expr, else $other:expr) => {
        match $entity {
            ChangedEntity::Host => {
                type $T = Host;
                $then
            }
            ChangedEntity::Network => {
                type $T = Network;
                $then
            }
            ChangedEntity::Subnet => {
                type $T = Subnet;
                $then
            }
            ChangedEntity::Tag => {
                type $T = Tag;
                $then
            }
            _ => $other,
        }
    };
}

/// Reads all records of a kind into the table of those that are being copied.
pub(crate) async fn copy_list<S: HttpService>(
    client: &Client<S>,
    database: &Database,
    entity: ChangedEntity,
) -> Result<(), Error> {
    with_type!(entity, T => copy_records::<S, T>(client, database, entity).await, else Ok(()))
}

async fn copy_records<S: HttpService, T: Readable>(
    client: &Client<S>,
    database: &Database,
    entity: ChangedEntity,
) -> Result<(), Error>
where
    T::Query: Default,
    T::Id: Into<Uuid>,
{
    // By default, the order is that of creation, which no change alters: a list misses no record that exists during the
    // whole reading.
    let mut records = client.records::<T>(T::Query::default());
    while let Some(record) = records.next().await {
        let record = record?;
        database.put(Table::Incoming, entity, record.id().into(), Some(&serde_json::to_string(&record)?))?;
    }
    Ok(())
}

/// Returns the JSON of a change's record after the change. `None`: it does not exist, or is not copied.
pub(crate) async fn state_after<S: HttpService>(
    change: &Change,
    client: &Client<S>,
    database: &Database,
    table: Table,
) -> Result<Option<String>, Error> {
    with_type!(change.entity, T => {
        let mut document = database.document(table, change.entity, change.id)?;
        match change.apply(&mut document) {
            Ok(()) => document.map(canonical::<T>).transpose(),
            // It may be newer than the change. The changes in between are applied to it again, which does no harm.
            Err(_) => present_state::<S, T>(client, change.id).await,
        }
    }, else Ok(None))
}

/// Returns a document as the API writes it, with all fields that are null or empty.
fn canonical<T: Serialize + DeserializeOwned>(document: Map<String, Value>) -> Result<String, Error> {
    let record: T = serde_json::from_value(Value::Object(document))?;
    Ok(serde_json::to_string(&record)?)
}

async fn present_state<S: HttpService, T: Readable>(
    client: &Client<S>,
    id: Uuid,
) -> Result<Option<String>, Error>
where
    T::Id: From<Uuid>,
{
    match client.get::<T>(id.into()).await {
        Ok(found) => Ok(Some(serde_json::to_string(&found.record)?)),
        Err(error) if error.code() == Some(ErrorCode::EntityNotFound) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
