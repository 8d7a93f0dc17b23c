//! The keys and the layout of an entry.

use std::time::Duration;

use request_state_core::{Claim, Entry};

/// The number of buckets. Each has its own mark, so that the slots of a cluster share the load.
pub(crate) const BUCKETS: u8 = 64;

const NONCE: usize = 16;
const PRESENTATION: usize = 32;
const TIME: usize = 16;

/// Returns the bucket of an ID. IDs are digests, so buckets are equally full.
pub(crate) fn bucket(id: &[u8; 32]) -> u8 {
    let [first, ..] = *id;
    first % BUCKETS
}

/// Returns the key of a bucket's mark. The part in braces determines the slot of a cluster.
pub(crate) fn mark_key(prefix: &str, bucket: u8) -> String {
    format!("{prefix}{{{bucket:02}}}:mark")
}

/// Returns the key of an entry, in the slot of its bucket's mark.
pub(crate) fn entry_key(prefix: &str, id: &[u8; 32]) -> String {
    let bucket = bucket(id);
    format!(
        "{prefix}{{{bucket:02}}}:{}",
        base16ct::lower::encode_string(id)
    )
}

/// Returns the part of an entry that precedes the time of the claim.
pub(crate) fn head(claim: &Claim) -> Vec<u8> {
    [&claim.nonce[..], &claim.presentation[..]].concat()
}

/// Parses `nonce ‖ presentation ‖ time of the claim`, after which `+` and an answer may follow.
/// Returns `None` for anything else.
pub(crate) fn parse(bytes: &[u8], now_ms: u64) -> Option<Entry> {
    let (_nonce, rest) = bytes.split_at_checked(NONCE)?;
    let (presentation, rest) = rest.split_at_checked(PRESENTATION)?;
    let (time, rest) = rest.split_at_checked(TIME)?;
    let claimed_at_ms: u64 = std::str::from_utf8(time).ok()?.parse().ok()?;
    let answer = match rest.split_first() {
        None => None,
        Some((b'+', answer)) => Some(answer.to_vec()),
        Some(_) => return None,
    };
    Some(Entry {
        presentation: presentation.try_into().ok()?,
        age: Duration::from_millis(now_ms.saturating_sub(claimed_at_ms)),
        answer,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mark_and_entry_share_the_braces() {
        let mut id = [0xab; 32];
        id[0] = 64 + 7;
        assert_eq!(mark_key("p:", bucket(&id)), "p:{07}:mark");
        assert!(entry_key("p:", &id).starts_with("p:{07}:47abab"));
        assert_eq!(entry_key("p:", &id).len(), "p:{07}:".len() + 64);
    }

    #[test]
    fn an_entry_has_its_age_and_its_answer() {
        let mut bytes = [vec![1; 16], vec![2; 32], b"0000000000000700".to_vec()].concat();
        let entry = parse(&bytes, 1_000).expect("an entry");
        assert_eq!(entry.presentation, [2; 32]);
        assert_eq!(entry.age, Duration::from_millis(300));
        assert_eq!(entry.answer, None);
        // A server's clock may be set back.
        assert_eq!(parse(&bytes, 600).expect("an entry").age, Duration::ZERO);
        bytes.push(b'+');
        assert_eq!(parse(&bytes, 700).expect("an entry").answer, Some(vec![]));
        bytes.push(b'a');
        assert_eq!(
            parse(&bytes, 700).expect("an entry").answer,
            Some(b"a".to_vec())
        );
    }

    #[test]
    fn anything_else_is_not_an_entry() {
        let bytes = [vec![1; 16], vec![2; 32], b"0000000000000700".to_vec()].concat();
        assert!(parse(&bytes[..63], 700).is_none());
        assert!(parse(&[&bytes[..], b"a"].concat(), 700).is_none());
        assert!(parse(&[vec![1; 48], b"000000000000070x".to_vec()].concat(), 700).is_none());
    }
}
