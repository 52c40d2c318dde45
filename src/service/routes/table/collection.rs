//! The rows that all collections have.

use http::Method;

use super::row::route;
use crate::inventory::{BulkDeletable, Creatable, Deletable, Resource};
use crate::service::endpoints::collections;
use crate::service::endpoints::collections::Template;
use crate::service::endpoints::lists;
use crate::service::routes::parameter::Parameter;
use crate::service::routes::route::{Handler, Route};
use crate::service::sender::Access;
use crate::wire::ErrorCode;

/// The names of a collection, for its rows.
pub(super) struct Collection {
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

impl Collection {
    pub(super) fn list<T: Resource>(&self, query: &[&'static [Parameter]]) -> Route {
        let (id, summary) = (format!("get_all_{}", self.plural), format!("Lists {}.", self.many));
        route(Method::GET, self.path, &id, &summary, lists::list::<T>)
            .access(Access::Caller(T::REQUIREMENTS.read))
            .query(query)
            .page(self.schema)
    }

    pub(super) fn get<T: Resource>(&self) -> Route {
        let (id, summary) = (format!("get_{}_by_id", self.singular), format!("Returns {}.", self.one));
        route(Method::GET, self.item, &id, &summary, collections::get::<T>)
            .access(Access::Caller(T::REQUIREMENTS.read))
            .value(self.schema)
            .tagged()
    }

    pub(super) fn create<T: Creatable + Template>(&self, fields: &'static [Parameter]) -> Route {
        self.create_with::<T>(fields, collections::create::<T>).repeatable()
    }

    pub(super) fn create_with<T: Resource>(&self, fields: &'static [Parameter], handler: Handler) -> Route {
        let (id, summary) = (format!("create_{}", self.singular), format!("Creates {}.", self.one));
        route(Method::POST, self.path, &id, &summary, handler)
            .access(Access::Caller(T::REQUIREMENTS.create))
            .fields(fields)
            .value(self.schema)
            .tagged()
            .creates_in(self.path)
            .errors(&[ErrorCode::QuotaExceeded])
    }

    pub(super) fn update<T: Template>(&self, fields: &'static [Parameter]) -> Route {
        let (id, summary) = (format!("update_{}", self.singular), format!("Updates {}.", self.one));
        route(Method::PUT, self.item, &id, &summary, collections::update::<T>)
            .access(Access::Caller(T::REQUIREMENTS.change))
            .update(fields, &[])
            .value(self.schema)
            .tagged()
            .errors(&[ErrorCode::PreconditionFailed])
    }

    pub(super) fn rotate<T: Resource>(&self, path: &'static str, handler: Handler) -> Route {
        let (id, summary) =
            (format!("rotate_{}", self.singular), format!("Replaces the secret of {}.", self.one));
        route(Method::POST, path, &id, &summary, handler).access(Access::Caller(T::REQUIREMENTS.change))
    }

    pub(super) fn delete<T: Resource + Deletable>(&self) -> Route {
        let (id, summary) = (format!("delete_{}", self.singular), format!("Deletes {}.", self.one));
        route(Method::DELETE, self.item, &id, &summary, collections::delete::<T>)
            .access(Access::Caller(T::REQUIREMENTS.change))
            .errors(&[ErrorCode::PreconditionFailed])
    }

    pub(super) fn bulk_delete<T: Resource + BulkDeletable>(&self) -> Route {
        let (id, summary) =
            (format!("bulk_delete_{}", self.plural), format!("Deletes several {}.", self.many));
        route(Method::POST, self.bulk_delete, &id, &summary, collections::bulk_delete::<T>)
            .access(Access::Caller(T::REQUIREMENTS.change))
            .ids()
            .value("BulkDeletion")
    }
}
