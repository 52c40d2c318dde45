//! The records around the inventory: organizations, users, keys, shares and referrals.

use serde_json::json;
use toposcope::model::{
    DaemonApiKey, Network, Organization, Permission, Referral, Session, Share, ShareMetadata, Tag, User,
    UserApiKey, referral_source,
};

use crate::support::{ID, TIME, refusal, round_trip};

#[test]
fn permissions_are_ordered_and_the_upper_two_see_every_network() {
    let ascending = [Permission::Viewer, Permission::Member, Permission::Admin, Permission::Owner];
    assert!(ascending.is_sorted());
    assert_eq!(ascending.map(Permission::sees_every_network), [false, false, true, true]);
    for permission in ascending {
        assert_eq!(round_trip::<Permission>(&format!("\"{permission}\"")), permission);
    }
    refusal::<Permission>(&json!("owner"));
}

#[test]
fn records_around_the_inventory_are_written_in_the_order_of_the_wire() {
    let times = format!(r#""created_at":"{TIME}","updated_at":"{TIME}""#);
    round_trip::<Organization>(&format!(r#"{{"id":"{ID}","name":"a","api_access":true,{times}}}"#));
    round_trip::<Network>(&format!(r#"{{"id":"{ID}","organization_id":"{ID}","name":"a",{times}}}"#));
    round_trip::<Tag>(&format!(r#"{{"id":"{ID}","organization_id":"{ID}","name":"a",{times}}}"#));
    round_trip::<User>(&format!(
        r#"{{"id":"{ID}","email":"a@example.org","organization_id":"{ID}","permissions":"Member","network_ids":["{ID}"],{times}}}"#
    ));
    round_trip::<Session>(&format!(
        r#"{{"id":"{ID}","user_id":"{ID}","organization_id":"{ID}","created_at":"{TIME}","expires_at":"{TIME}"}}"#
    ));
    round_trip::<Referral>(&format!(
        r#"{{"id":"{ID}","organization_id":"{ID}","user_id":"{ID}","referral_source":"other","referral_source_other":null,{times}}}"#
    ));
    for (last_used, expires_at) in
        [("null", "null"), (r#""2026-01-01T00:00:00Z""#, r#""2027-01-01T00:00:00Z""#)]
    {
        round_trip::<DaemonApiKey>(&format!(
            r#"{{"id":"{ID}","name":"a","network_id":"{ID}","tags":[],"key":"topo_d_…abcd","last_used":{last_used},{times},"expires_at":{expires_at},"is_enabled":true}}"#
        ));
        round_trip::<UserApiKey>(&format!(
            r#"{{"id":"{ID}","name":"a","organization_id":"{ID}","user_id":"{ID}","tags":["{ID}"],"key":"topo_u_…abcd","last_used":{last_used},{times},"expires_at":{expires_at},"is_enabled":false,"network_ids":[],"permissions":"Viewer"}}"#
        ));
    }
}

#[test]
fn share_metadata_tells_nothing_of_whose_the_share_is() {
    let options = r#"{"show_export_button":true,"show_inspect_panel":false,"show_minimap":true,"show_zoom_controls":false}"#;
    let share: Share = round_trip(&format!(
        r#"{{"id":"{ID}","organization_id":"{ID}","network_id":null,"name":"a","is_enabled":true,"expires_at":null,"requires_password":true,"options":{options},"created_at":"{TIME}","updated_at":"{TIME}"}}"#
    ));
    let metadata: ShareMetadata =
        round_trip(&format!(r#"{{"id":"{ID}","name":"a","requires_password":true,"options":{options}}}"#));
    assert_eq!(ShareMetadata::from(&share), metadata);
}

#[test]
fn the_known_referral_sources_are_thirteen() {
    assert_eq!(referral_source::ALL.len(), 13);
    assert_eq!(referral_source::ALL[9], "proxmox_community_scripts");
    assert!(referral_source::ALL.contains(&referral_source::PREFER_NOT_TO_SAY));
}
