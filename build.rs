//! Compiles everything under `proto/` to Rust, without `protoc`.
//!
//! The same descriptors, comments left out, feed server reflection; with them, the API reference is written.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use prost::Message as _;
use tonic_prost_build::FileDescriptorSet;

const ROOT: &str = "proto";

/// Where the crate has what is generated of a package.
const PACKAGE: (&str, &str) = (".banqi.v1", "crate::api::proto::v1");

/// Answers of which the handlers have a part encoded already: `src/api/answer.rs` has them.
const PARTLY_ENCODED: [&str; 2] = ["GetGameResponse", "PlayActionResponse"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={ROOT}");
    let mut files = Vec::new();
    find_protos(Path::new(ROOT), &mut files)?;
    files.sort();

    let mut descriptors = protox::compile(&files, [ROOT])?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    messages(descriptors.clone())?;
    // The stored record is nobody's business but the store's.
    descriptors.file.retain(|file| !file.package().starts_with("banqi.storage"));
    servers(descriptors.clone(), out.join("servers"))?;
    fs::write(out.join("commented.bin"), descriptors.encode_to_vec())?;
    for file in &mut descriptors.file {
        file.source_code_info = None;
    }
    fs::write(out.join("descriptors.bin"), descriptors.encode_to_vec())?;
    Ok(())
}

/// All messages, and the clients.
fn messages(descriptors: FileDescriptorSet) -> Result<(), Box<dyn Error>> {
    // What is hashed or stored must be encoded alike each time, so maps are ordered ones.
    let mut config = tonic_prost_build::Config::new();
    // The service tells requests of the same shape apart by their names.
    config.enable_type_names();
    tonic_prost_build::configure()
        .build_server(false)
        .btree_map(".banqi")
        .compile_fds_with_config(descriptors, config)?;
    Ok(())
}

/// The servers, which answer the same messages, some of them encoded in part already.
fn servers(descriptors: FileDescriptorSet, out: PathBuf) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(&out)?;
    let (package, generated) = PACKAGE;
    let mut builder = tonic_prost_build::configure()
        .build_client(false)
        .codec_path("crate::api::codec::Codec")
        .out_dir(out)
        .extern_path(package, generated);
    for answer in PARTLY_ENCODED {
        let path = format!("crate::api::answer::{answer}");
        builder = builder.extern_path(format!("{package}.{answer}"), path);
    }
    builder.compile_fds(descriptors)?;
    Ok(())
}

fn find_protos(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find_protos(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "proto") {
            found.push(path);
        }
    }
    Ok(())
}
