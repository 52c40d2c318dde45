//! Users, API keys and shares.

use std::collections::BTreeSet;

use http::Method;

use super::row::CollectionNames;
use super::row::{ANY_SESSION, IN_USE, UNIQUE, route};
use crate::inventory::NewShare;
use crate::model::{
    DaemonApiKey, DaemonApiKeyId, NetworkId, OrganizationId, Permission, Share, ShareId, Timestamp, User,
    UserApiKey, UserApiKeyId, UserId,
};
use crate::service::endpoints::collections::Template;
use crate::service::endpoints::{accounts, general};
use crate::service::routes::groups;
use crate::service::routes::route::Route;
use crate::service::sender::AllowedSenders;
use crate::wire::ErrorCode;

pub(super) fn users() -> Vec<Route> {
    let users = CollectionNames {
        path: "/api/v1/users",
        item: "/api/v1/users/{id}",
        bulk_delete: "",
        singular: "user",
        plural: "users",
        one: "a user",
        many: "users",
        schema: "User",
    };
    let create = users.create_with::<User>(groups::NEW_USER, accounts::create_user).errors(UNIQUE);
    vec![
        users.list::<User>(&[groups::PAGE, groups::IDS, groups::ORDER]),
        users.get::<User>(),
        users.history::<User>("/api/v1/users/{id}/history"),
        create,
        users.update::<User>(groups::USER).errors(IN_USE),
        users.delete::<User>().errors(IN_USE),
        route(Method::GET, "/api/auth/me", "get_current_user", "Returns the user.", accounts::me)
            .errors(&[ErrorCode::EntityNotFound])
            .value("User"),
        route(
            Method::POST,
            "/api/auth/me",
            "get_current_user_by_post",
            "Returns the user, for clients that expect this method.",
            accounts::me,
        )
        .errors(&[ErrorCode::EntityNotFound])
        .no_errors(&[ErrorCode::EntityConflict, ErrorCode::PolicyRefused])
        .value("User"),
        route(
            Method::POST,
            "/api/auth/password",
            "change_password",
            "Changes the user's password.",
            accounts::change_password,
        )
        .access(ANY_SESSION)
        .fields(groups::PASSWORD_CHANGE)
        .errors(&[
            ErrorCode::AuthPasswordIncorrect,
            ErrorCode::AuthTooManyAttempts,
            ErrorCode::EntityNotFound,
        ]),
    ]
}

impl Template for User {
    const SET_ELSEWHERE: &'static [(&'static str, &'static str)] = &[(
        "password",
        "the user changes it with `POST /api/auth/password`, and the operator of this server can reset it",
    )];

    fn template() -> Self {
        Self {
            id: UserId::nil(),
            email: String::new(),
            external_id: None,
            organization_id: OrganizationId::nil(),
            permissions: Permission::Viewer,
            network_ids: Vec::new(),
            is_enabled: true,
            created_at: Timestamp::UNIX_EPOCH,
            updated_at: Timestamp::UNIX_EPOCH,
        }
    }
}

pub(super) fn user_keys() -> Vec<Route> {
    let keys = CollectionNames {
        path: "/api/v1/auth/keys",
        item: "/api/v1/auth/keys/{id}",
        bulk_delete: "/api/v1/auth/keys/bulk-delete",
        singular: "user_api_key",
        plural: "user_api_keys",
        one: "one of the caller's API keys",
        many: "the caller's API keys",
        schema: "UserApiKey",
    };
    vec![
        keys.list::<UserApiKey>(&[groups::PAGE, groups::IDS, groups::TAGS, groups::ORDER]),
        keys.get::<UserApiKey>(),
        keys.history::<UserApiKey>("/api/v1/auth/keys/{id}/history"),
        keys.create_with::<UserApiKey>(groups::NEW_USER_KEY, accounts::create_user_key)
            .errors(&[ErrorCode::EntityNotFound])
            .value("IssuedUserApiKey")
            .secret(),
        keys.update::<UserApiKey>(groups::USER_KEY).errors(&[ErrorCode::EntityUpdateForbidden]),
        keys.delete::<UserApiKey>(),
        keys.bulk_delete::<UserApiKey>(),
        keys.rotate::<UserApiKey>("/api/v1/auth/keys/{id}/rotate", accounts::rotate_user_key)
            .value("IssuedUserApiKey")
            .secret(),
    ]
}

impl Template for UserApiKey {
    fn template() -> Self {
        Self {
            id: UserApiKeyId::nil(),
            name: String::new(),
            organization_id: OrganizationId::nil(),
            user_id: UserId::nil(),
            tags: Vec::new(),
            key: String::new(),
            last_used: None,
            created_at: Timestamp::UNIX_EPOCH,
            updated_at: Timestamp::UNIX_EPOCH,
            expires_at: None,
            is_enabled: true,
            network_ids: Vec::new(),
            all_networks: false,
            permissions: Permission::Viewer,
        }
    }

