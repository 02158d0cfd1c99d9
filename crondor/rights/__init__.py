"""Whose rights: the accounts of this machine, acting as one of them, and what of theirs is believed.

``accounts`` knows users by name and number. ``as_account(account, deed)`` (``acting``) does something as a user, for
whom root alone may act. ``walk`` goes along a path piece by piece. ``trust`` says whether nobody else can have had a
hand in a file or folder.
"""
