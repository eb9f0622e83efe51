"""The texts of a diagnosis, in English and Chinese: what was found, with its numbers, and what can be done."""

from __future__ import annotations

# kind -> language -> (message, advice); names in braces are the evidence's
TEXTS: dict[str, dict[str, tuple[str, str]]] = {
    "not_finite": {
        "en": (
            "{names} became NaN or infinite, first at step {first_step} ({windows} values).",
            "Lower the learning rate, clip gradients, look for overflow in half precision, and go back to a checkpoint "
            "from before this step.",
        ),
        "zh": (
            "{names} 出现 NaN 或无穷大，首次在第 {first_step} 步（共 {windows} 个值）。",
            "降低学习率、裁剪梯度、检查半精度溢出，并从该步之前的检查点恢复。",
        ),
    },
    "rising": {
        "en": (
            "The training loss rose from {first} to {last} between steps {first_step} and {last_step}.",
            "Lower the learning rate or lengthen its warm-up; check the sign of the loss and the order of the data.",
        ),
        "zh": (
            "训练损失在第 {first_step} 步到第 {last_step} 步之间从 {first} 升到 {last}。",
            "降低学习率或延长预热；检查损失的符号和数据的顺序。",
        ),
    },
    "rising_again": {
        "en": (
            "The training loss rises again since step {since}: from {lowest} to {last} at step {last_step}.",
            "Go back to a checkpoint from before this step; lower the learning rate or let it decay, clip gradients, "
            "and look at the data from there on.",
        ),
        "zh": (
            "训练损失自第 {since} 步起再次上升：从 {lowest} 升到第 {last_step} 步的 {last}。",
            "从该步之前的检查点恢复；降低学习率或使其衰减，裁剪梯度，并检查此后的数据。",
        ),
    },
    "not_falling": {
        "en": (
            "The training loss did not fall: {first} at the start (step {first_step}), {last} at the end (step "
            "{last_step}).",
            "Check that the labels belong to the inputs and are shifted once, that parameters get gradients, and that "
            "the learning rate is neither 0 nor far too high.",
        ),
        "zh": (
            "训练损失没有下降：开始（第 {first_step} 步）为 {first}，结束（第 {last_step} 步）为 {last}。",
            "检查标签是否与输入对应且只移位一次、参数是否有梯度、学习率是否为 0 或过高。",
        ),
    },
    "plateau": {
        "en": (
            "The training loss has been flat since step {since}, near {level} ({last} at step {last_step}).",
            "Change the learning rate, or stop here: more of the same steps bring nothing. A larger model or more "
            "varied data may.",
        ),
        "zh": (
            "训练损失自第 {since} 步起基本不变，约为 {level}（第 {last_step} 步为 {last}）。",
            "调整学习率，或就此停止：继续同样的训练没有收益。更大的模型或更多样的数据可能有用。",
        ),
    },
    "still_falling": {
        "en": (
            "Underfitting: the training loss was still falling when the run ended, from {before} to {last} in its last "
            "fifth.",
            "Train longer, raise the learning rate, or use a larger model.",
        ),
        "zh": (
            "欠拟合：训练结束时损失仍在下降，最后五分之一内从 {before} 降到 {last}。",
            "延长训练、提高学习率，或使用更大的模型。",
        ),
    },
    "spikes": {
        "en": (
            "The training loss jumped to {loss} at step {step}, where {usual} was usual (all such steps: {steps}).",
            "Look at the data of these steps; clip gradients; lower the learning rate if it happens again.",
        ),
        "zh": (
            "训练损失在第 {step} 步跳到 {loss}，此前通常为 {usual}（所有尖峰步：{steps}）。",
            "检查这些步的数据；裁剪梯度；若反复出现则降低学习率。",
        ),
    },
    "overfitting": {
        "en": (
            "Overfitting since step {began}: {name} rose from {lowest} to {end} (in nats, step {last_step}) while the "
            "training loss fell from {train_then} to {train_now}.",
            "Use the checkpoint of step {began}; stop earlier, get more data, or regularise (dropout, weight decay).",
        ),
        "zh": (
            "自第 {began} 步起过拟合：{name} 从 {lowest} 升到 {end}（单位 nat，第 {last_step} 步），"
            "而训练损失从 {train_then} 降到 {train_now}。",
            "使用第 {began} 步的检查点；提前停止、增加数据，或加正则化（dropout、权重衰减）。",
        ),
    },
    "gap": {
        "en": (
            "At step {step} {name} is {evaluation} nats on the evaluation data, {train} in training.",
            "Check that both are of the same kind of data, tokenised and masked alike; if so, the model remembers its "
            "training data: more data or regularisation help.",
        ),
        "zh": (
            "第 {step} 步时评估数据上的 {name} 为 {evaluation} nat，训练损失为 {train}。",
            "确认两者的数据类型、分词与掩码方式一致；若一致，则模型在记忆训练数据：增加数据或加正则化。",
        ),
    },
    "scores_fall": {
        "en": (
            "{score} fell from {best} (step {step}) to {end}, while {name} improved from {loss_then} to {loss_now} "
            "nats.",
            "Read some generated texts: empty, repeated or badly ended ones lower the score and not the loss. Check "
            "the end-of-text token, the prompt and the decoding settings.",
        ),
        "zh": (
            "{score} 从 {best}（第 {step} 步）降到 {end}，而 {name} 从 {loss_then} 改善到 {loss_now} nat。",
            "阅读一些生成文本：空的、重复的或未正常结束的文本会降低分数而不影响损失。检查结束符、提示词和解码设置。",
        ),
    },
    "score_not_finite": {
        "en": ("{name} is {value}.", "Look at `nan` and `inf` of its result() for how many values were not finite."),
        "zh": ("{name} 为 {value}。", "查看其 result() 中的 `nan` 和 `inf`，确认有多少值不是有限数。"),
    },
    "zero_score": {
        "en": (
            "{name} is exactly 0.",
            "Check that predictions are not empty and belong to their references. For Chinese choose a Chinese "
            "tokenizer: words are not separated by spaces. For short texts choose a smoothing.",
        ),
        "zh": (
            "{name} 恰好为 0。",
            "检查预测是否为空、是否与参考一一对应。中文没有空格分词，请选择中文分词器；短文本请选择平滑方法。",
        ),
    },
    "zero_score_english_tokens": {
        "en": (
            "{name} is exactly 0 with a tokenizer that separates words at spaces.",
            'For Chinese choose tokenize="zh"; else check that predictions are not empty and belong to their '
            "references.",
        ),
        "zh": (
            "{name} 恰好为 0，且所用分词器按空格切词。",
            '中文请设 tokenize="zh"；否则检查预测是否为空、是否与参考一一对应。',
        ),
    },
    "at_chance": {
        "en": (
            "{name} is {value}, which is what guessing gives ({chance}).",
            "Check the order of options and labels, and the tokens that stand for the options after the real prompt.",
        ),
        "zh": (
            "{name} 为 {value}，与随机猜测（{chance}）相当。",
            "检查选项与标签的顺序，以及选项在真实提示词之后对应的 token。",
        ),
    },
    "yes_rate": {
        "en": (
            '{name}: the share of "yes" is {value}: the model gives one answer whatever is asked.',
            "Do not read its accuracy as understanding; balance the questions, or calibrate the threshold.",
        ),
        "zh": (
            "{name}：回答“是”的比例为 {value}：无论问什么模型都给同一答案。",
            "不要把它的准确率当作理解能力；平衡问题，或校准阈值。",
        ),
    },
    "tiny_mass": {
        "en": (
            "{name}: the candidates hold {value} of the probability: the model would answer something else.",
            "Check the prompt and the candidate tokens (with or without a space before them), or score generated text.",
        ),
        "zh": (
            "{name}：候选答案只占 {value} 的概率：模型本会回答别的内容。",
            "检查提示词和候选 token（前面有无空格），或改为对生成文本评分。",
        ),
    },
    "nothing_found": {
        "en": ("Nothing found (looked at: {judged}).", ""),
        "zh": ("未发现问题（检查了：{judged}）。", ""),
    },
    "nothing_to_judge": {"en": ("nothing, there is too little data", ""), "zh": ("无，数据太少", "")},
    "advice": {"en": ("Advice: ", ""), "zh": ("建议：", "")},
    "error": {"en": ("error", ""), "zh": ("错误", "")},
    "warning": {"en": ("warning", ""), "zh": ("警告", "")},
    "note": {"en": ("note", ""), "zh": ("提示", "")},
}
