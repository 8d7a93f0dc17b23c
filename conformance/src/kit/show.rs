//! Texts and bytes in messages.

/// Formats a text for a message: quoted, and shortened if it is long.
pub(crate) fn show(text: &str) -> String {
    const SHOWN: usize = 160;
    if text.len() <= SHOWN {
        return format!("{text:?}");
    }
    let head: String = text.chars().take(SHOWN).collect();
    format!("{head:?}… of {} bytes", text.len())
}

/// Formats bytes for a message.
pub(crate) fn show_bytes(bytes: &[u8]) -> String {
    const SHOWN: usize = 32;
    let head: String = bytes
        .iter()
        .take(SHOWN)
        .flat_map(|b| b.escape_ascii())
        .map(char::from)
        .collect();
    if bytes.len() <= SHOWN {
        format!("b\"{head}\"")
    } else {
        format!("b\"{head}\"… of {} bytes", bytes.len())
    }
}
