"""Ctrl-C stops a fit; a forked child can fit too."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

LONG = textwrap.dedent(
    """
    import numpy as np, sys
    from privet import PrivateLogisticRegression
    X = np.random.default_rng(0).uniform(-1, 1, size=(20_000, 100))
    y = (X[:, 0] > 0).astype(int)
    model = PrivateLogisticRegression(
        epsilon=1, bounds=(-1, 1), classes=[0, 1], method="gd", settings={"steps": 1_000_000}
    )
    try:
        print("fitting", flush=True)
        model.fit(X, y)
    except KeyboardInterrupt:
        print("stopped", hasattr(model, "coef_"), flush=True)
        sys.exit(7)
    """
)

FORKED = textwrap.dedent(
    """
    import os, numpy as np
    from privet import PrivateLogisticRegression
    X = np.random.default_rng(0).uniform(-1, 1, size=(500, 3))
    y = (X[:, 0] > 0).astype(int)
    fit = lambda: PrivateLogisticRegression(epsilon=1, bounds=(-1, 1), classes=[0, 1]).fit(X, y)
    first = fit()
    child = os.fork()
    if child == 0:
        os._exit(0 if len(fit().coef_) == 1 else 1)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status))
    """
)


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_control_c_stops_a_fit():
    process = subprocess.Popen([sys.executable, "-c", LONG], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "fitting\n"
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=600)
    finally:
        process.kill()
    assert (process.returncode, out) == (7, "stopped False\n")


# Ctrl-C comes while sums are made, as soon as another thread runs at all: the sums of "ssp" ask nobody whether to go on, so
# that the fit is finished, and paid for, whenever the signal reaches it.
PAID = textwrap.dedent(
    """
    import numpy as np, os, signal, sqlite3, sys, threading, time
    from privet import Ledger, PrivateLinearRegression
    path = sys.argv[1]
    ledger = Ledger(path, dataset="t", create=True)
    ledger.open(epsilon=20, delta=1e-4)
    X = np.random.default_rng(0).uniform(-1, 1, size=(200_000, 60))
    model = PrivateLinearRegression(epsilon=1, delta=1e-6, bounds=(-1, 1), target_bounds=(-1, 1), method="ssp")

    def interrupt():
        other = sqlite3.connect(path)
        while other.execute("SELECT max(sequence) FROM entry").fetchone()[0] < 3:
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    try:
        model.fit(X, X[:, 0], ledger=ledger)
        time.sleep(60)
        print("never interrupted")
    except KeyboardInterrupt:
        print("interrupted", hasattr(model, "coef_"), ledger.history()[-1]["state"])
    """
)


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_fit_that_was_finished_and_paid_for_is_kept(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PAID, str(tmp_path / "t.ledger")], capture_output=True, text=True, timeout=600
    )
    assert done.stdout == "interrupted True settled\n", (done.stdout, done.stderr)


def test_a_function_hands_its_release_over_with_the_exception(monkeypatch):
    from privet import _privet
    from privet._interrupts import Finishing

    held = []
    monkeypatch.setattr(_privet, "hold_signals", lambda: bool(held) or held.append(1) or False)
    monkeypatch.setattr(_privet, "let_signals_go", lambda: held.clear() or KeyboardInterrupt())

    def released():
        with Finishing() as outer:
            with Finishing() as inner:
                inner.of("part")
            return outer.of("whole")

    with pytest.raises(KeyboardInterrupt) as raised:
        released()
    assert raised.value.released == "whole"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks of POSIX")
def test_a_forked_child_can_fit():
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=600)
    assert done.stdout == "0\n", done.stderr
