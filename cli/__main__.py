"""`python -m cheblienet_cli`, which is `clg`."""

from cheblienet_cli.main import main

if __name__ == "__main__":  # workers of a build import it, too
    main()
