#!/usr/bin/env bash
# Starts a cluster of Apache Spark on this machine (a master and two workers, on the loopback address alone), then
#   scripts/spark.sh             checks privet.spark on it, a worker killed in the middle of a pass included
#   scripts/spark.sh race ROWS   races privet against Spark's own logistic regression on it
# Needs Java 17; installs PySpark into .venv. The wheel is built unless target/wheels has one (PRIVET_WHEEL=rebuild).
set -euo pipefail
cd "$(dirname "$0")/.."

command -v java >/dev/null || { echo "scripts/spark.sh needs Java 17: install openjdk-17-jre-headless" >&2; exit 3; }
scripts/venv.sh python/requirements-test.txt python/requirements-spark.txt
python="$PWD/.venv/bin/python"
if [ "${PRIVET_WHEEL:-}" = rebuild ] || ! compgen -G "target/wheels/privet-*.whl" >/dev/null; then
    rm -rf target/wheels
    .venv/bin/maturin build --quiet --profile dev --features as-tested --manifest-path python/Cargo.toml --out target/wheels
fi
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall target/wheels/privet-*.whl

# A Python without privet, for executors that lack it.
bare="$PWD/target/spark/bare"
[ -x "$bare/bin/python" ] || "$python" -m venv "$bare"
"$bare/bin/python" -m pip install --quiet --disable-pip-version-check "$(grep '^pyarrow==' python/requirements-test.txt)" \
    "$(grep '^numpy==' python/requirements-test.txt)" "$(grep '^pandas==' python/requirements-test.txt)"

SPARK_HOME="$("$python" -c 'import os, pyspark; print(os.path.dirname(pyspark.__file__))')"
export SPARK_HOME SPARK_LOCAL_IP=127.0.0.1 SPARK_NO_DAEMONIZE=1 PYSPARK_PYTHON="$python"
logs="$PWD/target/spark/logs"
mkdir -p "$logs"
port="$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
master="spark://127.0.0.1:$port"

started=()
stop() {
    for each in "${started[@]}"; do
        pkill -TERM -P "$each" 2>/dev/null || true
        kill "$each" 2>/dev/null || true
    done
}
trap stop EXIT

"$SPARK_HOME/bin/spark-class" org.apache.spark.deploy.master.Master --host 127.0.0.1 --port "$port" --webui-port 0 \
    >"$logs/master.log" 2>&1 &
started+=($!)
workers=()
for number in 1 2; do
    "$SPARK_HOME/bin/spark-class" org.apache.spark.deploy.worker.Worker --host 127.0.0.1 --webui-port 0 \
        --cores "${CORES:-1}" --memory "${MEMORY:-2g}" --work-dir "$PWD/target/spark/work" "$master" \
        >"$logs/worker-$number.log" 2>&1 &
    started+=($!)
    workers+=($!)
done

program=scripts/spark_check.py
if [ "${1:-}" = race ]; then
    program=scripts/spark_race.py
    shift
fi
"$python" "$program" --master "$master" --workers "${workers[*]}" --bare "$bare/bin/python" "$@"
