"""What a caller should know and may have missed."""


class PrivacyWarning(UserWarning):
    """Something that weakens or voids a guarantee; the base of the others."""


class NotPrivateWarning(PrivacyWarning):
    """The noise is repeatable: the model is not private."""


class PublicClassesWarning(PrivacyWarning):
    """The list of classes was taken from the labels."""


class RepeatedFitWarning(PrivacyWarning):
    """Several models were fitted: what they reveal adds up."""
