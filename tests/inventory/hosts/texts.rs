//! The length of the texts of hosts and their parts.

use toposcope::access::{Caller, Scope};
use toposcope::inventory::{Atomicity, BulkHost, Error, ErrorKind, Problem};
use toposcope::model::{Host, IfEntry, Interface, Permission, Port, Service, Subnet, Tag};

use crate::support::{Document, Fixture, id, invalid, owner_of, refusal, rich_host};

const MAX: usize = 65_536;

/// Every text of a host and its parts, by its path.
const TEXTS: [&str; 33] = [
    "name",
    "hostname",
    "description",
    "sys_name",
    "sys_descr",
    "sys_object_id",
    "sys_location",
    "sys_contact",
    "chassis_id.value",
    "manufacturer",
    "model",
    "serial_number",
    "management_url",
    "virtualization.details.vm_name",
    "virtualization.details.vm_id",
    "interfaces.1.name",
    "services.0.name",
    "services.1.service_definition",
    "services.1.virtualization.details.container_name",
    "services.1.virtualization.details.container_id",
    "if_entries.0.if_name",
    "if_entries.1.if_descr",
    "if_entries.0.if_alias",
    "if_entries.0.cdp_address",
    "if_entries.0.cdp_device_id",
    "if_entries.0.cdp_platform",
    "if_entries.1.cdp_port_id",
    "if_entries.1.lldp_chassis_id.value",
    "if_entries.0.lldp_mgmt_addr",
    "if_entries.0.lldp_port_desc",
    "if_entries.1.lldp_port_id.value",
    "if_entries.1.lldp_sys_desc",
    "if_entries.0.lldp_sys_name",
];

fn too_long(field: &str) -> ErrorKind {
    invalid(field, Problem::MaxLength { max: MAX })
}

/// Returns a host with every text, one of which has this many characters of two bytes.
fn host_with(fixture: &Fixture, path: &str, length: usize) -> Host {
    let mut host = rich_host(1, fixture.network, &[]);
    let text = || Some("text".to_owned());
    (host.sys_name, host.sys_descr, host.sys_object_id) = (text(), text(), text());
    (host.sys_location, host.sys_contact, host.manufacturer) = (text(), text(), text());
    (host.model, host.serial_number, host.management_url) = (text(), text(), text());
    host.chassis_id = host.if_entries[0].lldp_chassis_id.clone();
    for entry in &mut host.if_entries {
        entry.lldp_sys_desc = text();
    }
    serde_json::from_value(Document::of(&host).with(path, "ß".repeat(length)).0).unwrap()
}

#[tokio::test]
async fn text_of_65536_characters_is_accepted_and_a_longer_one_is_refused_everywhere() {
    let fixture = Fixture::new().await;
    let owner = owner_of(fixture.organization);
    for path in TEXTS {
        let longest = host_with(&fixture, path, MAX);
        fixture.put(&longest).await;
        let host = host_with(&fixture, path, MAX + 1);
        assert_eq!(refusal(fixture.try_put(host.clone()).await), too_long(path));
        assert_eq!(refusal(fixture.inventory.hosts().create(&owner, host.clone()).await), too_long(path));
        let change = |stored: &mut Host| {
            *stored = host.clone();
            Ok(())
        };
        assert_eq!(refusal(fixture.inventory.hosts().update(&owner, host.id, change).await), too_long(path));
        for one in [host.clone().into(), BulkHost::from(Document::of(&host))] {
            let bulk = fixture.inventory.hosts().bulk_put(&owner, vec![one], Atomicity::AllOrNothing).await;
            assert_eq!(refusal(bulk), too_long(&format!("hosts.0.{path}")));
        }
        let report = fixture.import(Document::of(&host).line()).await;
        assert_eq!((report.imported, report.refused), (0, 1), "{path}");
        assert_eq!(report.refusals[0].field.as_deref(), Some(path));
        assert!(fixture.host(host.id).await == longest, "{path}");
    }
}

