"""Writes sampled.json: Poisson-sampled Gaussian releases by dp-accounting's privacy-loss distributions.

Each case holds an event in privet's own serialised form, an epsilon, and dp-accounting's optimistic
and pessimistic delta at discretisation 1e-5.

    pip install dp-accounting && python sampled.py
"""

from loss_distributions import RELATIONS, case, gaussian, laplace, poisson, pure, write


def cases():
    deltas = [1e-2, 1e-5, 1e-8]
    for relation in RELATIONS:
        for rate, scale, count in [
            (0.01, 1.0, 1),
            (0.1, 0.5, 1),
            (0.01, 1.0, 100),
            (0.01, 1.0, 10_000),
            (0.1, 1.0, 10),
            (0.1, 1.0, 1_000),
            (0.5, 2.0, 50),
            (0.9, 4.0, 20),
            (0.004, 0.6, 2_500),
            (0.05, 3.0, 4_000),
            (0.2, 10.0, 5_000),
            (0.001, 0.8, 30_000),
            (1.0, 5.0, 20),
            (0.02, 0.4, 5),
            (0.001, 1.0, 1_000_000),
            (0.02, 20.0, 100_000),
        ]:
            yield from case([(poisson(relation, rate, scale), count)], deltas=deltas)
        for parts in [
            [((0.01, 1.0), 500), ((0.1, 3.0), 100)],
            [((0.02, 0.8), 50), ((1.0, 6.0), 1)],
            [((0.3, 2.0), 10), ((0.01, 0.7), 10), ((0.003, 0.5), 300)],
        ]:
            yield from case([(poisson(relation, *part), n) for part, n in parts], deltas=deltas)
        for other, n in [(laplace(0.2, relation), 3), (pure(0.1, relation), 10), (gaussian(0.3, relation), 1)]:
            yield from case([(poisson(relation, 0.01, 0.9), 1_000), (other, n)], deltas=deltas)


if __name__ == "__main__":
    write(__file__, cases())
