#![no_main]

use libfuzzer_sys::fuzz_target;
use toposcope::discovery::Format;

fuzz_target!(|input: &[u8]| toposcope_fuzz::parse_input(Format::IpRoute, input));
