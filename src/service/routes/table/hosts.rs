//! Hosts and their parts.

use http::Method;

use super::row::{MEMBER, REVERT_ERRORS, route};
use crate::inventory::Part;
use crate::model::{IfEntry, Interface, Port, Service};
use crate::service::endpoints::{history, hosts, lists, many};
use crate::service::routes::groups;
use crate::service::routes::parameter::{Parameter, RequestContent};
use crate::service::routes::route::{BodyLimit, ResponseContent, Route};
use crate::wire::ErrorCode;

/// The size of a host is limited, as is the number of hosts.
const CREATE_ERRORS: &[ErrorCode] = &[ErrorCode::EntityAlreadyExists, ErrorCode::QuotaExceeded];
const UPDATE_ERRORS: &[ErrorCode] = &[
    ErrorCode::EntityAlreadyExists,
    ErrorCode::EntityInUse,
    ErrorCode::PreconditionFailed,
    ErrorCode::QuotaExceeded,
];
/// The fields that an update may leave out although a creation requires them, because they hardly ever change.
const OPTIONAL_IN_UPDATES: &[&str] = &["host_id", "network_id"];
const DELETE_ERRORS: &[ErrorCode] = &[ErrorCode::EntityInUse, ErrorCode::PreconditionFailed];

pub(super) fn hosts() -> Vec<Route> {
    let query = [
        groups::PAGE,
        groups::IDS,
        groups::NETWORK,
        groups::TAGS,
        groups::HOST_FILTERS,
        groups::CUSTOM_FILTERS,
        groups::HOST_ORDER,
        groups::AT,
        groups::HOST_SELECTION,
    ];
    let list = |path, id| {
        route(Method::GET, path, id, "Lists hosts.", lists::list_hosts)
            .query(&query)
            .page("Host")
            .errors(&[ErrorCode::PositionGone])
    };
    let create = |path, id| {
        route(Method::POST, path, id, "Creates a host.", hosts::create_host)
            .access(MEMBER)
            .fields(groups::HOST)
            .value("Host")
            .tagged()
            .creates_in("/api/v1/hosts")
            .errors(CREATE_ERRORS)
            .repeatable()
    };
    // Older clients know both by another path, which is not documented.
    let alias = |route| Route { operation_id: None, ..route };
    let item = "/api/v1/hosts/{id}";
    let bulk_delete = "/api/v1/hosts/bulk-delete";
    vec![
        list("/api/v1/hosts", "get_all_hosts"),
        alias(list("/api/hosts", "")),
        create("/api/v1/hosts", "create_host"),
        alias(create("/api/hosts", "")),
        route(Method::GET, item, "get_host_by_id", "Returns a host.", hosts::get_host)
            .query(&[groups::AT])
            .value("Host")
            .tagged()
            .errors(&[ErrorCode::PositionGone]),
        route(
            Method::GET,
            "/api/v1/hosts/{id}/history",
            "get_host_history",
            "Returns the history of a host, with its parts.",
            history::host_history,
        )
        .query(&[groups::CHANGES_PAGE])
        .feed(),
        route(Method::PUT, item, "update_host", "Updates a host.", hosts::update_host)
            .access(MEMBER)
            .update(groups::HOST, OPTIONAL_IN_UPDATES)
            .value("Host")
            .tagged()
            .errors(UPDATE_ERRORS),
        route(
            Method::POST,
            "/api/v1/hosts/{id}/revert",
            "revert_host",
            "Makes a host with its parts what it was at a position.",
            hosts::revert_host,
        )
        .access(MEMBER)
        .fields(groups::REVERT)
        .value("Host")
        .tagged()
        .errors(REVERT_ERRORS)
        .errors(&[
            ErrorCode::EntityAlreadyExists,
            ErrorCode::EntityInUse,
            ErrorCode::EntityNetworkMismatch,
        ]),
        route(Method::DELETE, item, "delete_host", "Deletes a host.", hosts::delete_host)
            .access(MEMBER)
            .query(&[groups::ERASE])
            .errors(DELETE_ERRORS),
        route(Method::POST, bulk_delete, "bulk_delete_hosts", "Deletes hosts.", hosts::bulk_delete_hosts)
            .access(MEMBER)
            .ids()
            .value("BulkDeletion")
            .errors(&[ErrorCode::EntityInUse]),
        Route {
            body_limit: BodyLimit::Bulk,
            answer: ResponseContent::List("BulkResult"),
            ..route(
                Method::POST,
                "/api/v1/hosts/bulk",
                "bulk_put_hosts",
                "Stores hosts.",
                many::bulk_put_hosts,
            )
            .access(MEMBER)
            .fields(groups::BULK)
            .errors(&[
                ErrorCode::EntityAccessDenied,
                ErrorCode::EntityAlreadyExists,
                ErrorCode::EntityInUse,
                ErrorCode::EntityNetworkMismatch,
                ErrorCode::QuotaExceeded,
            ])
            .repeatable()
        },
        Route {
            body: RequestContent::HostRows,
            ..route(
                Method::POST,
                "/api/v1/hosts/import",
                "import_hosts",
                "Imports hosts.",
                many::import_hosts,
            )
            .access(MEMBER)
            .query(&[groups::IMPORT])
            .value("ImportReport")
            .errors(&[
                ErrorCode::EntityAccessDenied,
                ErrorCode::EntityReferenceInvalid,
                ErrorCode::ImportRefused,
                ErrorCode::RequestIncomplete,
                ErrorCode::RequestTooLarge,
            ])
            // An import may have any number of lines, each of which a repetition would have to skip if it is stored.
            .unrepeatable("an import has no stored answer. Give its lines ids to repeat it safely")
            // Refused lines are in the report.
            .no_errors(&[ErrorCode::PolicyRefused])
        },
    ]
}

