"""Which sites do answers draw on? Domains cited and retrieved, with the brands that own them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from brandvane.catalogue import Brand
from brandvane.mentions.citations import ascii_host, registrable_domain
from brandvane.mentions.tally import Tally
from brandvane.report.figures import Target

SHOWN_MAX = 25


@dataclass(frozen=True, slots=True)
class Site:
    """A domain ("" where a redirect does not say which): sources of each target that were cited, and how often it was only
    retrieved. ``owners`` are the names of brands with a domain there.
    """

    domain: str
    owners: tuple[str, ...]
    cited: tuple[int, ...]
    retrieved: int

    @property
    def total(self) -> int:
        """Cited, of all targets."""
        return sum(self.cited)


@dataclass(frozen=True, slots=True)
class Sites:
    """The most cited ones. ``total``: how many domains there are in all; ``cited``: sources; ``citing``: answers with any."""

    shown: tuple[Site, ...]
    total: int
    cited: int
    citing: int


def sites(tally: Tally, brands: Sequence[Brand], targets: Sequence[Target]) -> Sites:
    """Domains, most cited first."""
    owners: dict[str, list[str]] = {}
    for brand in brands:
        for domain in dict.fromkeys(registrable_domain(ascii_host(each)) for each in brand.domains):
            owners.setdefault(domain, []).append(brand.name)
    cited, retrieved = Counter[str](), Counter[str]()
    for target in tally.targets.values():
        cited.update(target.cited)
        retrieved.update(target.retrieved)
    order = sorted({*cited, *retrieved}, key=lambda domain: (-cited[domain], -retrieved[domain], domain))
    shown = tuple(
        Site(
            domain,
            tuple(owners.get(domain, ())),
            tuple(tally.targets[t.name].cited[domain] for t in targets),
            retrieved[domain],
        )
        for domain in order[:SHOWN_MAX]
    )
    citing = sum(target.numbers["citing"] for target in tally.targets.values())
    return Sites(shown, len(order), sum(cited.values()), citing)
