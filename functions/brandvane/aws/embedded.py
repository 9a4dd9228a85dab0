"""How do workers' metrics reach CloudWatch? As lines of their own log, in its embedded metric format; no request is made for them.

Powertools writes the line. Its own default dimension (``service``) is left out: a metric has the dimensions of ``metrics.py`` and no
other, because each further set of dimensions is billed as a further metric.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from brandvane.metrics import METRICS, NAMESPACE, dimensions


def write(stack: str, values: Mapping[tuple[str, str], Sequence[float]]) -> None:
    """One line a platform with every value of every metric (a distribution: any percentile can be asked of it)."""
    from aws_lambda_powertools.metrics.provider.cloudwatch_emf.cloudwatch import AmazonCloudWatchEMFProvider

    for platform in sorted({of for _, of in values}):
        line = AmazonCloudWatchEMFProvider(namespace=NAMESPACE, dimension_set=dict(dimensions(stack, platform or None)))
        line.service = ""
        for (name, of), numbers in sorted(values.items()):
            for number in numbers if of == platform else ():
                line.add_metric(name, METRICS[name].unit, number)
        line.flush_metrics()
