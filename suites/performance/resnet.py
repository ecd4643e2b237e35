"""An image classifier of ResNet-50's shape with seeded random weights: 53 convolutions, 25.6 million parameters.

The architecture is He et al. 2015 (arXiv 1512.03385, table 1, column 50-layer); nothing is downloaded.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor, nn


class Bottleneck(nn.Module):
    """1x1, 3x3, 1x1 convolutions around a shortcut; the last one widens by four."""

    def __init__(self, inside: int, outside: int, stride: int) -> None:
        super().__init__()
        wide = 4 * outside
        self.path = nn.Sequential(
            nn.Conv2d(inside, outside, 1, bias=False),
            nn.BatchNorm2d(outside),
            nn.ReLU(),
            nn.Conv2d(outside, outside, 3, stride, 1, bias=False),
            nn.BatchNorm2d(outside),
            nn.ReLU(),
            nn.Conv2d(outside, wide, 1, bias=False),
            nn.BatchNorm2d(wide),
        )
        same = stride == 1 and inside == wide
        self.shortcut = (
            nn.Identity() if same else nn.Sequential(nn.Conv2d(inside, wide, 1, stride, bias=False), nn.BatchNorm2d(wide))
        )

    def forward(self, x: Tensor) -> Tensor:
        """[rows, inside, h, w] -> [rows, 4 * outside, h / stride, w / stride]."""
        return torch.relu(self.path(x) + self.shortcut(x))


@cache
def resnet50(classes: int = 1000, seed: int = 1729) -> nn.Module:
    """Return the classifier: float32 [rows, 3, h, w] -> float32 [rows, classes]."""
    torch.manual_seed(seed)
    layers: list[nn.Module] = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inside = 64
    for outside, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for number in range(blocks):
            layers.append(Bottleneck(inside, outside, stride if number == 0 else 1))
            inside = 4 * outside
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inside, classes))
