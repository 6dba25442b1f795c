"""What a caller should know and may have missed."""


class PrivacyWarning(UserWarning):
    """Something that weakens or voids a guarantee; the base of the others."""


class NotPrivateWarning(PrivacyWarning):
    """The noise is repeatable: the model is not private."""


class NotValidWarning(PrivacyWarning):
    """A certificate does not hold: what it claims is not repeated."""


class PublicClassesWarning(PrivacyWarning):
    """The list of classes was taken from the labels."""


class FittedTransformerWarning(PrivacyWarning):
    """A step before a private estimator was fitted on the records: the guarantee does not cover it."""


class RepeatedFitWarning(PrivacyWarning):
    """Several models were fitted: what they reveal adds up."""
