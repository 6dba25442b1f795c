"""Writes composition.json: compositions by dp-accounting's privacy-loss distributions.

Each case holds an event in privet's own serialised form, an epsilon, and dp-accounting's optimistic
and pessimistic delta at discretisation 1e-5.

    pip install dp-accounting && python composition.py
"""

from loss_distributions import case, discrete_laplace, gaussian, laplace, pure, write


def cases():
    yield from case([(gaussian(0.1), 25)], [0.0, 0.5, 1.0, 2.0])
    yield from case([(gaussian(1.0), 1)], [0.0, 1.0, 3.0, 5.0])
    yield from case([(gaussian(0.3), 4), (gaussian(0.05), 100)], [1.0, 3.0])
    yield from case([(gaussian(0.002), 100_000)], [0.5, 2.0, 3.0])
    yield from case([(laplace(0.1), 10)], [0.1, 0.5, 0.8])
    yield from case([(laplace(0.1), 100)], [0.0, 1.0, 2.0, 4.0])
    yield from case([(laplace(1.0), 5)], [1.0, 2.5, 4.0])
    yield from case([(laplace(3.0), 2)], [0.5, 3.0, 5.5])
    yield from case([(laplace(0.02), 1000)], [1.0, 3.0])
    yield from case([(laplace(0.005), 10_000)], [0.3, 1.0, 2.0])
    yield from case([(laplace(0.5), 1), (gaussian(0.3), 1)], [0.5, 1.0, 1.6])
    yield from case([(laplace(0.1), 20), (gaussian(0.1), 20)], [0.5, 1.5, 3.0])
    yield from case([(laplace(0.3), 3), (laplace(0.05), 40)], [0.7, 1.5])
    yield from case([(laplace(0.7), 1), (laplace(0.2), 6), (laplace(0.03), 200)], [0.5, 1.5, 3.0])
    yield from case([(discrete_laplace(1, 0.2), 30)], [0.5, 1.5, 3.0])
    yield from case([(discrete_laplace(5, 0.1), 12)], [0.5, 1.5, 3.0])
    yield from case([(discrete_laplace(3, 0.2), 4), (gaussian(0.4), 2)], [0.5, 1.5, 3.0])
    yield from case([(pure(0.1), 100)], [1.0, 3.0, 5.0])
    yield from case([(pure(0.5), 7)], [0.7, 2.2])
    yield from case([(pure(0.01), 10_000)], [0.5, 2.0, 4.0])
    yield from case([(pure(2.0), 3)], [1.0, 3.0, 5.0])
    yield from case([(pure(0.1), 30), (pure(0.05), 50)], [0.5, 2.0])
    yield from case([(pure(0.3), 3), (pure(0.7), 2), (pure(0.02), 500)], [0.5, 1.5, 3.0])
    yield from case([(pure(0.2), 10), (gaussian(0.2), 5)], [0.5, 1.5, 2.5])
    yield from case([(pure(0.1), 5), (laplace(0.2), 5), (gaussian(0.2), 5)], [0.4, 1.2, 2.4])
    yield from case([(pure(0.02), 300), (laplace(0.4), 2), (gaussian(0.6), 1)], [0.5, 1.5, 3.0])


if __name__ == "__main__":
    write(__file__, cases())
