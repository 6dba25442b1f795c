"""Makes vectors.json: scattering coefficients by numpy, filters sampled in space, not in closed form."""
import json
import numpy as np

GRID, ANGLES = 32, 8


def gabor(deviation, angle, wave, slant):
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    curvature = turn @ np.diag([1, slant**2]) @ turn.T / (2 * deviation**2)
    total = np.zeros((GRID, GRID), complex)
    for down in range(-2, 3):
        for right in range(-2, 3):
            y, x = np.mgrid[down * GRID : (down + 1) * GRID, right * GRID : (right + 1) * GRID]
            bent = curvature[0, 0] * y * y + 2 * curvature[0, 1] * y * x + curvature[1, 1] * x * x
            total += np.exp(-bent + 1j * wave * (y * np.cos(angle) + x * np.sin(angle)))
    return total / (2 * np.pi * deviation**2 / slant)


def morlet(scale, number):
    angle = (ANGLES // 2 - 1 - number) * np.pi / ANGLES
    deviation, wave, slant = 0.8 * 2**scale, 0.75 * np.pi / 2**scale, 4 / ANGLES
    wavy, plain = gabor(deviation, angle, wave, slant), gabor(deviation, angle, 0, slant)
    return np.fft.fft2(wavy - wavy.sum() / plain.sum() * plain)


def mean(image):
    middles = 2 + 1.5 + 4 * np.arange(7)
    weights = np.exp(-(((np.arange(0, GRID, GRID // len(image)) - middles[:, None]) / 1.6) ** 2) / 2)
    weights /= weights.sum(1, keepdims=True)
    return weights @ image @ weights.T


def main():
    pixels = np.zeros((GRID, GRID))
    y, x = np.mgrid[:28, :28]
    pixels[2:30, 2:30] = ((7 * y + 3 * x) % 29) / 28
    modulus = lambda image, filter: np.abs(np.fft.ifft2(np.fft.fft2(image) * filter))
    fine = [modulus(pixels, morlet(0, a)) for a in range(ANGLES)]
    maps = [mean(pixels)] + [mean(u) for u in fine]
    maps += [mean(modulus(pixels, morlet(1, a))[::2, ::2]) for a in range(ANGLES)]
    maps += [mean(modulus(u, morlet(1, a))[::2, ::2]) for u in fine for a in range(ANGLES)]
    places = [(m, p) for m in range(81) for p in ((5 * m) % 49, (11 * m + 20) % 49)]
    print(json.dumps([[m, p, round(float(maps[m].flat[p]), 8)] for m, p in places]))


main()