#[tokio::test]
async fn too_long_a_text_of_a_part_is_named_by_its_path_in_the_part() {
    let fixture = Fixture::new().await;
    let owner = owner_of(fixture.organization);
    for path in TEXTS {
        let longer = host_with(&fixture, path, MAX + 1);
        fixture.put(&rich_host(1, fixture.network, &[])).await;
        let mut steps = path.splitn(3, '.');
        let (list, index) =
            (steps.next().unwrap(), steps.next().and_then(|index| index.parse::<usize>().ok()));
        let (Some(index), Some(field)) = (index, steps.next()) else { continue };
        let (created, updated) = match list {
            "interfaces" => {
                let part: Interface = longer.interfaces[index].clone();
                (
                    fixture.inventory.parts().create(&owner, part.clone()).await.map(drop),
                    fixture.inventory.parts().update(&owner, part.id, replaced_by(part)).await.map(drop),
                )
            }
            "services" => {
                let part: Service = longer.services[index].clone();
                (
                    fixture.inventory.parts().create(&owner, part.clone()).await.map(drop),
                    fixture.inventory.parts().update(&owner, part.id, replaced_by(part)).await.map(drop),
                )
            }
            _ => {
                let part: IfEntry = longer.if_entries[index].clone();
                (
                    fixture.inventory.parts().create(&owner, part.clone()).await.map(drop),
                    fixture.inventory.parts().update(&owner, part.id, replaced_by(part)).await.map(drop),
                )
            }
        };
        assert_eq!(refusal(created), too_long(field), "{path}");
        assert_eq!(refusal(updated), too_long(field), "{path}");
    }
}

fn replaced_by<P: Clone>(part: P) -> impl Fn(&mut P) -> Result<(), Error> {
    move |stored| {
        stored.clone_from(&part);
        Ok(())
    }
}

/// A longer text may have been stored before the limit, or by another program.
#[tokio::test]
async fn longer_text_that_is_stored_already_keeps_nothing_else_from_being_changed() {
    let fixture = Fixture::new().await;
    let owner = Caller::new(fixture.organization, id(1), Permission::Owner, Scope::all());
    let subnet = Subnet::new(fixture.network, "Servers", "192.0.2.0/24".parse().unwrap());
    let subnet = fixture.inventory.records().create(&owner, subnet).await.unwrap();
    let tag = fixture.inventory.tags().create(&fixture.system(), Tag::new("to be deleted")).await.unwrap();
    let mut host = rich_host(1, fixture.network, &[tag.id]);
    host.interfaces[0].subnet_id = Some(subnet.id);
    fixture.put(&host).await;
    let long = "x".repeat(MAX + 1);
    host.sys_descr = Some(long.clone());
    host.description = Some(long.clone());
    host.if_entries[0].if_alias = Some(long.clone());
    let stored =
        fixture.contents().await.into_iter().find(|stored| stored.record.key.id == host.id.uuid()).unwrap();
    let body = format!(",{}", serde_json::to_string(&host).unwrap());
    fixture.overwrite(stored.record.key, stored.facets, body.into_bytes()).await;

    let inventory = &fixture.inventory;
    inventory.tags().delete(&Caller::system(tag.organization_id), tag.id).await.unwrap();
    inventory.subnets().delete(&owner, subnet.id).await.unwrap();
    let rename = |port: &mut Port| {
        port.number = 54.try_into().unwrap();
        Ok(())
    };
    inventory.parts().update(&owner, host.ports[0].id, rename).await.unwrap();
    let rename = |entry: &mut IfEntry| {
        entry.if_name = Some("Gi0/7".to_owned());
        Ok(())
    };
    inventory.parts().update(&owner, host.if_entries[0].id, rename).await.unwrap();
    let rename = |host: &mut Host| {
        host.name = "renamed".to_owned();
        Ok(())
    };
    let renamed = inventory.hosts().update(&owner, host.id, rename).await.unwrap();
    assert!(renamed.tags.is_empty() && renamed.interfaces[0].subnet_id.is_none());
    assert_eq!(renamed.name, "renamed");
    assert_eq!(renamed.if_entries[0].if_alias, Some(long));

    let lengthen = |host: &mut Host| {
        host.description = Some("y".repeat(MAX + 1));
        Ok(())
    };
    assert_eq!(refusal(inventory.hosts().update(&owner, host.id, lengthen).await), too_long("description"));
}
