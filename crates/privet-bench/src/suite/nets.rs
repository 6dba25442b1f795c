//! The networks that suites train, by name: `nets/NAME.toml`.

use privet_nn::Description;

macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        const NETS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../nets/", $name, ".toml")))),*];
    };
}

built_in![
    "a9a-logistic",
    "mnist-logistic",
    "mnist-cnn",
    "mnist-cnn-frozen",
    "mnist-cnn-tanh",
    "adult-mlp",
    "cnn5",
    "cnn5-grey",
    "scattering",
    "scattering-linear",
];

/// The network of that name; an error lists the names.
pub fn find(name: &str) -> Result<Description, String> {
    let Some((_, text)) = NETS.iter().find(|(known, _)| *known == name) else {
        let known: Vec<&str> = NETS.iter().map(|(name, _)| *name).collect();
        return Err(format!("net '{name}': accepted are {}", known.join(", ")));
    };
    toml::from_str(text).map_err(|error| format!("net '{name}': {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use privet_nn::Net;

    /// Every one of them is a network, and those of the papers have their number of weights.
    #[test]
    fn nets_are_networks() {
        for (name, _) in NETS {
            let net = Net::new(&find(name).unwrap()).unwrap();
            let weights = match *name {
                "mnist-cnn" | "mnist-cnn-frozen" | "mnist-cnn-tanh" => 26_010,
                "adult-mlp" => 4_929,
                "cnn5" => 62_006,
                "cnn5-grey" => 44_426,
                "mnist-logistic" => 7_850,
                "a9a-logistic" => 124,
                _ => net.parameters(),
            };
            assert_eq!(net.parameters(), weights, "{name}");
            let trained = if *name == "mnist-cnn-frozen" { 16_746 } else { weights };
            assert_eq!(net.trainable(), trained, "{name}");
        }
        assert!(find("resnet").unwrap_err().contains("mnist-cnn"));
    }
}
