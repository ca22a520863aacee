"""The error that a user can mend."""


class InputError(Exception):
    """Something the user gave cannot be used.

    The message is one sentence (or a few) that names the file or key, says what is wrong with it and what to
    do. It reaches the user as it is, without a traceback.
    """
