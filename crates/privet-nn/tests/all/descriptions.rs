//! Inconsistent descriptions are refused, with the layer and the numbers.

use crate::nets::{conv, image, linear};
use privet_nn::{Batch, Description, Input, Layer, Loss, Net, NetError, Targets, Workspace};

fn refused(input: Input, layers: Vec<Layer>, loss: Loss) -> String {
    Net::new(&Description { input, layers, loss }).expect_err("it does not fit").to_string()
}

#[test]
fn what_does_not_fit_is_named() {
    let entropy = Loss::CrossEntropy;
    let picture = image(3, 8, 8);
    let norm = |groups| Layer::GroupNorm { groups, frozen: false };
    for (layers, words) in [
        (
            vec![conv(4, 9, 1, 0)],
            "layer 1 (conv): a side of 9 does not fit into 8 × 8 pixels with a padding of 0",
        ),
        (vec![conv(4, 3, 0, 0)], "layer 1 (conv): a side of 3 and a stride of 0"),
        (vec![conv(4, 3, 1, 3)], "layer 1 (conv): a padding of 3 was given for a side of 3"),
        (vec![conv(0, 3, 1, 0)], "layer 1 (conv): out is 0"),
        (
            vec![linear(4)],
            "layer 1 (linear): it wants a row of numbers, and what comes in is an image of 8 × 8",
        ),
        (
            vec![Layer::Flatten, conv(4, 3, 1, 0)],
            "layer 2 (conv): it wants an image, and what comes in is a row of 192",
        ),
        (
            vec![conv(6, 3, 1, 0), norm(4)],
            "layer 2 (group-norm): 4 groups do not divide 6 channels",
        ),
        (
            vec![conv(6, 3, 1, 0), Layer::BatchNorm],
            "layer 2 (batch-norm): it is refused, since its output",
        ),
        (vec![conv(6, 3, 1, 0)], "the last layer gives an image of 6 × 6 pixels with 6 channels"),
        (vec![Layer::Flatten, linear(1)], "cross-entropy was asked of one output"),
        (
            vec![Layer::Flatten, Layer::Linear { out: 3, frozen: true }],
            "no layer has weights to train",
        ),
        (vec![Layer::Flatten, linear(usize::MAX / 2)], "layer 2 (linear): more than"),
        (
            vec![Layer::MaxPool { size: 10, stride: None }],
            "layer 1 (max-pool): a side of 10 does not fit into 8 × 8 pixels",
        ),
    ] {
        let message = refused(picture, layers, entropy);
        assert!(message.starts_with(words), "{message}");
    }
    let message = refused(image(0, 8, 8), vec![Layer::Flatten, linear(2)], entropy);
    assert!(message.contains("0 channels"), "{message}");
}

#[test]
fn a_description_reads_back_as_it_was_written() {
    let written = privet_nn::DIGITS;
    let description: Description = toml::from_str(written).expect("a description");
    let again: Description = toml::from_str(&toml::to_string(&description).unwrap()).unwrap();
    assert_eq!(description, again);
    let net = Net::new(&description).unwrap();
    assert_eq!((net.inputs(), net.outputs(), net.parameters()), (784, 10, 26_010));
    let names: Vec<&str> = net.tensors().iter().map(|tensor| tensor.name.as_str()).collect();
    assert_eq!(names[..4], ["1.conv.weight", "1.conv.bias", "4.conv.weight", "4.conv.bias"]);
    for bad in [
        written.replace("padding", "pading"),
        written.replace("\"relu\"", "\"gelu\""),
        written.replace("loss", "losses"),
    ] {
        assert!(toml::from_str::<Description>(&bad).is_err());
    }
}

#[test]
fn frozen_weights_come_last_and_have_no_gradient() {
    let layers = vec![Layer::Linear { out: 5, frozen: true }, Layer::Tanh, linear(3)];
    let input = Input::Features { features: 4 };
    let net = Net::new(&Description { input, layers, loss: Loss::Squared }).unwrap();
    assert_eq!((net.parameters(), net.trainable()), (25 + 18, 18));
    assert_eq!(net.tensors()[0].range, 18..38);
    assert_eq!(net.tensors()[2].range, 0..15);
    let weights = net.initial(1);
    let batch = Batch::all(&[0.1, 0.2, 0.3, 0.4], Targets::Values(&[1.0, 0.0, 0.0]));
    assert_eq!(net.plain_sum(&weights, &batch, &mut Workspace::new()).unwrap().len(), 18);
}

#[test]
fn settings_that_bound_nothing_are_refused() {
    let net = Net::new(&toml::from_str(privet_nn::DIGITS).unwrap()).unwrap();
    let weights = net.initial(1);
    let mut work = Workspace::new();
    let inputs = vec![0.0; 784];
    let batch = Batch::all(&inputs, Targets::Classes(&[3]));
    for clip in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e31] {
        let refused = net.clipped_sum(&weights, &batch, clip, &mut work);
        assert!(matches!(refused, Err(NetError::Clip(_))));
    }
    assert_eq!(
        net.clipped_sum(&weights[1..], &batch, 1.0, &mut work).unwrap_err().to_string(),
        "26009 weights were given to a network of 26010"
    );
    for (inputs, targets) in [
        (&inputs[1..], Targets::Classes(&[3])),
        (&inputs[..], Targets::Classes(&[3, 4])),
        (&inputs[..], Targets::Values(&[0.0; 10])),
    ] {
        assert!(matches!(
            net.loss(&weights, &Batch::all(inputs, targets), &mut work),
            Err(NetError::Batch(_))
        ));
    }
    let far = Batch::chosen(&inputs, Targets::Classes(&[3]), &[1]);
    assert!(matches!(net.loss(&weights, &far, &mut work), Err(NetError::Batch(_))));
}

/// A description with any numbers is refused with a message or accepted.
#[test]
fn absurd_windows_are_refused() {
    let huge = [1 << 16, 1 << 20, 1 << 40, usize::MAX / 2, usize::MAX - 1, usize::MAX];
    for size in huge {
        for padding in [0, 1, size / 2, size - 1] {
            for (height, width) in [(1, 1), (28, 28), (1 << 27, 1)] {
                for stride in [1, size] {
                    let input = Input::Image { channels: 1, height, width };
                    let conv = Layer::Conv { out: 1, kernel: size, stride, padding, frozen: false };
                    let pool = Layer::MaxPool { size, stride: Some(stride) };
                    for layer in [conv, pool] {
                        let layers =
                            vec![layer, Layer::Flatten, Layer::Linear { out: 1, frozen: false }];
                        let words = refused(input, layers, Loss::Squared);
                        assert!(words.contains("layer 1"), "{words}");
                    }
                }
            }
        }
    }
    // Windows that overlap so much that storing them side by side would fill the memory.
    let input = Input::Image { channels: 1, height: 16_000, width: 16_000 };
    let conv = Layer::Conv { out: 1, kernel: 1_000, stride: 1, padding: 0, frozen: false };
    let layers = vec![conv, Layer::Flatten, Layer::Linear { out: 1, frozen: false }];
    assert!(refused(input, layers, Loss::Squared).contains("its windows are"));
}
