"""Rules written as a ClassAd, and their conversion to commands exactly as HTCondor does it, its defects included.

Routes were written so up to HTCondor 24, and JOB_TRANSFORM_ knobs up to 25.9.
"""
