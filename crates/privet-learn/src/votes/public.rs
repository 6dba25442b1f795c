//! Which public rows were voted on: a digest of them, stated in the request and so in the certificate.
//!
//! SHA-256 over the number of rows, of columns, and every entry as encoded by the schema, in order: who has the file and
//! the schema can check that these were the rows that labels are of (`privet verify --public`). Public rows are no secret,
//! and their digest tells of nothing else.

use super::Vote;
use crate::release::verify::Check;
use privet_data::matrix::Matrix;
use sha2::{Digest, Sha256};

/// The digest of encoded rows.
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

/// Whether these rows, encoded by the schema of a request, are those that it states; `None` where it states none, as
/// batches of a stream do.
pub fn stated(task: &Vote, rows: &Matrix) -> Option<Check> {
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
