//! A client in another language, which shares nothing with the service but `proto/`, plays every
//! vector over the wire.

mod support;

use support::python::Stubs;
use support::replica::Replica;

#[test]
fn a_python_client_plays_every_vector() {
    let stubs = Stubs::make();
    let service = Replica::start(&[]);
    let output =
        stubs.script("rules_client.py").arg(service.address()).output().expect("python runs");
    let (told, failed) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    println!("{told}");
    assert!(output.status.success(), "{failed}");
    assert_eq!(told.lines().count(), 3, "a line for each file of vectors");
}
