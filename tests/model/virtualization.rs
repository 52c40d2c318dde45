//! Virtualization of hosts and services.

use serde_json::json;
use toposcope::model::{
    DockerVirtualization, HostVirtualization, ProxmoxVirtualization, ServiceVirtualization,
};

use crate::support::{ID, id, refusal, round_trip};

#[test]
fn virtualization_tells_its_type_and_details() {
    let proxmox: HostVirtualization = round_trip(&format!(
        r#"{{"type":"Proxmox","details":{{"vm_name":"web","vm_id":null,"service_id":"{ID}"}}}}"#
    ));
    assert_eq!(proxmox.service_id(), id());
    let details = ProxmoxVirtualization { vm_name: Some("web".to_owned()), vm_id: None, service_id: id() };
    assert_eq!(proxmox, HostVirtualization::Proxmox(details));

    let docker: ServiceVirtualization = round_trip(&format!(
        r#"{{"type":"Docker","details":{{"container_name":null,"container_id":"9f","service_id":"{ID}"}}}}"#
    ));
    let details =
        DockerVirtualization { container_name: None, container_id: Some("9f".to_owned()), service_id: id() };
    assert_eq!(docker, ServiceVirtualization::Docker(details));
}

#[test]
fn virtualization_may_leave_out_names_but_not_the_service() {
    let sent = json!({"details": {"service_id": ID}, "type": "Proxmox"});
    assert_eq!(serde_json::from_value::<HostVirtualization>(sent).unwrap().service_id(), id());
    for value in [
        json!({"type": "Proxmox"}),
        json!({"type": "Proxmox", "details": null}),
        json!({"type": "Proxmox", "details": {}}),
        json!({"type": "Docker", "details": {"service_id": ID}}),
        json!({"details": {"service_id": ID}}),
    ] {
        refusal::<HostVirtualization>(&value);
    }
    refusal::<ServiceVirtualization>(&json!({"type": "Proxmox", "details": {"service_id": ID}}));
    refusal::<ServiceVirtualization>(&json!({"type": "Docker", "details": {}}));
}
