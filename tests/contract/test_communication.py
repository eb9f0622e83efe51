"""What tells that this process is one of several. No collective is called: before init() it is a segmentation fault."""

from __future__ import annotations

import subprocess
import sys

LOOK = """
import mindspore
from mindspore.communication import GlobalComm, get_group_size, get_rank
print(GlobalComm.INITED, get_rank(), get_group_size(), GlobalComm.WORLD_COMM_GROUP)
"""


def test_without_init_the_state_says_so_but_rank_and_size_look_like_one_card():
    """Why ``distributed.initialised`` asks ``GlobalComm.INITED`` and not ``get_group_size``."""
    shown = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, check=True).stdout
    inited, rank, size, group = shown.split()[-4:]
    assert (inited, rank, size) == ("False", "0", "1")
    assert group in ("hccl_world_group", "nccl_world_group", "mccl_world_group")
