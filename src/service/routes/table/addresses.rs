//! Addresses of subnets and their reservations.

use http::Method;

use super::questions::ANSWER_LIMIT;
use super::row::{MEMBER, route};
use super::topology::{NETWORK_ERRORS, TOO_LARGE};
use crate::inventory::{MAX_RELEASED, MAX_RESERVED};
use crate::service::endpoints::topology;
use crate::service::routes::parameter::{Kind, Parameter};
use crate::service::routes::route::Route;
use crate::wire::{AddressState, ErrorCode};

const ADDRESS_STATE: &[Parameter] = &[Parameter::nullable(
    "state",
    Kind::Choice(AddressState::TEXTS),
    "Only addresses in this state. Without it, all that are not free.",
)];

const RESERVATION: &[Parameter] = &[
    Parameter::required(
        "count",
        Kind::Number { min: 1, max: MAX_RESERVED as i64, default: None },
        "The number of addresses.",
    ),
    Parameter::required("name", Kind::Name, "The purpose of the reservation."),
];

const RELEASE: &[Parameter] = &[Parameter::required(
    "addresses",
    Kind::Texts { format: "ip", max: MAX_RELEASED },
    "The addresses, at least one. Those that are not reserved are left out.",
)];

pub(super) fn addresses() -> Vec<Route> {
    vec![
        route(
            Method::GET,
            "/api/v1/subnets/{id}/addresses",
            "list_addresses",
            "Lists addresses of a subnet, the lowest first.",
            topology::list_addresses,
        )
        .query(&[ADDRESS_STATE, ANSWER_LIMIT])
        .value("AddressList")
        .tagged()
        .errors(NETWORK_ERRORS)
        .errors(TOO_LARGE),
        route(
            Method::POST,
            "/api/v1/subnets/{id}/addresses/reserve",
            "reserve_addresses",
            "Reserves free addresses of a subnet.",
            topology::reserve_addresses,
        )
        .access(MEMBER)
        .fields(RESERVATION)
        .value("AddressList")
        .repeatable()
        .errors(NETWORK_ERRORS)
        .errors(&[
            ErrorCode::AddressesExhausted,
            ErrorCode::EntityConflict,
            ErrorCode::QuotaExceeded,
        ]),
        route(
            Method::POST,
            "/api/v1/subnets/{id}/addresses/release",
            "release_addresses",
            "Releases reserved addresses of a subnet.",
            topology::release_addresses,
        )
        .access(MEMBER)
        .fields(RELEASE)
        .value("AddressList")
        .errors(NETWORK_ERRORS)
        .errors(&[ErrorCode::EntityConflict, ErrorCode::ValidationEmpty]),
    ]
}
