//! A release of any family: written, read and verified with its certificate, and the content of each
//! family.

use crate::error::{Failure, Outcome, shown};
use crate::input;
use crate::plan;
use crate::schema::Schema;
use crate::watched::run_watched;
use crate::{describe, evaluate, model, nearby, network, ratings, shapes, vote};
use numpy::{PyArray1, PyArray2};
use privet_data::Encoding;
use privet_data::matrix::Matrix;
use privet_data::write::Existing;
use privet_learn::file::{self, Seal};
use privet_learn::linear::Erm;
use privet_learn::neighbours::Nearby;
use privet_learn::networks::Network;
use privet_learn::ratings::Complete;
use privet_learn::selection::Select;
use privet_learn::statistics::count::{Count, Law};
use privet_learn::statistics::describe::Describe;
use privet_learn::statistics::evaluate::Evaluate;
use privet_learn::tuning::Tune;
use privet_learn::votes::Vote;
use privet_learn::{AnyPlan, Artefact, Loaded, Task, Verdict, of_family};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;
use std::path::{Path, PathBuf};

/// The origin of a release.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// From a run: sealed when it is written.
    Run,
    /// From a file: has that file's seal, or none.
    File,
    /// Part of another release, under its certificate: not written by itself.
    Part,
}

/// A release of any family, with its certificate. Holds nothing else about the records.
#[pyclass(module = "privet._privet", frozen)]
pub struct Released {
    loaded: Loaded,
    origin: Origin,
    /// The release that it is a part of.
    whole: Option<Py<Released>>,
}

/// Name, shape and numbers of a tensor.
type Tensor<'py> = (String, Vec<usize>, Bound<'py, PyArray1<f32>>);

fn seal(sealed: bool) -> Seal {
    if sealed { Seal::Required } else { Seal::Unchecked }
}

/// The release as one of a family; an error names its actual family.
macro_rules! own {
    ($($name:ident: $variant:ident($task:ty), $accepted:literal;)*) => {
        impl Released {
            $(
                /// As a release of this family.
                pub fn $name(&self) -> Outcome<&privet_learn::Released<$task>> {
                    match &self.loaded {
                        Loaded::$variant(found) => Ok(found),
                        _ => Err(self.refused($accepted)),
                    }
                }
            )*
        }
    };
}

own! {
    linear: Model(Erm), "a linear model";
    counted: Counts(Count), "counts";
    described: Description(Describe), "a description";
    evaluated: Evaluation(Evaluate), "an evaluation";
    tuned: Tuned(Tune), "a tuning";
    chosen: Support(Select), "chosen columns";
    learnt: Factors(Complete), "what was learnt from ratings";
    labelled: Labels(Vote), "labels of public rows";
    answered: Answers(Nearby), "answers";
    trained: Network(Network), "a network";
}

impl Released {
    /// From a run.
    pub fn of_run<T: Task>(released: privet_learn::Released<T>) -> Self
    where
        Loaded: From<privet_learn::Released<T>>,
    {
        Self { loaded: released.into(), origin: Origin::Run, whole: None }
    }

    fn of_file(loaded: Loaded) -> Outcome<Self> {
        if matches!(loaded, Loaded::Outlined(_)) {
            return Err(Failure::value(
                "an outline of a table, which a schema was made of: `privet inspect` reads it; accepted are models, counts and \
                 what else is released from records under a schema",
            ));
        }
        Ok(Self { loaded, origin: Origin::File, whole: None })
    }

    /// The release with the type of its family.
    pub fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    fn refused(&self, accepted: &str) -> Failure {
        Failure::value(format!(
            "it is of the family '{}'; {accepted} is accepted here",
            self.loaded.task()
        ))
    }

    /// The text of its file. A release from a file is not sealed again.
    fn written(&self) -> Outcome<String> {
        match self.origin {
            Origin::Run => {}
            Origin::File => of_family!(Loaded, &self.loaded, found => {
                found.check_seal().map_err(Failure::value)?;
            }),
            Origin::Part => {
                return Err(Failure::value(
                    "the model is part of a tuning, and its certificate is that of the whole: save the tuning",
                ));
            }
        }
        Ok(of_family!(Loaded, &self.loaded, found => file::to_json(found, None))?)
    }

