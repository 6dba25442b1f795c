//! Rows that are images: `[image]`.

use super::check::{Checked, in_range, refuse};
use super::{
    Basis, ClipFacts, Column, ColumnKind, LibsvmFacts, Missing, Norm, Rows, Scale, Schema,
};
use crate::image::coefficients;
use privet_core::Range;
use serde::{Deserialize, Serialize};

/// Limits on an image's sides, in pixels.
pub const SIDE: Range = Range::from("width and height", 8.0, 129.0);
/// Limits on the number of values per pixel.
pub const CHANNELS: Range = Range::from("channels", 1.0, 5.0);
/// The number of features of an image unless given.
const FEATURES: u32 = 1200;

/// Encoders of images.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImageEncoding {
    /// A scattering transform, group normalisation and a public projection ([`crate::image`]).
    #[default]
    Scattering,
}

/// The table `[image]`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageDraft {
    /// Pixels per row.
    pub width: u32,
    /// Rows of pixels.
    pub height: u32,
    /// Values per pixel, side by side in the table; 1 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channels: Option<u32>,
    /// The encoder; `"scattering"` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoder: Option<ImageEncoding>,
    /// The number of features; 1,200 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub features: Option<u32>,
}

/// The shape of the images that rows hold: pixels row by row from the top, the channels of a pixel side
/// by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageFacts {
    /// Pixels per row.
    pub width: u32,
    /// Rows of pixels.
    pub height: u32,
    /// Values per pixel.
    pub channels: u32,
    /// The number of features.
    pub features: u32,
}

impl ImageFacts {
    /// The number of values of an image.
    pub fn pixels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height) * u64::from(self.channels)
    }
}

impl From<ImageFacts> for ImageDraft {
    fn from(facts: ImageFacts) -> Self {
        let ImageFacts { width, height, channels, features } = facts;
        Self {
            width,
            height,
            channels: Some(channels),
            encoder: Some(ImageEncoding::Scattering),
            features: Some(features),
        }
    }
}

impl ImageDraft {
    /// Checks it against the columns that hold the pixels.
    pub(super) fn check(
        self,
        columns: &[Column],
        libsvm: Option<LibsvmFacts>,
        clip: ClipFacts,
        bias: Option<f64>,
    ) -> Checked<ImageFacts> {
        in_range("image.width", SIDE, self.width.into())?;
        in_range("image.height", SIDE, self.height.into())?;
        let channels = self.channels.unwrap_or(1);
        in_range("image.channels", CHANNELS, channels.into())?;
        let ImageDraft { width, height, features, .. } = self;
        let facts = ImageFacts { width, height, channels, features: features.unwrap_or(FEATURES) };
        check_pixels(&facts, columns, libsvm)?;
        // A small image has fewer values than the usual number of features.
        let most = coefficients(&facts).next_power_of_two() as u32;
        let features = features.unwrap_or(FEATURES.min(most));
        if !(1..=most).contains(&features) {
            let accepted = format!("1 to {most} for images of this size");
            return refuse("image.features", format!("{features}"), accepted);
        }
        if clip.norm != Norm::L2 {
            let accepted = "\"l2\": an image's row is as long as the clip allows";
            return refuse("clip.norm", "the rows are images", accepted);
        }
        if bias.is_some() {
            let problem = "an image's row is all features, and blank images are rows of zeros";
            return refuse("bias", problem, "no bias beside [image]");
        }
        Ok(ImageFacts { features, ..facts })
    }
}

