"""A class for every family that is released in one piece of one table, made of what the family declares.

>>> from privet import Schema, families, number
>>> schema = Schema({"age": number(0, 100)}, target="ill", classes=["no", "yes"])
>>> people = {"age": list(range(100)) * 50, "ill": ["no", "yes"] * 2500}
>>> made = families.PrivateDescribe(1, bins=4, schema=schema).fit(people)
>>> made.released_.task, made.certificate_.epsilon, bool(len(made.released_.numbers))
('describe', 1.0, True)
"""

from __future__ import annotations

import json

from privet import _privet
from privet.releasing import family

__all__ = []
for _declared in json.loads(_privet.offered()):
    _made = family(_declared, __name__)
    globals()[_made.__name__] = _made
    __all__.append(_made.__name__)
