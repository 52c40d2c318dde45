//! The errors: the status, code and params of each, and when it is returned.

mod bounds;
mod credentials;
mod faults;
mod fields;
mod json;
mod quotas;
mod records;
mod references;
mod requests;

use serde_json::Value;
use toposcope::wire::ErrorCode;

use super::row::Produced;
use crate::common::CODES;

#[tokio::test]
async fn every_error_of_the_contract_is_answered_by_some_row_and_no_other() {
    let mut produced = Produced::new();
    produced.extend(bounds::rows().await);
    produced.extend(credentials::rows().await);
    produced.extend(faults::rows().await);
    produced.extend(fields::rows().await);
    produced.extend(json::rows().await);
    produced.extend(quotas::rows().await);
    produced.extend(records::rows().await);
    produced.extend(references::rows().await);
    produced.extend(requests::rows().await);
    let keys = |params: &[&str]| params.iter().map(|key| (*key).to_owned()).collect();
    let expected: Produced =
        CODES.iter().map(|(status, code, params)| (*status, (*code).to_owned(), keys(params))).collect();
    assert_eq!(produced, expected);
}

#[test]
fn the_codes_of_the_crate_have_the_names_and_the_statuses_of_the_contract() {
    for (status, name, _) in CODES {
        let code: ErrorCode = serde_json::from_value(Value::from(name)).unwrap();
        assert_eq!((code.as_str(), code.status().as_u16()), (name, status));
        assert_eq!(serde_json::to_value(code).unwrap(), name);
    }
}
