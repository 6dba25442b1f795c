//! A file of row blocks answers every query with the bits of memory, for any number of threads.

use privet_data::block::BlockWriter;
use privet_data::matrix::{CsrMatrix, DenseMatrix, Matrix};
use privet_data::{Dataset, Target};
use privet_optim::sum::{
    Count, ExactGradient, ExactGram, Gradient, Hessian, HessianDiagonal, HessianVector, Labels,
    LossAndGradient, OnDisk, PreciseGradient, Records, SoftmaxGradient, Summable, Sums, Table,
};
use privet_optim::{Loss, Problem, SolverOptions, minimise};

/// Uniform numbers that are multiples of 2⁻²⁰, as clipped rows are.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }
    fn feature(&mut self) -> f32 {
        ((self.next() % (1 << 18)) as f32 - 131_072.0) / 1_048_576.0
    }
}

fn dataset(sparse: bool, rows: usize, columns: usize) -> Dataset {
    let mut numbers = Numbers(rows as u64 + u64::from(sparse));
    let features = if sparse {
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for _ in 0..rows {
            for column in 0..columns as u32 {
                if numbers.next().is_multiple_of(3) {
                    indices.push(column);
                    values.push(numbers.feature());
                }
            }
            starts.push(indices.len());
        }
        Matrix::Csr(CsrMatrix::new(starts, indices, values, columns))
    } else {
        let values = (0..rows * columns).map(|_| numbers.feature()).collect();
        Matrix::Dense(DenseMatrix::new(values, rows, columns))
    };
    let codes = (0..rows).map(|_| (numbers.next() % 3) as u32).collect();
    let target = Target::Class { codes, count: 3 };
    Dataset { features, target, units: None, report: Default::default() }
}

/// The data in a file, read `memory` bytes at a time: 0 means portions as short as statistics allow.
fn written(data: &Dataset, memory: u64) -> (tempfile::TempDir, OnDisk) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.rows");
    let mut writer = BlockWriter::create(&path).unwrap();
    let rows = data.rows();
    for start in (0..rows).step_by(3000) {
        writer.push(&data.select(&(start..rows.min(start + 3000)).collect::<Vec<_>>())).unwrap();
    }
    writer.finish().unwrap();
    let table = OnDisk::open_all(&[&path], memory).unwrap();
    (folder, table)
}

fn with_threads<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run)
}

fn same<S: Summable>(
    a: &dyn Records,
    b: &dyn Records,
    statistic: &S,
    bits: impl Fn(&S::Sum) -> Vec<u64> + Sync,
) where
    S::Sum: Send,
{
    let from_memory = bits(&a.sum(statistic).unwrap());
    for threads in [1, 3] {
        let from_disk = with_threads(threads, || bits(&b.sum(statistic).unwrap()));
        assert!(from_memory == from_disk, "{}", S::NAME);
    }
}

