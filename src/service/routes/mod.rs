//! The route table: every endpoint as data.
//!
//! Routing, the `Allow` header, the check of the caller, the names of query parameters and body fields, and the
//! OpenAPI document all follow from the rows of `table`. A new endpoint is one row and one function here;
//! `docs/architecture.md` lists where else it is named.

pub(super) mod endpoints;
pub(super) mod groups;
pub(super) mod parameter;
pub(super) mod route;

mod table;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use http::Method;
use matchit::Router;

use self::endpoints::Endpoints;
use self::route::Route;
use super::input::PathParameters;
use super::response::error::ApiError;

/// The routes, and the paths by which they are found.
#[derive(Debug)]
pub(super) struct RouteTable {
    routes: Vec<Route>,
    paths: Router<PathRoutes>,
}

/// The routes of one path.
#[derive(Debug, Default)]
struct PathRoutes {
    /// Indices of routes.
    routes: Vec<usize>,
    /// The methods, as in an `Allow` header.
    allow: String,
    group: Endpoints,
}

static ROUTES: LazyLock<RouteTable> = LazyLock::new(|| RouteTable::new(table::routes()));

impl RouteTable {
    fn new(mut routes: Vec<Route>) -> Self {
        for (index, route) in routes.iter_mut().enumerate() {
            route.index = index;
        }
        let mut by_path: BTreeMap<&str, PathRoutes> = BTreeMap::new();
        for (index, route) in routes.iter().enumerate() {
            let path = by_path.entry(route.path).or_default();
            path.routes.push(index);
            path.group = Endpoints::of_path(route.path);
            let separator = if path.allow.is_empty() { "" } else { ", " };
            let method = if route.method == Method::GET { "GET, HEAD" } else { route.method.as_str() };
            path.allow = format!("{}{separator}{method}", path.allow);
        }
        let mut paths = Router::new();
        for (path, found) in by_path {
            let inserted = paths.insert(path, found);
            debug_assert!(inserted.is_ok(), "the path {path} is ambiguous");
        }
        Self { routes, paths }
    }

    /// Returns all routes.
    pub(super) fn all() -> &'static [Route] {
        &ROUTES.routes
    }

    /// Returns all routes that are not of these groups.
    #[cfg(any(feature = "axum", feature = "openapi"))]
    pub(super) fn without(removed: Endpoints) -> impl Iterator<Item = &'static Route> {
        Self::all().iter().filter(move |route| !removed.intersects(Endpoints::of_path(route.path)))
    }

    /// Returns the template of each path once, except for those of these groups.
    #[cfg(feature = "axum")]
    pub(super) fn paths(removed: Endpoints) -> impl Iterator<Item = &'static str> {
        let paths: std::collections::BTreeSet<&str> =
            Self::without(removed).map(|route| route.path).collect();
        paths.into_iter()
    }

    /// Finds the endpoint for a method and a path, unless it is of one of these groups.
    ///
    /// Paths are compared exactly, after [`normalize_path`](super::input::normalize_path); HEAD is routed like GET.
    ///
    /// # Errors
    /// `route_not_found`, or `method_not_allowed` with the methods that the path supports.
    pub(super) fn find<'p>(
        method: &Method,
        path: &'p str,
        removed: Endpoints,
    ) -> Result<(&'static Route, PathParameters<'p>), ApiError> {
        let table: &'static Self = &ROUTES;
        let found = table.paths.at(path).map_err(|_| {
            let is_found = |path: &str| table.paths.at(path).is_ok();
            if path.strip_suffix('/').is_some_and(is_found) {
                ApiError::trailing_slash()
            } else {
                ApiError::route_not_found()
            }
        })?;
        if removed.intersects(found.value.group) {
            return Err(ApiError::route_not_found());
        }
        let method = if method == Method::HEAD { &Method::GET } else { method };
        let mut routes = found.value.routes.iter().filter_map(|index| table.routes.get(*index));
        let route = routes.find(|route| route.method == *method);
        route
            .map(|route| (route, found.params))
            .ok_or_else(|| ApiError::method_not_allowed(&found.value.allow))
    }
}
