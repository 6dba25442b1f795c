//! Tables whose rows are images: read as pixels, then encoded, in parallel.

use crate::{
    bound::Clip,
    dataset::{Dataset, Features},
    error::DataError,
    image::ImageEncoder,
    matrix::Matrix,
    schema::Schema,
};

/// The result of a reader.
pub(super) trait Rows: Sized {
    /// Replaces the features.
    fn with(self, encode: impl FnOnce(&Matrix) -> Matrix) -> Self;
}

impl Rows for Features {
    fn with(self, encode: impl FnOnce(&Matrix) -> Matrix) -> Self {
        Self { matrix: encode(&self.matrix), ..self }
    }
}

impl Rows for Dataset {
    fn with(self, encode: impl FnOnce(&Matrix) -> Matrix) -> Self {
        Self { features: encode(&self.features), ..self }
    }
}

/// Reads by the schema, or where its rows are images by the schema of their pixels, and encodes them. A
/// row of zeros stays one, so null records do.
pub(super) fn read_as<R: Rows>(
    schema: &Schema,
    read: impl FnOnce(&Schema) -> Result<R, DataError>,
) -> Result<R, DataError> {
    let (Some(image), Some(pixels)) = (schema.image(), schema.of_pixels()) else {
        return read(schema);
    };
    let (encoder, clip) = (ImageEncoder::new(&image), Clip::new(schema.clip()));
    Ok(read(&pixels)?.with(|pixels| encoder.rows(pixels, &clip)))
}

#[cfg(test)]
mod tests {
    use crate::Schema;
    use crate::encode::{NumberRows, UnknownIn};
    use crate::read::{csv_bytes, libsvm_bytes, memory};
    use std::fmt::Write;

    const HEAD: &str = "invalid = \"drop\"\n[clip]\nnorm = \"l2\"\nradius = 2.0\n[image]\n\
                        width = 8\nheight = 9\nfeatures = 50\n";

    fn by_columns() -> Schema {
        let mut text = format!("{HEAD}[target]\ncolumn = \"y\"\nclasses = [\"0\", \"1\"]\n");
        for pixel in 0..72 {
            let _ = write!(
                text,
                "[[columns]]\nname = \"p{pixel}\"\ntype = \"number\"\nbounds = [0, 255]\n"
            );
        }
        Schema::from_toml(&text).unwrap()
    }

    fn by_pairs() -> Schema {
        let rest = "[target]\nclasses = [\"0\", \"1\"]\n[libsvm]\nfeatures = 72\n\
                    bounds = [0, 255]\n[file]\nformat = \"libsvm\"\n";
        Schema::from_toml(&format!("{HEAD}{rest}")).unwrap()
    }

    fn pixel(image: usize, at: usize) -> usize {
        if (image + at).is_multiple_of(3) { 0 } else { (37 * at + 91 * image * at) % 256 }
    }

    struct Images;

    impl NumberRows for Images {
        fn rows(&self) -> usize {
            5
        }
        fn columns(&self) -> usize {
            72
        }
        fn write(&self, row: usize, entries: &mut [f64]) {
            entries.iter_mut().enumerate().for_each(|(at, x)| *x = pixel(row, at) as f64);
        }
    }

    /// Files of both kinds and tables in memory give a record the same bits; a record that cannot be
    /// read is a row of zeros.
    #[test]
    fn every_way_in_gives_the_same_rows() {
        let mut csv: String = (0..72).map(|at| format!("p{at},")).collect::<String>() + "y\n";
        let mut pairs = String::new();
        for image in 0..5 {
            (0..72).for_each(|at| csv += &format!("{},", pixel(image, at)));
            csv += "1\n";
            pairs += "1";
            let written = (0..72).filter(|at| pixel(image, *at) > 0);
            written.for_each(|at| pairs += &format!(" {}:{}", at + 1, pixel(image, at)));
            pairs += "\n";
        }
        csv += "nothing of use\n";
        pairs += "1 3:x\n";
        let from_csv = csv_bytes(csv.as_bytes(), &by_columns()).unwrap();
        let from_pairs = libsvm_bytes(pairs.as_bytes(), &by_pairs()).unwrap();
        let from_memory =
            memory::numbers(&Images, &by_columns(), true, UnknownIn::Training).unwrap();
        assert_eq!((from_csv.rows(), from_csv.features.columns()), (6, 50));
        for row in 0..5 {
            let expected = from_csv.features.dense_row(row);
            assert!(expected.iter().map(|x| x * x).sum::<f32>() > 3.99);
            assert_eq!(from_pairs.features.dense_row(row), expected);
            assert_eq!(from_memory.matrix.dense_row(row), expected);
        }
        for data in [from_csv, from_pairs] {
            assert_eq!(
                (data.features.dense_row(5), &data.report.null_rows[..]),
                (vec![0.0; 50], &[5][..])
            );
        }
    }
}