#[test]
fn every_question_has_the_same_answer_from_memory_and_from_a_file() {
    let vector = |sum: &Vec<f64>| sum.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    for (sparse, rows, memory) in
        [(false, 10, 0), (true, 9_000, 0), (true, 9_000, u64::MAX), (false, 20_000, 0)]
    {
        let columns = 9;
        let data = dataset(sparse, rows, columns);
        let (_folder, disk) = written(&data, memory);
        let labels = Labels::AgainstRest { class: 1, weights: vec![0.5, 1.0, 0.25] };
        let (a, b) = (data.problem(&labels).unwrap(), disk.problem(&labels).unwrap());
        let (a, b) = (a.as_ref(), b.as_ref());
        assert_eq!((a.rows(), a.columns(), a.entries()), (b.rows(), b.columns(), b.entries()));
        assert_eq!(a.radius().to_bits(), b.radius().to_bits());
        assert_eq!(a.longest_row(), b.longest_row());
        let loss = Loss::Logistic;
        let theta: Vec<f64> = (0..columns).map(|j| 0.3 * j as f64 - 1.0).collect();
        let direction = theta.clone();
        let units = |sum: &privet_optim::sum::ExactSum| {
            sum.units().unwrap().iter().map(|k| *k as u64).collect::<Vec<_>>()
        };
        same(a, b, &ExactGradient { loss, theta: theta.clone(), radius: 1.0, slope: 0.5 }, units);
        same(a, b, &ExactGram { radius: 1.0 }, units);
        same(a, b, &Count, |count| vec![*count]);
        same(a, b, &LossAndGradient { loss, theta: theta.clone() }, |sum| {
            let rest = [sum.value.to_bits(), sum.absolute.to_bits(), sum.depth];
            [vector(&sum.gradient), rest.to_vec()].concat()
        });
        same(a, b, &Gradient(LossAndGradient { loss, theta: theta.clone() }), |sum| {
            vector(&sum.gradient)
        });
        for stride in [1, 3] {
            same(a, b, &Hessian { loss, theta: theta.clone(), stride }, vector);
        }
        same(a, b, &HessianDiagonal { loss, theta: theta.clone() }, vector);
        same(a, b, &HessianVector { loss, theta: theta.clone(), direction }, vector);
        let precise = PreciseGradient { loss, theta: theta.clone(), tail: vec![0.0; columns] };
        same(a, b, &precise, |sum| format!("{:?}", sum.gradient).bytes().map(u64::from).collect());

        let joint = Labels::Joint { classes: 3 };
        let (a, b) = (data.problem(&joint).unwrap(), disk.problem(&joint).unwrap());
        let theta = (0..3 * columns).map(|j| 0.1 * j as f64).collect();
        let softmax =
            SoftmaxGradient { classes: 3, theta, radius: 1.0, slope: 0.6, weights: vec![] };
        same(a.as_ref(), b.as_ref(), &softmax, units);
    }
}

#[test]
fn a_solver_ends_at_the_same_bits() {
    for sparse in [false, true] {
        let data = dataset(sparse, 6_000, 12);
        let (_folder, disk) = written(&data, 0);
        let labels = Labels::AgainstRest { class: 2, weights: vec![] };
        let point = |table: &dyn Table| {
            let records = table.problem(&labels).unwrap();
            let problem = Problem::new(records.as_ref(), Loss::Logistic, 2.0);
            minimise(&problem, 1e-9, &SolverOptions::default()).unwrap().into_theta()
        };
        let from_memory = point(&data);
        assert!(from_memory.iter().any(|x| *x != 0.0));
        for threads in [1, 4] {
            assert_eq!(with_threads(threads, || point(&disk)), from_memory);
        }
    }
}

/// A pass over all rows computes their norms, and labels of classes need none: one pass in all before
/// the first sum.
#[test]
fn rows_are_looked_at_once_before_they_are_summed() {
    let data = dataset(false, 9_000, 9);
    let (_folder, disk) = written(&data, u64::MAX);
    assert_eq!(disk.passes(), 0.0);
    disk.visit(&mut |_| Ok(())).unwrap();
    let labels = Labels::AgainstRest { class: 1, weights: vec![] };
    let records = disk.problem(&labels).unwrap();
    assert!(records.labels_accepted(Loss::Logistic) && records.radius() > 0.0);
    assert_eq!(disk.passes(), 1.0);
    records.sum(&Count).unwrap();
    assert_eq!(disk.passes(), 2.0);
}

/// A block that changes between two passes is detected by the second.
#[test]
fn a_block_that_changes_between_passes_is_refused() {
    let data = dataset(false, 9_000, 9);
    let (folder, disk) = written(&data, u64::MAX);
    let records = disk.problem(&Labels::AgainstRest { class: 1, weights: vec![] }).unwrap();
    let gradient = LossAndGradient { loss: Loss::Logistic, theta: vec![0.1; 9] };
    records.sum(&gradient).unwrap();
    let path = folder.path().join("table.rows");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[200_003] ^= 0x80;
    // In place: the file that is open.
    let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    std::io::Write::write_all(&mut file, &bytes).unwrap();
    let words = records.sum(&gradient).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(words.contains("a block was changed"), "{words}");
}
