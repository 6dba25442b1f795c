//! Digest of the public rows that are voted on, stated in the request and so in the certificate.
//!
//! SHA-256 over the number of rows, of columns, and every entry as encoded by the schema, in order: with
//! the file and the schema anyone can check that the labels are of these rows (`privet verify
//! --public`). Public rows are not secret, and their digest depends on nothing else.

use super::Vote;
use crate::release::verify::Check;
use privet_data::matrix::Matrix;
use sha2::{Digest, Sha256};

/// Digest of encoded rows, in hexadecimal.
pub fn digest(rows: &Matrix) -> String {
    let mut hash = Sha256::new();
    hash.update(b"privet: public rows");
    hash.update((rows.rows() as u64).to_le_bytes());
    hash.update((rows.columns() as u64).to_le_bytes());
    for row in 0..rows.rows() {
        for entry in rows.dense_row(row) {
            // 0 and −0 are one number.
            hash.update((entry + 0.0).to_le_bytes());
        }
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Checks that these rows, encoded by the schema of a request, are those that it states; `None` if it
/// states none, as for batches of a stream.
pub fn check_stated_rows(task: &Vote, rows: &Matrix) -> Option<Check> {
    let what = "the public rows are those that the certificate states";
    let holds = *task.public.as_ref()? == digest(rows);
    let detail = match holds {
        true => format!("{} rows", rows.rows()),
        false => "it is of other rows, or of these in another order".into(),
    };
    Some(Check { what, holds, detail })
}

#[cfg(test)]
mod tests {
    use super::*;
    use privet_data::matrix::DenseMatrix;

    #[test]
    fn other_rows_have_another_digest() {
        let of = |values: &[f32], rows, columns| {
            digest(&Matrix::Dense(DenseMatrix::new(values.to_vec(), rows, columns)))
        };
        let one = of(&[0.0, 1.0, 0.5, 0.25], 2, 2);
        assert_eq!(one, of(&[-0.0, 1.0, 0.5, 0.25], 2, 2));
        assert_eq!(one.len(), 64);
        for other in [
            of(&[0.5, 0.25, 0.0, 1.0], 2, 2),
            of(&[0.0, 1.0, 0.5, 0.25], 1, 4),
            of(&[0.0, 1.0, 0.5, 0.75], 2, 2),
        ] {
            assert_ne!(one, other);
        }
    }
}
