"""The smallest program that evaluates on several cards.

Run it with: msrun --worker_num=2 --local_worker_num=2 --join=True examples/two_cards.py
"""

import mindspore as ms
from mindspore.communication import get_rank, init

from mindeval import Accuracy

ms.set_device("CPU")  # on cards: "Ascend" (not run there yet)
init()

predictions, labels = {0: ([1, 0], [1, 1]), 1: ([2], [2])}[get_rank()]  # uneven shards: two samples here, one there
accuracy = Accuracy(distributed=True)
accuracy.update(predictions, labels)
print(f"accuracy {accuracy.eval()} over {accuracy.result()['total']} samples")  # every rank prints 2/3 over 3 samples
