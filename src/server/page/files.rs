//! The page's files, as they were built.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use sha2::{Digest as _, Sha256};

/// A file of the page.
pub(super) struct File {
    path: &'static str,
    pub(super) content_type: &'static str,
    pub(super) bytes: &'static [u8],
    /// A hash of the bytes.
    pub(super) etag: HeaderValue,
}

macro_rules! file {
    ($path:literal, $name:literal, $content_type:literal) => {
        File::new(
            $path,
            $content_type,
            include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/clients/web/dist/", $name)),
        )
    };
}

static FILES: LazyLock<[File; 6]> = LazyLock::new(|| {
    [
        file!("/", "index.html", "text/html; charset=utf-8"),
        file!("/app.js", "app.js", "text/javascript; charset=utf-8"),
        file!("/style.css", "style.css", "text/css; charset=utf-8"),
        file!("/icon.svg", "icon.svg", "image/svg+xml"),
        file!("/pieces.woff2", "pieces.woff2", "font/woff2"),
        file!("/LICENCES.txt", "LICENCES.txt", "text/plain; charset=utf-8"),
    ]
});

impl File {
    fn new(path: &'static str, content_type: &'static str, bytes: &'static [u8]) -> Self {
        let hash = STANDARD.encode(Sha256::digest(bytes));
        let etag = HeaderValue::try_from(format!("\"{hash}\"")).expect("base64 in quotes");
        Self { path, content_type, bytes, etag }
    }
}

/// The file at a path.
pub(super) fn find(path: &str) -> Option<&'static File> {
    FILES.iter().find(|file| file.path == path)
}
