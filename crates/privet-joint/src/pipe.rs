//! Bytes between a server and the program that computes for it: frames on its standard input and output.
//!
//! A frame is one byte, whom it is for or from, its length in four bytes, least significant first, and its bytes. On the
//! input the byte is the place of the server that sent it; on the output the place of the one to send it to, or
//! [`OUTCOME`]: the share of the noise, sixteen bytes a number, least significant first.

use std::io::{self, Read, Write};

/// What a server and the program must both speak.
pub const PROTOCOL: u32 = 1;
/// Whom the share of the noise is for: nobody else.
pub const OUTCOME: u8 = 255;
/// Bytes of a frame at most.
pub const FRAME: usize = 1 << 24;

/// Writes a frame.
pub fn write(to: &mut impl Write, whom: u8, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).ok().filter(|length| *length as usize <= FRAME);
    let length = length.ok_or_else(|| io::Error::other("a frame is too long to be written"))?;
    let mut head = [whom, 0, 0, 0, 0];
    head[1..].copy_from_slice(&length.to_le_bytes());
    to.write_all(&head)?;
    to.write_all(bytes)?;
    to.flush()
}

/// Reads a frame; `None` where there are no more.
pub fn read(from: &mut impl Read) -> io::Result<Option<(u8, Vec<u8>)>> {
    let mut whom = [0];
    loop {
        match from.read(&mut whom) {
            Ok(0) => return Ok(None),
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > FRAME {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "what came is too long"));
    }
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    Ok(Some((whom[0], bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_as_they_went_and_others_are_refused() {
        let mut bytes = Vec::new();
        write(&mut bytes, 3, b"abc").unwrap();
        write(&mut bytes, OUTCOME, b"").unwrap();
        let mut from = &bytes[..];
        assert_eq!(read(&mut from).unwrap(), Some((3, b"abc".to_vec())));
        assert_eq!(read(&mut from).unwrap(), Some((OUTCOME, vec![])));
        assert_eq!(read(&mut from).unwrap(), None);
        for cut in 1..8 {
            assert!(read(&mut &bytes[..cut]).is_err(), "cut at {cut}");
        }
        assert!(read(&mut &[1, 255, 255, 255, 255, 0][..]).is_err());
        assert!(write(&mut Vec::new(), 0, &vec![0; FRAME + 1]).is_err());
    }
}
