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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks of POSIX")
def test_a_forked_child_can_fit():
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=600)
    assert done.stdout == "0\n", done.stderr