    /// The digest of its file, present or future.
    pub fn digest(&self) -> Outcome<String> {
        if let Some(digest) = &self.loaded.certificate().digest {
            return Ok(digest.clone());
        }
        let document: serde_json::Value = serde_json::from_str(&self.written()?)?;
        let digest = document["certificate"]["digest"].as_str();
        digest.map(String::from).ok_or_else(|| Failure::value("the model has no digest"))
    }

    /// The schema of the request.
    pub fn asked_schema(&self) -> &privet_data::Schema {
        of_family!(Loaded, &self.loaded, found => &found.request().schema)
    }

    fn judged(&self, py: Python<'_>) -> Outcome<Verdict> {
        // A new release has no seal yet; the file that it would be written to has. A file without a seal
        // is not valid.
        Ok(match self.origin {
            Origin::Part => {
                return Err(Failure::value(
                    "the model is part of a tuning, and its certificate is that of the whole: verify the tuning",
                ));
            }
            Origin::File => run_watched(py, |_| self.loaded.verify())?,
            Origin::Run => {
                let text = self.written()?;
                let sealed = file::any_from_json(text.as_bytes(), Seal::Required);
                let sealed = sealed.map_err(Failure::value)?;
                run_watched(py, |_| sealed.verify())?
            }
        })
    }

    fn rows_of(&self, given: &Bound<'_, PyAny>) -> Outcome<Matrix> {
        Ok(input::features(given, self.asked_schema(), &input::to_use())?.matrix)
    }

    fn write(&self, py: Python<'_>, path: &Path, overwrite: bool) -> Outcome<()> {
        self.written()?;
        let existing = if overwrite { Existing::Replace } else { Existing::Keep };
        let kept = py.detach(
            || of_family!(Loaded, &self.loaded, found => file::save(found, path, None, existing)),
        )?;
        for left in &kept.swept {
            let words =
                format!("removed {}, which a run that was killed had left\n", left.display());
            // A missing stderr is no reason to fail.
            let errors = py.import("sys").and_then(|sys| sys.getattr("stderr"));
            let _ = errors.and_then(|errors| errors.call_method1("write", (shown(&words),)));
        }
        kept.instead.map_or(Ok(()), |why| Err(Failure::kept(why, &kept.path)))
    }
}

#[pymethods]
impl Released {
    /// Reads it from the bytes of its file.
    #[staticmethod]
    #[pyo3(signature = (bytes, *, sealed = true))]
    fn from_bytes(bytes: &[u8], sealed: bool) -> Outcome<Self> {
        let read = file::any_from_json(bytes, seal(sealed));
        Self::of_file(read.map_err(|why| Failure::value(format!("not a privet model: {why}")))?)
    }

    /// Reads its file.
    #[staticmethod]
    #[pyo3(signature = (path, *, sealed = true))]
    fn load(path: PathBuf, sealed: bool) -> Outcome<Self> {
        Self::of_file(file::load_any(&path, seal(sealed))?)
    }