/// The names of a kind of part, for its rows.
struct PartNames {
    path: &'static str,
    item: &'static str,
    /// In operation ids.
    singular: &'static str,
    plural: &'static str,
    /// In sentences.
    one: &'static str,
    many: &'static str,
    schema: &'static str,
    fields: &'static [Parameter],
    order: &'static [Parameter],
    /// Filters of the list that not every kind of part has.
    filters: &'static [&'static [Parameter]],
}

impl PartNames {
    fn routes<P: Part>(&self) -> Vec<Route> {
        let Self { path, item, singular, plural, one, many, schema, fields, order, filters } = *self;
        // Unlike ports, the other parts stay on their host.
        let (is_fixed, kept): (&[ErrorCode], &[&str]) = if schema == "Port" {
            (&[], &[])
        } else {
            (&[ErrorCode::EntityUpdateForbidden], OPTIONAL_IN_UPDATES)
        };
        let route =
            |method, path, id: String, summary: String, handler| route(method, path, &id, &summary, handler);
        let list_summary = format!("Lists the {many} of a host, or of all hosts.");
        let by_id = format!("get_{singular}_by_id");
        let (create_summary, create) = (format!("Creates {one}."), hosts::create_part::<P>);
        let update = hosts::update_part::<P>;
        let (delete_summary, delete) = (format!("Deletes {one}."), hosts::delete_part::<P>);
        vec![
            route(Method::GET, path, format!("get_all_{plural}"), list_summary, hosts::list_parts::<P>)
                .query(
                    &[&[groups::HOST_ID, groups::PAGE, groups::IDS, groups::NETWORK, order], filters]
                        .concat(),
                )
                .page(schema),
            route(Method::POST, path, format!("create_{singular}"), create_summary, create)
                .access(MEMBER)
                .fields(fields)
                .value(schema)
                .tagged()
                .creates_in(path)
                .errors(CREATE_ERRORS)
                .repeatable(),
            route(Method::GET, item, by_id, format!("Returns {one}."), hosts::get_part::<P>)
                .value(schema)
                .tagged(),
            route(Method::PUT, item, format!("update_{singular}"), format!("Updates {one}."), update)
                .access(MEMBER)
                .update(fields, kept)
                .value(schema)
                .tagged()
                .errors(UPDATE_ERRORS)
                .errors(is_fixed),
            route(Method::DELETE, item, format!("delete_{singular}"), delete_summary, delete)
                .access(MEMBER)
                .errors(DELETE_ERRORS),
        ]
    }
}

pub(super) fn parts() -> Vec<Route> {
    let interfaces = PartNames {
        path: "/api/v1/interfaces",
        item: "/api/v1/interfaces/{id}",
        singular: "interface",
        plural: "interfaces",
        one: "an interface",
        many: "interfaces",
        schema: "Interface",
        fields: groups::INTERFACE,
        order: groups::ORDER,
        filters: &[groups::INTERFACE_SELECTION],
    };
    let ports = PartNames {
        path: "/api/v1/ports",
        item: "/api/v1/ports/{id}",
        singular: "port",
        plural: "ports",
        one: "a port",
        many: "ports",
        schema: "Port",
        fields: groups::PORT,
        order: groups::PORT_ORDER,
        filters: &[groups::PORT_SELECTION],
    };
    let services = PartNames {
        path: "/api/v1/services",
        item: "/api/v1/services/{id}",
        singular: "service",
        plural: "services",
        one: "a service",
        many: "services",
        schema: "Service",
        fields: groups::SERVICE,
        order: groups::ORDER,
        filters: &[groups::TAGS, groups::SERVICE_SELECTION],
    };
    let entries = PartNames {
        path: "/api/v1/if-entries",
        item: "/api/v1/if-entries/{id}",
        singular: "if_entry",
        plural: "if_entries",
        one: "an interface entry",
        many: "interface entries",
        schema: "IfEntry",
        fields: groups::IF_ENTRY,
        order: groups::IF_ENTRY_ORDER,
        filters: &[groups::IF_ENTRY_SELECTION],
    };
    let routes = [
        interfaces.routes::<Interface>(),
        ports.routes::<Port>(),
        services.routes::<Service>(),
        entries.routes::<IfEntry>(),
    ];
    routes.into_iter().flatten().collect()
}
