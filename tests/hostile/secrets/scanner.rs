//! Looks for secrets in whatever was told, in every form in which one could stand there.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// How many bytes of a secret are looked for. Fewer than all, since a part would be a leak as well;
/// a multiple of three, so that its base64 is the beginning of the whole secret's.
const BYTES: usize = 15;

/// A secret, and the forms that it could be told in.
pub(crate) struct Secret {
    name: String,
    forms: Vec<Vec<u8>>,
}

impl Secret {
    /// A secret that is bytes.
    pub(crate) fn bytes(name: &str, secret: &[u8]) -> Self {
        assert!(secret.len() >= BYTES, "{name} is too short to be looked for");
        let part = &secret[..BYTES];
        let hex: String = part.iter().map(|byte| format!("{byte:02x}")).collect();
        let list = format!("{part:?}");
        let forms = vec![
            part.to_vec(),
            hex.to_uppercase().into_bytes(),
            hex.into_bytes(),
            STANDARD_NO_PAD.encode(part).into_bytes(),
            URL_SAFE_NO_PAD.encode(part).into_bytes(),
            // As a list is printed, without its end.
            list.trim_end_matches(']').as_bytes().to_vec(),
        ];
        Self { name: name.to_owned(), forms }
    }

    /// A secret that is a text, and may be base64 after a prefix.
    pub(crate) fn text(name: &str, secret: &str) -> Self {
        let mut all = Self::bytes(name, secret.as_bytes());
        let encoded = secret.split_once('_').map_or(secret, |(_, encoded)| encoded);
        let encoded = encoded.trim_end_matches('=');
        for alphabet in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            if let Ok(decoded) = alphabet.decode(encoded)
                && decoded.len() >= BYTES
            {
                all.forms.extend(Self::bytes(name, &decoded).forms);
            }
        }
        all
    }

    /// Whether it stands there, and around what.
    fn stands_in(&self, told: &[u8]) -> Option<String> {
        self.forms.iter().find_map(|form| {
            let at = told.windows(form.len()).position(|window| window == form)?;
            let around = &told[at.saturating_sub(200)..(at + form.len() + 40).min(told.len())];
            Some(String::from_utf8_lossy(around).into_owned())
        })
    }
}

/// What of these secrets stands in something that was told, each with what is around it.
pub(crate) fn scan(secrets: &[Secret], told: &[u8]) -> Vec<(String, String)> {
    let found = secrets
        .iter()
        .filter_map(|secret| secret.stands_in(told).map(|around| (secret.name.clone(), around)));
    found.collect()
}

#[test]
fn a_planted_secret_is_found_in_every_form() {
    let bytes: Vec<u8> = (0..32_u8).map(|it| it.wrapping_mul(97) ^ 0xf8).collect();
    let token = format!("bqs_{}", URL_SAFE_NO_PAD.encode(&bytes));
    let secrets = [Secret::bytes("key", &bytes), Secret::text("token", &token)];
    let hex: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    let plants: [Vec<u8>; 6] = [
        bytes.clone(),
        hex.to_lowercase().into_bytes(),
        hex.into_bytes(),
        STANDARD_NO_PAD.encode(&bytes).into_bytes(),
        token.into_bytes(),
        format!("Key({bytes:?})").into_bytes(),
    ];
    for plant in plants {
        let told = [&b"a line of a log "[..], &plant, b" and more of it\n"].concat();
        let found = scan(&secrets, &told);
        assert!(!found.is_empty(), "{}", String::from_utf8_lossy(&told));
    }
    assert!(scan(&secrets, "a line of a log ".repeat(1000).as_bytes()).is_empty());
}
