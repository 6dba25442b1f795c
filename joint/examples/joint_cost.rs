//! What one aggregation with joint noise costs, between processes on this machine: gates, bytes, seconds.
//!
//! `cargo run --manifest-path joint/Cargo.toml --example joint_cost [servers]`
//!
//! Every server is a process of its own; each adds its share of the noise to its share of a sum and opens that, and
//! the sum of the openings is checked. Beside it stands what the thesis of Wang measured for Laplace noise by a logarithm
//! in a circuit (Table 6.2): semi-honest Yao, and DualEx, which leaks a bit to a server that cheats; megabytes of garbled
//! gates + oblivious transfers, on machines and at a precision that it does not state.

use privet_joint::{JointGaussian, JointLaplace, Law, gates};
use privet_joint_engine::{Lines, joined, noise, opening, system};
use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The scales: that of the product's own grid for a Gaussian, 2²⁷ steps for a Laplace law.
fn law(name: &str) -> Outcome<Box<dyn Law>> {
    Ok(match name {
        "gaussian" => Box::new(JointGaussian::new(1.5 * 2_f64.powi(40))?),
        _ => Box::new(JointLaplace::new(1.5 * 2_f64.powi(27))?),
    })
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [server, name, features, servers, place] = &arguments[..]
        && server == "server"
    {
        return serve(&*law(name)?, features.parse()?, servers.parse()?, place.parse()?);
    }
    let servers: usize = arguments.first().map_or(Ok(2), |text| text.parse())?;
    println!(
        "| law | features | servers | AND a coordinate: sampler + sharing | AND | MB | s | CPU s, all servers |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for name in ["laplace", "gaussian"] {
        for features in [104, 122] {
            let each = gates(&*law(name)?, servers as u32);
            let Measured { bytes, seconds, processor } = measured(name, features, servers)?;
            println!(
                "| {name} | {features} | {servers} | {} + {} | {} | {:.0} | {seconds:.1} | {processor:.1} |",
                each.sampler,
                each.sharing,
                features * (each.sampler + each.sharing),
                bytes as f64 / 1e6
            );
        }
    }
    println!(
        "| thesis, Table 6.2, Yao / DualEx | 104 | 2 | 391,700 | 40,733,500 | 777 + 35 | 22 / 56 | |"
    );
    println!(
        "| thesis, Table 6.2, Yao / DualEx | 122 | 2 | 391,600 | 47,781,200 | 911 + 41 | 26 / 65 | |"
    );
    Ok(())
}

struct Process {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Process {
    fn line(&mut self) -> Outcome<String> {
        let mut line = String::new();
        self.from.read_line(&mut line)?;
        Ok(line.trim().into())
    }
}

struct Measured {
    /// That all servers sent together.
    bytes: u64,
    /// Until the last server had its opening.
    seconds: f64,
    /// Of processors, all servers together: what does not depend on what else the machine does.
    processor: f64,
}

fn measured(name: &str, features: usize, servers: usize) -> Outcome<Measured> {
    let mut all = Vec::new();
    for place in 0..servers {
        let (features, servers, place) =
            (features.to_string(), servers.to_string(), place.to_string());
        let mut child = Command::new(std::env::current_exe()?)
            .args(["server", name, &features, &servers, &place])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let to = child.stdin.take().ok_or("no input")?;
        let from = BufReader::new(child.stdout.take().ok_or("no output")?);
        all.push(Process { child, to, from });
    }
    let ports = all.iter_mut().map(Process::line).collect::<Outcome<Vec<_>>>()?.join(" ");
    let exact: Vec<i128> = (0..features as i128).map(|value| value << 50).collect();
    for (place, process) in all.iter_mut().enumerate() {
        // The first server's sum is the whole one: what costs is the noise, whatever it is added to.
        let part = |value: &i128| if place == 0 { *value as u128 } else { 0 };
        let sum: Vec<String> = exact.iter().map(|value| part(value).to_string()).collect();
        writeln!(process.to, "{ports}\n{}", sum.join(" "))?;
    }
    // All are connected: now.
    for process in &mut all {
        process.line()?;
    }
    let begun = Instant::now();
    for process in &mut all {
        writeln!(process.to, "go")?;
    }
    let (mut bytes, mut processor, mut openings) = (0, 0.0, Vec::new());
    for process in &mut all {
        let opened = process.line()?;
        bytes += process.line()?.parse::<u64>()?;
        processor += process.line()?.parse::<f64>()?;
        openings.push(opened.split(' ').map(str::parse).collect::<Result<Vec<u128>, _>>()?);
    }
    let seconds = begun.elapsed().as_secs_f64();
    for process in &mut all {
        process.child.wait()?;
    }
    let sum = joined(&openings)?;
    let near = sum.iter().zip(&exact).all(|(sum, exact)| (sum - exact).abs() < 1 << 45);
    if !near || sum == exact {
        return Err("what was opened is not the sum and noise".into());
    }
    Ok(Measured { bytes, seconds, processor })
}

/// One server: says its port, hears those of the others and its sum, and opens.
fn serve(law: &dyn Law, features: usize, servers: usize, place: usize) -> Outcome<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?.port());
    let mut told = std::io::stdin().lines();
    let mut next = || -> Outcome<String> { Ok(told.next().ok_or("nothing was told")??) };
    let ports = next()?.split(' ').map(str::parse).collect::<Result<Vec<u16>, _>>()?;
    let sum = next()?.split(' ').map(str::parse).collect::<Result<Vec<u128>, _>>()?;
    let mut streams: Vec<Option<TcpStream>> = (0..servers).map(|_| None).collect();
    for (other, port) in ports.iter().enumerate().take(place) {
        let mut stream = TcpStream::connect(("127.0.0.1", *port))?;
        stream.write_all(&[place as u8])?;
        streams[other] = Some(stream);
    }
    for _ in place + 1..servers {
        let mut stream = listener.accept()?.0;
        let mut who = [0];
        stream.read_exact(&mut who)?;
        streams[who[0] as usize] = Some(stream);
    }
    let lines = Lines::over_tcp(place, streams)?;
    println!("connected");
    next()?;
    let share = noise(law, features, &lines, &mut system)?;
    let opened: Vec<String> = opening(&sum, share)?.iter().map(u128::to_string).collect();
    println!("{}\n{}\n{}", opened.join(" "), lines.sent(), processor_seconds());
    Ok(())
}

/// What this process has used so far, in hundredths; not a number where the system does not say.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2).map(str::parse::<f64>);
    ticks.sum::<Result<f64, _>>().ok().filter(|sum| *sum > 0.0).map_or(f64::NAN, |sum| sum / 100.0)
}