    /// A list of networks that differs from the present ones restricts a key of all networks, unless the body says that
    /// it stays one.
    fn interpret(&mut self, before: &Self, is_given: impl Fn(&str) -> bool) {
        let ids = |key: &Self| key.network_ids.iter().copied().collect::<BTreeSet<NetworkId>>();
        if before.all_networks && is_given("network_ids") && !is_given("all_networks") {
            self.all_networks = ids(self) == ids(before);
        }
    }
}

pub(super) fn daemon_keys() -> Vec<Route> {
    let keys = CollectionNames {
        path: "/api/v1/auth/daemon",
        item: "/api/v1/auth/daemon/{id}",
        bulk_delete: "/api/v1/auth/daemon/bulk-delete",
        singular: "daemon_api_key",
        plural: "daemon_api_keys",
        one: "a daemon API key",
        many: "daemon API keys",
        schema: "DaemonApiKey",
    };
    vec![
        keys.list::<DaemonApiKey>(&[groups::PAGE, groups::IDS, groups::NETWORK, groups::TAGS, groups::ORDER]),
        keys.get::<DaemonApiKey>(),
        keys.history::<DaemonApiKey>("/api/v1/auth/daemon/{id}/history"),
        keys.create_with::<DaemonApiKey>(groups::NEW_DAEMON_KEY, accounts::create_daemon_key)
            .value("IssuedDaemonApiKey")
            .secret(),
        keys.update::<DaemonApiKey>(groups::NEW_DAEMON_KEY),
        keys.delete::<DaemonApiKey>(),
        keys.bulk_delete::<DaemonApiKey>(),
        keys.rotate::<DaemonApiKey>("/api/v1/auth/daemon/{id}/rotate", accounts::rotate_daemon_key)
            .value("IssuedDaemonApiKey")
            .secret(),
    ]
}

impl Template for DaemonApiKey {
    fn template() -> Self {
        Self {
            id: DaemonApiKeyId::nil(),
            name: String::new(),
            network_id: NetworkId::nil(),
            tags: Vec::new(),
            key: String::new(),
            last_used: None,
            created_at: Timestamp::UNIX_EPOCH,
            updated_at: Timestamp::UNIX_EPOCH,
            expires_at: None,
            is_enabled: true,
        }
    }
}

pub(super) fn shares() -> Vec<Route> {
    let shares = CollectionNames {
        path: "/api/v1/shares",
        item: "/api/v1/shares/{id}",
        bulk_delete: "/api/v1/shares/bulk-delete",
        singular: "share",
        plural: "shares",
        one: "a share",
        many: "shares",
        schema: "Share",
    };
    vec![
        shares.list::<Share>(&[groups::PAGE, groups::IDS, groups::NETWORK, groups::ORDER]),
        shares.get::<Share>(),
        shares.history::<Share>("/api/v1/shares/{id}/history"),
        shares.create_with::<Share>(groups::SHARE, accounts::create_share).repeatable(),
        Route { handler: accounts::update_share, ..shares.update::<Share>(groups::SHARE) },
        shares.delete::<Share>(),
        shares.bulk_delete::<Share>(),
        route(
            Method::GET,
            "/api/v1/shares/public/{id}",
            "get_public_share_metadata",
            "Returns the public metadata of a share.",
            general::share_metadata,
        )
        .access(AllowedSenders::Public)
        .value("ShareMetadata"),
        route(
            Method::POST,
            "/api/v1/shares/public/{id}/verify",
            "verify_share_password",
            "Exchanges the password of a share for a token.",
            accounts::verify_share,
        )
        .access(AllowedSenders::Public)
        .fields(groups::SHARE_PASSWORD)
        .value("ShareToken")
        .secret()
        .errors(&[ErrorCode::SharePasswordIncorrect, ErrorCode::AuthTooManyAttempts])
        .no_errors(&[ErrorCode::EntityConflict]),
    ]
}

impl Template for Share {
    fn template() -> Self {
        let new = NewShare::new("");
        Self {
            id: ShareId::nil(),
            organization_id: OrganizationId::nil(),
            network_id: new.network_id,
            name: new.name,
            is_enabled: new.is_enabled,
            expires_at: new.expires_at,
            requires_password: false,
            options: new.options,
            view: new.view,
            redact: new.redact,
            created_at: Timestamp::UNIX_EPOCH,
            updated_at: Timestamp::UNIX_EPOCH,
        }
    }
}
