//! A hash that is the same in all builds, so that shards and runs that go on agree on it.

/// The FNV-1a hash of some bytes, its high bits mixed into the low ones, which depend on few bytes alone.
pub(crate) fn hash_bytes(bytes: impl Iterator<Item = u8>) -> u64 {
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash ^ (hash >> 32)
}
