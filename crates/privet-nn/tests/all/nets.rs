//! Networks and examples that the tests share: every kind of layer is in one of them.

use privet_nn::{Description, Input, Layer, Loss, Net};

/// A generator of public numbers (SplitMix64).
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Uniform on ±1.
    pub fn signed(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    }

    pub fn vector(&mut self, length: usize, scale: f32) -> Vec<f32> {
        (0..length).map(|_| scale * self.signed()).collect()
    }

    pub fn classes(&mut self, length: usize, classes: usize) -> Vec<u32> {
        (0..length).map(|_| (self.next() % classes as u64) as u32).collect()
    }
}

pub fn image(channels: usize, height: usize, width: usize) -> Input {
    Input::Image { channels, height, width }
}

pub fn conv(out: usize, kernel: usize, stride: usize, padding: usize) -> Layer {
    Layer::Conv { out, kernel, stride, padding, frozen: false }
}

pub fn linear(out: usize) -> Layer {
    Layer::Linear { out, frozen: false }
}

pub fn net(input: Input, layers: Vec<Layer>, loss: Loss) -> Net {
    Net::new(&Description { input, layers, loss }).expect("a network that fits")
}

/// One network for each kind of layer and norm method, small enough for finite differences.
pub fn every_kind() -> Vec<(&'static str, Net)> {
    let small = image(2, 6, 5);
    let entropy = Loss::CrossEntropy;
    let norm = |groups| Layer::GroupNorm { groups, frozen: false };
    let frozen = Layer::Conv { out: 4, kernel: 2, stride: 1, padding: 0, frozen: true };
    vec![
        ("linear", net(Input::Features { features: 7 }, vec![linear(4)], entropy)),
        ("logistic", net(Input::Features { features: 5 }, vec![linear(1)], Loss::Logistic)),
        (
            "linear, tanh, squared",
            net(
                Input::Features { features: 6 },
                vec![linear(9), Layer::Tanh, linear(3)],
                Loss::Squared,
            ),
        ),
        (
            "group norm of a row",
            net(
                Input::Features { features: 6 },
                vec![linear(8), norm(2), Layer::Relu, linear(3)],
                entropy,
            ),
        ),
        (
            "conv, formed",
            net(small, vec![conv(3, 3, 2, 1), Layer::Tanh, Layer::Flatten, linear(3)], entropy),
        ),
        (
            "conv, by factors",
            net(
                small,
                vec![conv(3, 3, 1, 1), Layer::Tanh, conv(40, 4, 4, 1), Layer::Flatten, linear(3)],
                entropy,
            ),
        ),
        (
            "max-pool",
            net(
                small,
                vec![
                    conv(5, 3, 1, 1),
                    Layer::MaxPool { size: 2, stride: Some(1) },
                    Layer::Flatten,
                    linear(3),
                ],
                entropy,
            ),
        ),
        (
            "average-pool, group norm",
            net(
                small,
                vec![
                    conv(6, 3, 1, 2),
                    norm(3),
                    Layer::Tanh,
                    Layer::AveragePool { size: 2, stride: None },
                    Layer::Flatten,
                    linear(3),
                ],
                entropy,
            ),
        ),
        (
            "frozen below and between",
            net(
                small,
                vec![
                    frozen,
                    Layer::Tanh,
                    conv(3, 2, 1, 0),
                    Layer::GroupNorm { groups: 1, frozen: true },
                    Layer::Flatten,
                    Layer::Linear { out: 6, frozen: true },
                    Layer::Tanh,
                    linear(3),
                ],
                entropy,
            ),
        ),
    ]
}

/// The network of the papers on handwritten digits (Opacus, TensorFlow Privacy).
pub fn digits(activation: Layer) -> Net {
    let pool = Layer::MaxPool { size: 2, stride: Some(1) };
    net(
        image(1, 28, 28),
        vec![
            conv(16, 8, 2, 3),
            activation.clone(),
            pool.clone(),
            conv(32, 4, 2, 0),
            activation.clone(),
            pool,
            Layer::Flatten,
            linear(32),
            activation,
            linear(10),
        ],
        Loss::CrossEntropy,
    )
}
