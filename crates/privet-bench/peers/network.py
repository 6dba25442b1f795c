"""Opacus, and torch alone, on the papers' net for handwritten digits: seconds a training step.

A question names the mode, the size of the batch, the threads and the noise; the answer is the fastest step
within two seconds. Made-up digits, on which a step takes as long as on real ones. Modes: `plain` is torch
without privacy; `hooks`, `ew` (expanded weights), `functorch` and `ghost` are Opacus's ways to clip example by
example. A step is gradient, clipping, noise where asked, and the update.
"""

import time
from functools import cache
from importlib.metadata import version

import torch
from opacus import PrivacyEngine
from torch import nn

from serving import serve, timed

SECONDS = 2.0


def net():
    return nn.Sequential(
        nn.Conv2d(1, 16, 8, stride=2, padding=3),
        nn.ReLU(),
        nn.MaxPool2d(2, 1),
        nn.Conv2d(16, 32, 4, stride=2),
        nn.ReLU(),
        nn.MaxPool2d(2, 1),
        nn.Flatten(),
        nn.Linear(512, 32),
        nn.ReLU(),
        nn.Linear(32, 10),
    )


@cache
def stepper(mode, batch, noise, device):
    """A function that makes one training step."""
    torch.manual_seed(1)
    inputs = torch.rand(batch, 1, 28, 28, device=device)
    classes = torch.arange(batch, device=device) % 10
    model, criterion = net().to(device), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    if mode != "plain":
        table = torch.utils.data.TensorDataset(inputs, classes)
        loader = torch.utils.data.DataLoader(table, batch_size=batch)
        made = PrivacyEngine().make_private(
            module=model,
            optimizer=optimizer,
            data_loader=loader,
            criterion=criterion,
            noise_multiplier=noise,
            max_grad_norm=1.0,
            poisson_sampling=False,
            grad_sample_mode=mode,
        )
        model, optimizer = made[0], made[1]
        criterion = made[2] if mode == "ghost" else criterion
        if not noise and mode != "ghost":
            optimizer.attach_step_hook(lambda optimizer: None)

    def step():
        optimizer.zero_grad()
        criterion(model(inputs), classes).backward()
        optimizer.step()
        if device != "cpu":
            torch.cuda.synchronize()

    return step


def answer(question):
    device = question.get("device", "cpu")
    torch.set_num_threads(question["threads"])
    step = stepper(question["mode"], question["batch"], question["noise"], device)
    for _ in range(3):
        step()
    fastest, end = float("inf"), time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        fastest = min(fastest, timed(step)[0])
    return {"seconds": fastest}


if __name__ == "__main__":
    serve({"opacus": version("opacus"), "torch": version("torch")}, answer)
