//! Functions and constants that make the rows of the route table.

use http::Method;

use crate::inventory::Requirement;
use crate::model::Permission;
use crate::service::routes::parameter::{EXPECTED_UPDATED_AT, Parameter, RequestContent};
use crate::service::routes::route::{Answer, BodyLimit, Handler, Repetition, Route};
use crate::service::sender::Access;
use crate::wire::ErrorCode;

/// Any caller with a session.
pub(super) const ANY_SESSION: Access = Access::Caller(Requirement::session(Permission::Viewer));
pub(super) const VIEWER: Access = Access::Caller(Requirement::level(Permission::Viewer));
pub(super) const MEMBER: Access = Access::Caller(Requirement::level(Permission::Member));

/// The errors of writing a record whose name is unique.
pub(super) const UNIQUE: &[ErrorCode] = &[ErrorCode::EntityAlreadyExists];
/// The errors of deleting a record that others may need.
pub(super) const NEEDED: &[ErrorCode] = &[ErrorCode::EntityInUse];

pub(super) fn route(
    method: Method,
    path: &'static str,
    operation_id: &str,
    summary: &str,
    handler: Handler,
) -> Route {
    Route {
        // Set with the table.
        index: 0,
        method,
        path,
        operation_id: Some(operation_id.to_owned()),
        summary: summary.to_owned(),
        access: VIEWER,
        query: Vec::new(),
        body: RequestContent::Nothing,
        answer: Answer::Empty,
        body_limit: BodyLimit::Usual,
        creates_in: None,
        is_tagged: false,
        errors: Vec::new(),
        excluded_errors: &[],
        repetition: Repetition::Unchecked,
        handler,
    }
}

impl Route {
    pub(super) fn access(self, access: Access) -> Self {
        Self { access, ..self }
    }

    pub(super) fn query(self, groups: &[&'static [Parameter]]) -> Self {
        Self { query: groups.to_vec(), ..self }
    }

    pub(super) fn fields(self, fields: &'static [Parameter]) -> Self {
        Self { body: RequestContent::Fields(fields), ..self }
    }

    /// Replaces these fields of a record. Those of `kept` may be missing.
    pub(super) fn update(self, fields: &'static [Parameter], kept: &'static [&'static str]) -> Self {
        Self { body: RequestContent::Update { fields, kept }, ..self }
    }

    /// Returns the endpoint that changes single fields, beside an endpoint that updates a record.
    pub(super) fn patch(&self) -> Option<Self> {
        let RequestContent::Update { fields, .. } = self.body else { return None };
        let operation_id = self.operation_id.as_deref()?.strip_prefix("update_")?;
        let subject = self.summary.strip_prefix("Updates ")?;
        Some(Self {
            method: Method::PATCH,
            operation_id: Some(format!("patch_{operation_id}")),
            summary: format!("Changes single fields of {subject}"),
            body: RequestContent::Patch { fields, lock: Some(&EXPECTED_UPDATED_AT) },
            ..self.clone()
        })
    }

    pub(super) fn ids(self) -> Self {
        Self { body: RequestContent::Ids, ..self }
    }

    pub(super) fn value(self, schema: &'static str) -> Self {
        Self { answer: Answer::Value(schema), is_tagged: false, ..self }
    }

    pub(super) fn document(self, schema: &'static str) -> Self {
        Self { answer: Answer::Document(schema), ..self }
    }

    pub(super) fn creates_in(self, collection: &'static str) -> Self {
        Self { creates_in: Some(collection), ..self }
    }

    #[cfg(feature = "discovery")]
    pub(super) fn list(self, schema: &'static str) -> Self {
        Self { answer: Answer::List(schema), ..self }
    }

    pub(super) fn page(self, schema: &'static str) -> Self {
        Self { answer: Answer::Page(schema), is_tagged: true, ..self }
    }

    /// Takes an `Idempotency-Key`.
    pub(super) fn repeatable(self) -> Self {
        let codes = [ErrorCode::IdempotencyKeyReused, ErrorCode::IdempotencyKeyInUse];
        let of_header = [ErrorCode::ValidationEmpty, ErrorCode::ValidationMaxLength];
        Self { repetition: Repetition::Answered, ..self.errors(&codes).errors(&of_header) }
    }

    /// Answers with a secret, so that an `Idempotency-Key` is refused.
    pub(super) fn secret(self) -> Self {
        Self { repetition: Repetition::Refused, ..self.errors(&[ErrorCode::ValidationInvalidFormat]) }
    }

    pub(super) fn tagged(self) -> Self {
        Self { is_tagged: true, ..self }
    }

    /// Adds codes of errors that do not follow from the other fields.
    pub(super) fn errors(mut self, errors: &[ErrorCode]) -> Self {
        self.errors.extend(errors);
        self
    }

    /// Excludes codes of errors that would follow from the other fields.
    pub(super) fn no_errors(self, excluded_errors: &'static [ErrorCode]) -> Self {
        Self { excluded_errors, ..self }
    }
}