/// Checks that every feature is a bounded number, and that there are as many as the image has values.
fn check_pixels(
    facts: &ImageFacts,
    columns: &[Column],
    libsvm: Option<LibsvmFacts>,
) -> Checked<()> {
    let plain = |kind: &ColumnKind| {
        let missing = |missing: &Missing<f64>| *missing != Missing::Category;
        let alone = |basis: &Basis| *basis == Basis::Linear;
        matches!(kind, ColumnKind::Number { scale: Scale::Unit, missing: m, basis: b, .. }
            if missing(m) && alone(b))
    };
    let features = || columns.iter().filter(|column| column.kind.width() > 0);
    if let Some(other) = features().find(|column| !plain(&column.kind)) {
        let key = format!("column \"{}\"", other.name);
        let accepted =
            "numbers with bounds, scale = \"unit\", no basis, and no column for missing ones";
        return refuse(key, "no pixel of an [image]", accepted);
    }
    if libsvm.is_some_and(|facts| facts.bounds.is_none()) {
        return refuse(
            "libsvm.bounds",
            "missing beside [image]",
            "the bounds of a pixel, [0, 255]",
        );
    }
    let found = features().count() as u64 + libsvm.map_or(0, |facts| u64::from(facts.features));
    if found != facts.pixels() {
        let ImageFacts { width, height, channels, .. } = facts;
        let problem = format!(
            "{width} × {height} × {channels} is {} numbers, but rows have {found}",
            facts.pixels()
        );
        return refuse("image", problem, "width × height × channels = the features of a row");
    }
    Ok(())
}

impl Schema {
    /// The shape of the images, if rows are images.
    pub fn image(&self) -> Option<ImageFacts> {
        self.image
    }

    /// The same table as rows of plain pixels, each from 0 to 1 (LIBSVM: −1 to 1), none of them
    /// clipped: the radius is the largest possible norm.
    pub(crate) fn of_pixels(&self) -> Option<Self> {
        let pixels = self.image?.pixels() as f64;
        let radius = pixels.sqrt() * (1.0 + 1e-6);
        let clip = ClipFacts { norm: Norm::L2, radius, rows: Rows::Clip };
        Some(Self { clip, image: None, storage: None, ..self.clone() })
    }
}

#[cfg(test)]
mod tests {
    use crate::Schema;
    use crate::encode::Encoding;

    const SPARSE: &str = "
        [file]
        format = \"libsvm\"
        [clip]
        norm = \"l2\"
        radius = 1.0
        [target]
        classes = [\"0\", \"1\"]
        [libsvm]
        features = 784
        bounds = [0, 255]
        [image]
        width = 28
        height = 28
    ";

    #[test]
    fn an_image_is_written_out_in_full_and_read_back() {
        let schema = Schema::from_toml(SPARSE).unwrap();
        let written = schema.to_toml();
        assert!(
            written.contains("encoder = \"scattering\"") && written.contains("features = 1200")
        );
        assert_eq!(Schema::from_toml(&written).unwrap(), schema);
        let encoding = Encoding::new(&schema);
        assert_eq!((encoding.width(), encoding.l2_radius()), (1200, 1.0));
        assert_eq!(encoding.number_features(), Some(784));
        assert_eq!(encoding.column_name(0).unwrap(), "image feature 1");
        assert_eq!(encoding.groups().len(), 1200);
    }

    /// Each edit breaks one thing; the message must name the key and what would do.
    #[test]
    fn what_is_no_image_is_refused_in_words() {
        let broken: &[(&str, &str, &[&str])] = &[
            ("width = 28", "width = 27", &["image", "756", "784", "width × height × channels"]),
            ("height = 28", "height = 28\nchannels = 3", &["image", "2352", "784"]),
            ("width = 28", "width = 4", &["image.width", "from 8"]),
            ("height = 28", "height = 28\nfeatures = 5000", &["image.features", "4096"]),
            ("height = 28", "height = 28\nfeatures = 0", &["image.features"]),
            ("height = 28", "height = 28\nencoder = \"eyes\"", &["eyes", "scattering"]),
            ("bounds = [0, 255]", "", &["libsvm.bounds"]),
            ("norm = \"l2\"", "norm = \"linf\"", &["clip.norm", "l2"]),
            ("[file]", "bias = true\n[file]", &["bias"]),
        ];
        for (from, to, words) in broken {
            let refused = Schema::from_toml(&SPARSE.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(words.iter().all(|word| refused.contains(word)), "{to}: {refused}");
        }
    }
}
