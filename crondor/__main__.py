"""`python -m crondor`: the command `crondor`, where its folder is not on the PATH."""

if __name__ == "__main__":
    from crondor_cli.main import script

    script()