    /// The bytes of its file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, self.written()?.as_bytes()))
    }

    /// The text of its file.
    fn to_json(&self) -> Outcome<String> {
        self.written()
    }

    /// Writes its file, whole or not at all, readable by its owner alone. Its budget is spent: if it
    /// cannot be written there it is written elsewhere, and the exception names the path.
    fn save(&self, py: Python<'_>, path: PathBuf, overwrite: bool) -> Outcome<()> {
        self.write(py, &path, overwrite)
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> Outcome<(Bound<'py, PyAny>, (Bound<'py, PyAny>,))> {
        let own = py.get_type::<Self>();
        if let Some(whole) = &self.whole {
            return Ok((own.getattr("model")?, (whole.bind(py).clone().into_any(),)));
        }
        Ok((own.getattr("from_bytes")?, (self.to_bytes(py)?.into_any(),)))
    }

    /// The name of the family.
    #[getter]
    fn task(&self) -> &'static str {
        self.loaded.task()
    }

    /// The schema of the request.
    fn schema(&self) -> Schema {
        Schema(self.asked_schema().clone())
    }

    /// The request as JSON.
    fn request(&self) -> Outcome<String> {
        Ok(of_family!(Loaded, &self.loaded, found => serde_json::to_string(found.request()))?)
    }

    /// The plan that its public facts give, as JSON.
    fn plan(&self, py: Python<'_>) -> Outcome<String> {
        let plan = of_family!(Loaded, &self.loaded, found => {
            AnyPlan::from(run_watched(py, |_| privet_learn::plan(found.request()))??)
        });
        plan::plan_json(&plan, None)
    }

    /// All its noisy numbers.
    fn numbers(&self) -> Vec<f64> {
        of_family!(Loaded, &self.loaded, found => found.artefact().numbers())
    }

    /// What its family reports of it, as JSON: a sentence, and sections of prose, lines and tables.
    fn report(&self) -> Outcome<String> {
        Ok(serde_json::to_string(&self.loaded.report())?)
    }

    /// The claim of the certificate, as JSON: all of it but the request and the proof of its origin.
    fn claim(&self) -> String {
        let certificate = self.loaded.certificate();
        let (neighbours, unit) = of_family!(Loaded, &self.loaded, found => {
            (found.request().neighbours, found.request().schema.unit())
        });
        json!({
            "guarantee": certificate.guarantee,
            "neighbours": neighbours,
            "unit": unit,
            "whose": self.loaded.unit_definition(),
            "arithmetic": certificate.arithmetic,
            "notes": certificate.notes,
        })
        .to_string()
    }

    /// The certificate as JSON.
    fn certificate(&self) -> Outcome<String> {
        Ok(serde_json::to_string(self.loaded.certificate())?)
    }

    /// Verifies it without data: returns the verdict as JSON.
    fn verify(&self, py: Python<'_>) -> Outcome<String> {
        Ok(serde_json::to_string(&self.judged(py)?)?)
    }

    // Linear models, and networks.

    /// A row of weights for each linear problem.
    #[pyo3(signature = () -> "numpy.typing.NDArray[numpy.float64]")]
    fn weights<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyArray2<f64>>> {
        PyArray2::from_vec2(py, &self.linear()?.weights().weights).map_err(Failure::value)
    }

    /// The centre, subtracted from every encoded row, if there is one.
    #[pyo3(signature = () -> "numpy.typing.NDArray[numpy.float64] | None")]
    fn centre<'py>(&self, py: Python<'py>) -> Outcome<Option<Bound<'py, PyArray1<f64>>>> {
        let centre = self.linear()?.weights().centre.as_ref();
        Ok(centre.map(|centre| PyArray1::from_slice(py, centre)))
    }

    /// Names of the encoded columns.
    fn column_names(&self) -> Vec<String> {
        Encoding::new(self.asked_schema()).column_names()
    }

    /// Each weight with the possible effect of the noise of privacy, as JSON.
    fn certainty(&self, py: Python<'_>) -> Outcome<String> {
        let model = self.linear()?;
        Ok(serde_json::to_string(&run_watched(py, |_| model.certainty())?)?)
    }

    /// The rows that the weights multiply: encoded, and centred where the model has a centre.
    #[pyo3(signature = (features) -> "numpy.typing.NDArray[numpy.float64]")]
    fn rows<'py>(
        &self,
        py: Python<'py>,
        features: &Bound<'py, PyAny>,
    ) -> Outcome<Bound<'py, PyArray2<f64>>> {
        model::rows(py, self.linear()?, &self.rows_of(features)?)
    }

    /// As an ONNX file.
    fn to_onnx<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyBytes>> {
        let bytes = match &self.loaded {
            Loaded::Network(network) => {
                run_watched(py, |_| privet_learn::export::network(network))??
            }
            _ => {
                let model = self.linear()?;
                run_watched(py, |_| privet_learn::export::onnx(model))??
            }
        };
        Ok(PyBytes::new(py, &bytes))
    }

    /// As one SQL query.
    fn to_sql(&self, table: &str, id: Option<&str>) -> Outcome<String> {
        Ok(privet_learn::export::sql(self.linear()?, table, id)?)
    }

    /// Encoded columns with their weights, as CSV.
    fn to_csv(&self) -> Outcome<String> {
        Ok(privet_learn::export::coefficients(self.linear()?)?)
    }

    /// The shape function of each column, as JSON.
    fn shapes(&self, py: Python<'_>) -> Outcome<String> {
        let model = self.linear()?;
        Ok(shapes::to_json(&run_watched(py, |_| model.shapes())?))
    }

    /// The shape functions as a page of HTML.
    fn page(&self, py: Python<'_>) -> Outcome<String> {
        let (model, verdict) = (self.linear()?, self.judged(py)?);
        run_watched(py, |_| privet_cli::page::page(model, &verdict))
    }

    /// The score ⟨x, θ⟩ of each row and problem.
    #[pyo3(signature = (features) -> "numpy.typing.NDArray[numpy.float64]")]
    fn scores<'py>(
        &self,
        py: Python<'py>,
        features: &Bound<'py, PyAny>,
    ) -> Outcome<Bound<'py, PyArray2<f64>>> {
        model::scores(py, self.linear()?, &self.rows_of(features)?)
    }

    /// The index of the most likely class of each row.
    #[pyo3(signature = (features) -> "numpy.typing.NDArray[numpy.uint32]")]
    fn predict_codes<'py>(
        &self,
        py: Python<'py>,
        features: &Bound<'py, PyAny>,
    ) -> Outcome<Bound<'py, PyArray1<u32>>> {
        let rows = self.rows_of(features)?;
        match &self.loaded {
            Loaded::Network(network) => network::predict_codes(py, network, &rows),
            _ => model::predict_codes(py, self.linear()?, &rows),
        }
    }

    /// The predicted number of each row, in the target's own unit.
    #[pyo3(signature = (features) -> "numpy.typing.NDArray[numpy.float64]")]
    fn predict_numbers<'py>(
        &self,
        py: Python<'py>,
        features: &Bound<'py, PyAny>,
    ) -> Outcome<Bound<'py, PyArray1<f64>>> {
        model::predict_numbers(py, self.linear()?, &self.rows_of(features)?)
    }

    /// A probability for each row and class; of a linear model `None` unless the loss is logistic.
    #[pyo3(signature = (features) -> "numpy.typing.NDArray[numpy.float64] | None")]
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        features: &Bound<'py, PyAny>,
    ) -> Outcome<Option<Bound<'py, PyArray2<f64>>>> {
        let rows = self.rows_of(features)?;
        match &self.loaded {
            Loaded::Network(network) => network::probabilities(py, network, &rows).map(Some),
            _ => model::probabilities(py, self.linear()?, &rows),
        }
    }

    /// The noisy weights of a network: name, shape and numbers of each tensor.
    #[pyo3(signature = () -> "list[tuple[str, list[int], numpy.typing.NDArray[numpy.float32]]]")]
    fn tensors<'py>(&self, py: Python<'py>) -> Outcome<Vec<Tensor<'py>>> {
        let tensors = &self.trained()?.artefact().tensors;
        let shown = tensors.iter().map(|tensor| {
            let values = PyArray1::from_slice(py, &tensor.values);
            (tensor.name.clone(), tensor.shape.clone(), values)
        });
        Ok(shown.collect())
    }

    // Tunings.

    /// The index of the best candidate; `None` where no trial was made.
    #[getter]
    fn candidate(&self) -> Outcome<Option<u32>> {
        Ok(self.tuned()?.artefact().best.as_ref().map(|best| best.candidate))
    }

    /// The best trial's model, for prediction; it is saved and verified only as part of this release.
    fn model(slf: Bound<'_, Self>) -> Outcome<Option<Self>> {
        let model = slf.get().tuned()?.model();
        Ok(model.map(|model| {
            let whole = Some(slf.unbind());
            Self { loaded: model.into(), origin: Origin::Part, whole }
        }))
    }

    // Counts.

    /// The counted column.
    #[getter]
    fn by(&self) -> Outcome<&str> {
        Ok(&self.counted()?.artefact().by)
    }

    /// Each category with its count, in declared order.
    #[getter]
    fn cells(&self) -> Outcome<Vec<(String, f64)>> {
        let cells = self.counted()?.artefact().cells.iter();
        Ok(cells.map(|cell| (cell.category.clone(), cell.count)).collect())
    }

    /// The standard deviation of the noise on each count.
    #[getter]
    fn noise(&self) -> Outcome<f64> {
        Ok(self.counted()?.artefact().noise)
    }

    /// The noise distribution of counts.
    #[getter]
    fn law(&self) -> Outcome<Option<&'static str>> {
        Ok(self.counted()?.request().task.law.map(Law::name))
    }

    /// Half width of a 95 % interval of a count.
    #[getter]
    fn margin(&self) -> Outcome<f64> {
        let counts = self.counted()?;
        let law = counts.request().task.law.unwrap_or(Law::Laplace);
        Ok(law.margin(counts.artefact().noise))
    }

    // Descriptions and evaluations.

    /// The summary in a description, as JSON.
    fn summary(&self) -> Outcome<String> {
        describe::summary(self.described()?)
    }

    /// The metrics in an evaluation, as JSON.
    fn worth(&self) -> Outcome<String> {
        Ok(serde_json::to_string(&evaluate::metrics(self.evaluated()?)?)?)
    }

    /// The threshold exceeded by a fraction of the records, with its interval.
    fn threshold_for_share(&self, share: f64) -> Outcome<(f64, f64, f64)> {
        evaluate::threshold_for_share(self.evaluated()?, share)
    }

    // Chosen columns.

    /// Indices of the chosen encoded columns; `None` where no answer was stable enough.
    #[getter]
    fn columns(&self) -> Outcome<Option<Vec<u32>>> {
        Ok(self.chosen()?.artefact().columns.clone())
    }

    /// Names of the chosen columns.
    #[getter]
    fn names(&self) -> Outcome<Option<Vec<String>>> {
        let chosen = self.chosen()?;
        Ok(chosen.artefact().names(&chosen.request().schema))
    }

    // Labels and answers.

    /// The class index of each public row, −1 without a label.
    #[getter]
    fn codes<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyArray1<i32>>> {
        Ok(vote::codes(py, self.labelled()?))
    }

    /// Noisy votes: a row for each query, a column for each class or end.
    #[getter]
    fn votes<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyArray2<f64>>> {
        PyArray2::from_vec2(py, &self.answered()?.artefact().votes).map_err(Failure::value)
    }

    /// The class index of each query, or its number.
    #[pyo3(signature = () -> "numpy.typing.NDArray[Any]")]
    fn predictions<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyAny>> {
        Ok(nearby::predictions(py, self.answered()?))
    }

    // Streams.

    /// The steps after which a value was released.
    #[getter]
    fn after(&self) -> Outcome<Vec<u32>> {
        match &self.loaded {
            Loaded::Stream(stream) => Ok(stream.artefact().after.clone()),
            Loaded::Tally(tally) => Ok(tally.artefact().after.clone()),
            _ => Err(self.refused("a stream")),
        }
    }

    /// The released values of each step: weights, or a count per category.
    #[getter]
    fn values(&self) -> Outcome<Vec<Vec<f64>>> {
        match &self.loaded {
            Loaded::Stream(stream) => Ok(stream.artefact().values.clone()),
            Loaded::Tally(tally) => Ok(tally.artefact().values.clone()),
            _ => Err(self.refused("a stream")),
        }
    }

    // Ratings.

    /// The public list of items.
    #[getter]
    fn items(&self) -> Outcome<Vec<String>> {
        ratings::items(self.learnt()?)
    }

    /// The predicted ratings of one user for every item, in the order of the list.
    fn predict(&self, py: Python<'_>, given: Vec<(String, f64)>) -> Outcome<Vec<f64>> {
        ratings::predict(py, self.learnt()?, &given)
    }
}

/// Reads a file of any family.
#[pyfunction]
#[pyo3(signature = (path, *, sealed = true))]
pub fn load(path: PathBuf, sealed: bool) -> Outcome<Released> {
    Released::load(path, sealed)
}
