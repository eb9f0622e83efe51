"""``python -m mindeval.kernels``: the back end in use for each device and dtype, and why."""

from .dispatch import info


def main() -> None:
    for row in info():
        print(f"{row.device:7} {row.dtype:9} {row.name:10} {row.reason}")


if __name__ == "__main__":
    main()
