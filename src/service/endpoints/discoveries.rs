//! The endpoints with which users give work to discovery daemons.

use serde::Deserialize;
#[cfg(feature = "openapi")]
use serde::Serialize;
use serde_json::Value;

use crate::inventory::{Error, Inventory, NewDiscovery, Problem};
use crate::json_objects::object;
use crate::model::{Discovery, DiscoveryType, SnmpCredentials, SubnetId};
use crate::service::input::{Fields, read_id, read_no_query};
use crate::service::response::entity_tag::EntityTag;
use crate::service::routes::route::{Call, Pending};

/// `POST /api/v1/discoveries`.
pub(in crate::service) fn create_discovery(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (body, caller) = call.read().await?;
        let fields = Fields::read(&body, call.route.body)?;
        let mut new = NewDiscovery::new(fields.required("network_id")?);
        new.daemon_id = fields.optional("daemon_id")?;
        let given = given_type(&fields)?;
        new.discovery_type = given.discovery_type.unwrap_or(new.discovery_type);
        new.subnet_ids = fields.optional("subnet_ids")?.or(given.subnet_ids);
        let credentials: Option<Value> = fields.optional("snmp_credentials")?;
        new.snmp_credentials = match (credentials, given.snmp_credentials) {
            (Some(credentials), _) => Some(read_credentials(credentials, "snmp_credentials")?),
            (None, Some(credentials)) => {
                Some(read_credentials(credentials, "discovery_type.snmp_credentials")?)
            }
            (None, None) => None,
        };
        let sender = &caller;
        let create =
            |inventory: Inventory| async move { inventory.discovery_jobs().create(sender, new).await };
        let respond = |discovery: &Discovery| {
            let tag = EntityTag::of_record(discovery)?;
            call.state.responder.record(discovery, tag)?.with_location(call.route, discovery.id)
        };
        call.repeatable().once(&caller, &body, create, respond).await
    })
}

/// The value of `discovery_type`: a name, or an object of the form in which daemons get their
/// work.
#[derive(Deserialize)]
#[cfg_attr(feature = "openapi", derive(Serialize, schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", schemars(rename = "GivenDiscoveryType"))]
#[serde(untagged)]
pub(in crate::service) enum GivenType {
    /// The name of the type.
    Name(DiscoveryType),
    /// The type with its subnets and credentials. Further members are ignored.
    Work(#[serde(deserialize_with = "object")] NamedWork),
}

/// A type of work, with its subnets and credentials.
#[derive(Deserialize)]
#[cfg_attr(feature = "openapi", derive(Serialize, schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", schemars(inline))]
pub(in crate::service) struct NamedWork {
    /// The name of the type.
    r#type: DiscoveryType,
    /// The subnets to scan.
    #[serde(default)]
    subnet_ids: Option<Vec<SubnetId>>,
    /// The credentials that the daemon gets.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schemars(with = "Option<crate::model::SnmpCredentials>"))]
    snmp_credentials: Option<Value>,
}

/// The type of work that a body requests, with its subnets and credentials.
#[derive(Default)]
struct GivenWork {
    discovery_type: Option<DiscoveryType>,
    subnet_ids: Option<Vec<SubnetId>>,
    snmp_credentials: Option<Value>,
}

/// Reads `type` and `discovery_type`, which must agree.
fn given_type(fields: &Fields<'_>) -> Result<GivenWork, Error> {
    let named: Option<DiscoveryType> = fields.optional("type")?;
    let given = match fields.optional("discovery_type")? {
        None => GivenWork { discovery_type: named, ..GivenWork::default() },
        Some(GivenType::Name(name)) => GivenWork { discovery_type: Some(name), ..GivenWork::default() },
        Some(GivenType::Work(NamedWork { r#type, subnet_ids, snmp_credentials })) => {
            GivenWork { discovery_type: Some(r#type), subnet_ids, snmp_credentials }
        }
    };
    if named.is_some() && named != given.discovery_type {
        return Err(Error::invalid("discovery_type", Problem::Exclusive { other: "type" }));
    }
    Ok(given)
}

/// Reads credentials. The error names their place, and shows no value.
fn read_credentials(given: Value, field: &str) -> Result<SnmpCredentials, Error> {
    SnmpCredentials::from_json(given).map_err(|error| {
        let separator = if error.path.is_empty() { "" } else { "." };
        Error::invalid(format!("{field}{separator}{}", error.path), Problem::InvalidFormat)
    })
}

/// `POST /api/v1/discoveries/{id}/cancel`.
pub(in crate::service) fn cancel_discovery(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let id = read_id(&call.path)?;
        read_no_query(&call.input)?;
        let state = call.state;
        let discovery = state.inventory.discovery_jobs().cancel(&call.into_caller()?, id).await?;
        let tag = EntityTag::of_record(&discovery)?;
        state.responder.record(&discovery, tag)
    })
}
