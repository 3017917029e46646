//! A client in another language, which shares nothing with the service but `proto/`, plays every
//! vector over the wire.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// A directory of cargo's for files that tests make, below the target directory.
const SCRATCH: &str = env!("CARGO_TARGET_TMPDIR");

/// The interpreter of the environment that `./test` makes.
fn python() -> PathBuf {
    let python = Path::new(SCRATCH).join("../python/bin/python");
    assert!(
        python.exists(),
        "{} is not there: run `./test` once, which makes it",
        python.display()
    );
    python
}

/// Has Google's own compiler make the modules of the API.
fn make_stubs() -> PathBuf {
    let (proto, stubs) = (Path::new(ROOT).join("proto"), Path::new(SCRATCH).join("python-stubs"));
    fs::create_dir_all(&stubs).expect("a directory for the stubs");
    let mut protoc = Command::new(python());
    protoc.args(["-m", "grpc_tools.protoc"]).arg(argument("-I", &proto));
    protoc.arg(argument("--python_out=", &stubs)).arg(argument("--grpc_python_out=", &stubs));
    for file in fs::read_dir(proto.join("banqi/v1")).expect("the API's files") {
        protoc.arg(file.expect("a file").path());
    }
    assert!(protoc.status().expect("protoc runs").success(), "{protoc:?}");
    stubs
}

fn argument(option: &str, path: &Path) -> String {
    format!("{option}{}", path.display())
}

/// A running `banqi serve`, stopped at the end.
struct Service {
    child: Child,
    address: String,
}

impl Service {
    fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_banqi"))
            .args(["serve", "--listen", "127.0.0.1:0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the service starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let address = lines
            .find_map(|line| {
                line.expect("text").strip_prefix("banqi is listening on ").map(str::to_owned)
            })
            .expect("the service prints its address before it closes its output");
        // What it prints later is read and dropped, so that it never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // Both fail only where it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_python_client_plays_every_vector() {
    let stubs = make_stubs();
    let service = Service::start();
    let script = Path::new(ROOT).join("tests/python/rules_client.py");
    let output = Command::new(python())
        .arg(script)
        .arg(&service.address)
        .arg(stubs)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("python runs");
    let (told, failed) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    println!("{told}");
    assert!(output.status.success(), "{failed}");
    assert_eq!(told.lines().count(), 3, "a line for each file of vectors");
}
