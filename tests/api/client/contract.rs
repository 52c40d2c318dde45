//! The traits and the bodies of the client, compared with the OpenAPI document.

use std::marker::PhantomData;

use serde_json::{Value, json};
use toposcope::client::{BulkDeletable, Collection, Creatable, Deletable, Readable, Recorded, Updatable};
#[cfg(feature = "topology")]
use toposcope::model::TopologyLink;
use toposcope::model::{
    DaemonApiKey, Host, IfEntry, Interface, Network, Organization, Port, Service, Share, Subnet, Tag, User,
    UserApiKey,
};
#[cfg(feature = "discovery")]
use toposcope::model::{Discovery, DiscoveryDaemon};

use super::operations::recorded;
use crate::common::openapi_document;

/// Returns whether a type implements a trait of the client. The constant of the type itself precedes that of the trait.
macro_rules! implements {
    ($record:ty: $operation:path) => {{
        struct Probe<T>(PhantomData<T>);
        #[allow(dead_code, reason = "unused for types that implement the trait")]
        trait Otherwise {
            const IMPLEMENTED: bool = false;
        }
        impl<T> Otherwise for Probe<T> {}
        #[allow(dead_code, reason = "unused for types that do not implement the trait")]
        impl<T: $operation> Probe<T> {
            const IMPLEMENTED: bool = true;
        }
        Probe::<$record>::IMPLEMENTED
    }};
}

/// Asserts that each type has the methods of exactly the documented operations on its path.
macro_rules! assert_documented {
    ($($record:ty),* $(,)?) => {$({
        let path = <$record as Collection>::PATH;
        let item = format!("{path}/{{id}}");
        let document = openapi_document();
        let has = |path: &str, method: &str| document["paths"][path].get(method).is_some();
        assert!(has(path, "get"), "{path}");
        assert_eq!(implements!($record: Readable), has(&item, "get"), "{item}");
        assert_eq!(implements!($record: Updatable), has(&item, "put"), "{item}");
        assert_eq!(implements!($record: Deletable), has(&item, "delete"), "{item}");
        assert_eq!(implements!($record: BulkDeletable), has(&format!("{path}/bulk-delete"), "post"), "{path}");
        assert_eq!(implements!($record: Recorded), has(&format!("{item}/history"), "get"), "{item}");
        // Other records are created by methods of their own.
        assert!(!implements!($record: Creatable) || has(path, "post"), "{path}");
    })*};
}

#[test]
fn methods_of_records_exist_exactly_for_documented_operations() {
    assert_documented!(
        Organization,
        User,
        Network,
        Subnet,
        Tag,
        Host,
        Interface,
        Port,
        Service,
        IfEntry,
        UserApiKey,
        DaemonApiKey,
        Share,
    );
    #[cfg(feature = "discovery")]
    assert_documented!(DiscoveryDaemon, Discovery);
    #[cfg(feature = "topology")]
    assert_documented!(TopologyLink);
}

#[tokio::test]
async fn update_sends_null_for_every_nullable_field_that_is_none() {
    update_of_empty::<Organization>("Organization", &[]).await;
    update_of_empty::<User>("User", &[]).await;
    update_of_empty::<Network>("Network", &[]).await;
    update_of_empty::<Subnet>("Subnet", &[]).await;
    update_of_empty::<Tag>("Tag", &[]).await;
    update_of_empty::<Host>("Host", &[]).await;
    update_of_empty::<Interface>("Interface", &[]).await;
    update_of_empty::<Port>("Port", &[]).await;
    update_of_empty::<Service>("Service", &[]).await;
    update_of_empty::<IfEntry>("IfEntry", &[]).await;
    update_of_empty::<UserApiKey>("UserApiKey", &[]).await;
    update_of_empty::<DaemonApiKey>("DaemonApiKey", &[]).await;
    // A method of its own changes the password.
    update_of_empty::<Share>("Share", &["password"]).await;
}

/// Updates the documented example of a record, without the values of nullable fields.
async fn update_of_empty<T: Updatable>(schema: &str, kept: &[&str]) {
    let document = openapi_document();
    let schema = &document["components"]["schemas"][schema];
    let body = document["paths"][format!("{}/{{id}}", T::PATH)]["put"]
        .pointer("/requestBody/content/application~1json/schema/$ref");
    let fields =
        &document.pointer(body.unwrap().as_str().unwrap().trim_start_matches('#')).unwrap()["properties"];
    let fields = fields.as_object().unwrap().iter();
    let nullable = fields.filter(|(name, field)| is_nullable(field) && !kept.contains(&name.as_str()));
    let nullable: Vec<&String> = nullable.map(|(name, _)| name).collect();

    let mut example = schema["examples"][0].clone();
    for name in &nullable {
        example.as_object_mut().unwrap().remove(*name);
    }
    let record: T = serde_json::from_value(example.clone()).unwrap();
    let (client, sent) = recorded(example);
    client.update(&record, None).await.unwrap();
    let sent = sent.lock().unwrap();
    for name in nullable {
        assert_eq!(sent[0].1.get(name), Some(&Value::Null), "{}: {name}", T::PATH);
    }
}

fn is_nullable(field: &Value) -> bool {
    let kinds = field["type"].as_array();
    let alternatives = field["anyOf"].as_array();
    kinds.is_some_and(|kinds| kinds.contains(&json!("null")))
        || alternatives.is_some_and(|alternatives| alternatives.contains(&json!({"type": "null"})))
}
