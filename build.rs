//! Compiles everything under `proto/` to Rust, without `protoc`.
//!
//! The same descriptors, comments left out, feed server reflection.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use prost::Message as _;

const ROOT: &str = "proto";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={ROOT}");
    let mut files = Vec::new();
    find_protos(Path::new(ROOT), &mut files)?;
    files.sort();

    let mut descriptors = protox::compile(&files, [ROOT])?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    // What is hashed or stored must be encoded alike each time, so maps are ordered ones.
    let mut config = tonic_prost_build::Config::new();
    // The service tells requests of the same shape apart by their names.
    config.enable_type_names();
    tonic_prost_build::configure()
        .btree_map(".banqi")
        .compile_fds_with_config(descriptors.clone(), config)?;
    // The stored record is nobody's business but the store's.
    descriptors.file.retain(|file| !file.package().starts_with("banqi.storage"));
    for file in &mut descriptors.file {
        file.source_code_info = None;
    }
    fs::write(out.join("descriptors.bin"), descriptors.encode_to_vec())?;
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
