//! Functions and constants that make the rows of the route table, and the rows that all collections have.

use http::Method;

use crate::inventory::{BulkDeletable, Creatable, Deletable, Requirement, Resource, Revertable};
use crate::model::Permission;
use crate::service::endpoints::collections::Template;
use crate::service::endpoints::{collections, history, lists};
use crate::service::routes::groups;
use crate::service::routes::parameter::{EXPECTED_UPDATED_AT, Parameter, RequestContent};
use crate::service::routes::route::{BodyLimit, Handler, Repetition, ResponseContent, Route};
use crate::service::sender::AllowedSenders;
use crate::wire::ErrorCode;

/// Any caller with a session.
pub(super) const ANY_SESSION: AllowedSenders =
    AllowedSenders::Caller(Requirement::session(Permission::Viewer));
pub(super) const VIEWER: AllowedSenders = AllowedSenders::Caller(Requirement::level(Permission::Viewer));
pub(super) const MEMBER: AllowedSenders = AllowedSenders::Caller(Requirement::level(Permission::Member));

/// The errors of writing a record whose name is unique.
pub(super) const UNIQUE: &[ErrorCode] = &[ErrorCode::EntityAlreadyExists];
/// The errors of reverting a record.
pub(super) const REVERT_ERRORS: &[ErrorCode] = &[
    ErrorCode::EntityAccessDenied,
    ErrorCode::EntityReferenceInvalid,
    ErrorCode::PositionGone,
    ErrorCode::PreconditionFailed,
    ErrorCode::QuotaExceeded,
    ErrorCode::ValidationInvalidFormat,
];
/// The errors of deleting a record that others may need.
pub(super) const IN_USE: &[ErrorCode] = &[ErrorCode::EntityInUse];

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
        answer: ResponseContent::Empty,
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
    pub(super) fn access(self, access: AllowedSenders) -> Self {
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
        Self { answer: ResponseContent::Value(schema), is_tagged: false, ..self }
    }

    pub(super) fn document(self, schema: &'static str) -> Self {
        Self { answer: ResponseContent::Document(schema), ..self }
    }

    pub(super) fn creates_in(self, collection: &'static str) -> Self {
        Self { creates_in: Some(collection), ..self }
    }

    #[cfg(feature = "discovery")]
    pub(super) fn list(self, schema: &'static str) -> Self {
        Self { answer: ResponseContent::List(schema), ..self }
    }

    pub(super) fn page(self, schema: &'static str) -> Self {
        Self { answer: ResponseContent::Page(schema), is_tagged: true, ..self }
    }

    /// Takes an `Idempotency-Key`.
    pub(super) fn repeatable(self) -> Self {
        let codes = [ErrorCode::IdempotencyKeyReused, ErrorCode::IdempotencyKeyInUse];
        let of_header = [ErrorCode::ValidationEmpty, ErrorCode::ValidationMaxLength];
        Self { repetition: Repetition::Answered, ..self.errors(&codes).errors(&of_header) }
    }

    /// Answers with a secret, so that an `Idempotency-Key` is refused.
    pub(super) fn secret(self) -> Self {
        self.unrepeatable("the answer has a secret, which is not stored")
    }

    /// Refuses an `Idempotency-Key` for a reason, which is a part of a sentence.
    pub(super) fn unrepeatable(self, reason: &'static str) -> Self {
        let repetition = Repetition::Refused { reason };
        Self { repetition, ..self.errors(&[ErrorCode::ValidationInvalidFormat]) }
    }

    /// Answers with a page of the history.
    pub(super) fn feed(self) -> Self {
        Self { answer: ResponseContent::Feed("Change"), ..self.errors(&[ErrorCode::PositionGone]) }
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

/// The names of a collection, for its rows.
pub(super) struct CollectionNames {
    pub(super) path: &'static str,
    pub(super) item: &'static str,
    pub(super) bulk_delete: &'static str,
    /// In operation ids.
    pub(super) singular: &'static str,
    pub(super) plural: &'static str,
    /// In sentences.
    pub(super) one: &'static str,
    pub(super) many: &'static str,
    pub(super) schema: &'static str,
}

impl CollectionNames {
    pub(super) fn list<T: Resource>(&self, query: &[&'static [Parameter]]) -> Route {
        let (id, summary) = (format!("get_all_{}", self.plural), format!("Lists {}.", self.many));
        route(Method::GET, self.path, &id, &summary, lists::list::<T>)
            .access(AllowedSenders::Caller(T::REQUIREMENTS.read))
            .query(query)
            .page(self.schema)
    }

    pub(super) fn get<T: Resource>(&self) -> Route {
        let (id, summary) = (format!("get_{}_by_id", self.singular), format!("Returns {}.", self.one));
        route(Method::GET, self.item, &id, &summary, collections::get::<T>)
            .access(AllowedSenders::Caller(T::REQUIREMENTS.read))
            .value(self.schema)
            .tagged()
    }

    /// `path` is that of the history of one record.
    pub(super) fn history<T: Resource>(&self, path: &'static str) -> Route {
        let (id, summary) =
            (format!("get_{}_history", self.singular), format!("Returns the history of {}.", self.one));
        route(Method::GET, path, &id, &summary, history::record_history::<T>)
            .access(AllowedSenders::Caller(T::REQUIREMENTS.read))
            .query(&[groups::CHANGES_PAGE])
            .feed()
    }

    pub(super) fn create<T: Creatable + Template>(&self, fields: &'static [Parameter]) -> Route {
        self.create_with::<T>(fields, collections::create::<T>).repeatable()
    }

    pub(super) fn create_with<T: Resource>(&self, fields: &'static [Parameter], handler: Handler) -> Route {
        let (id, summary) = (format!("create_{}", self.singular), format!("Creates {}.", self.one));
        route(Method::POST, self.path, &id, &summary, handler)
            .access(AllowedSenders::Caller(T::REQUIREMENTS.create))
            .fields(fields)
            .value(self.schema)
            .tagged()
            .creates_in(self.path)
            .errors(&[ErrorCode::QuotaExceeded])
    }

    pub(super) fn update<T: Template>(&self, fields: &'static [Parameter]) -> Route {
        let (id, summary) = (format!("update_{}", self.singular), format!("Updates {}.", self.one));
        route(Method::PUT, self.item, &id, &summary, collections::update::<T>)
            .access(AllowedSenders::Caller(T::REQUIREMENTS.change))
            .update(fields, &[])
            .value(self.schema)
            .tagged()
            .errors(&[ErrorCode::PreconditionFailed])
    }

    /// `errors` are those of creations and updates.
    pub(super) fn revert<T: Revertable>(&self, path: &'static str, errors: &[ErrorCode]) -> Route {
        let (id, summary) =
            (format!("revert_{}", self.singular), format!("Makes {} what it was at a position.", self.one));
        route(Method::POST, path, &id, &summary, collections::revert::<T>)
            .access(AllowedSenders::Caller(T::REQUIREMENTS.create))
            .fields(groups::REVERT)
            .value(self.schema)
            .tagged()
            .errors(REVERT_ERRORS)
            .errors(errors)
    }

    pub(super) fn rotate<T: Resource>(&self, path: &'static str, handler: Handler) -> Route {
        let (id, summary) =
            (format!("rotate_{}", self.singular), format!("Replaces the secret of {}.", self.one));
        route(Method::POST, path, &id, &summary, handler)
            .access(AllowedSenders::Caller(T::REQUIREMENTS.change))
    }

    pub(super) fn delete<T: Resource + Deletable>(&self) -> Route {
        let (id, summary) = (format!("delete_{}", self.singular), format!("Deletes {}.", self.one));
        route(Method::DELETE, self.item, &id, &summary, collections::delete::<T>)
            .access(AllowedSenders::Caller(T::REQUIREMENTS.change))
            .query(&[groups::ERASE])
            .errors(&[ErrorCode::PreconditionFailed])
    }

    pub(super) fn bulk_delete<T: Resource + BulkDeletable>(&self) -> Route {
        let (id, summary) =
            (format!("bulk_delete_{}", self.plural), format!("Deletes several {}.", self.many));
        route(Method::POST, self.bulk_delete, &id, &summary, collections::bulk_delete::<T>)
            .access(AllowedSenders::Caller(T::REQUIREMENTS.change))
            .ids()
            .value("BulkDeletion")
    }
}
