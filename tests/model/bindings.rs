//! Bindings: the ids that each type requires.

use serde_json::{Value, json};
use toposcope::model::{Binding, BindingTarget};

use crate::support::{ID, TIME, binding_json, id, refusal, round_trip, with, without};

fn target(text: &str) -> BindingTarget {
    round_trip::<Binding>(text).target
}

#[test]
fn a_binding_is_written_with_both_ids() {
    let head = format!(r#"{{"id":"{ID}","service_id":"{ID}","network_id":"{ID}""#);
    let tail = format!(r#","created_at":"{TIME}","updated_at":"{TIME}"}}"#);
    assert_eq!(
        target(&format!(r#"{head},"interface_id":null,"port_id":"{ID}","type":"Port"{tail}"#)),
        BindingTarget::Port { port_id: id(), interface_id: None }
    );
    assert_eq!(
        target(&format!(r#"{head},"interface_id":"{ID}","port_id":"{ID}","type":"Port"{tail}"#)),
        BindingTarget::Port { port_id: id(), interface_id: Some(id()) }
    );
    assert_eq!(
        target(&format!(r#"{head},"interface_id":"{ID}","port_id":null,"type":"Interface"{tail}"#)),
        BindingTarget::Interface { interface_id: id() }
    );
}

#[test]
fn a_binding_may_leave_out_the_id_that_it_has_not() {
    let binding: Binding = serde_json::from_value(without(binding_json(), "interface_id")).unwrap();
    assert_eq!(binding.target, BindingTarget::Port { port_id: id(), interface_id: None });
    let binding =
        with(with(without(binding_json(), "port_id"), "interface_id", json!(ID)), "type", json!("Interface"));
    let binding: Binding = serde_json::from_value(binding).unwrap();
    assert_eq!(binding.target, BindingTarget::Interface { interface_id: id() });
}

#[test]
fn a_binding_whose_ids_do_not_go_with_its_type_is_refused() {
    let on_interface = with(binding_json(), "type", json!("Interface"));
    assert!(refusal::<Binding>(&without(binding_json(), "port_id")).contains("requires a port_id"));
    assert!(refusal::<Binding>(&with(binding_json(), "port_id", Value::Null)).contains("requires a port_id"));
    assert!(refusal::<Binding>(&on_interface).contains("must not have a port_id"));
    assert!(
        refusal::<Binding>(&with(on_interface.clone(), "interface_id", json!(ID)))
            .contains("must not have a port_id")
    );
    assert!(refusal::<Binding>(&without(on_interface, "port_id")).contains("requires an interface_id"));
    refusal::<Binding>(&without(binding_json(), "type"));
    refusal::<Binding>(&with(binding_json(), "type", json!("port")));
}
