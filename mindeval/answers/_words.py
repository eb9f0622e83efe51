"""Words that the rules of several files look for, as pieces of patterns, so that each list is written once."""

from __future__ import annotations

THEREFORE = r"(?:so|therefore|thus|hence|consequently)"
THEREFORE_ZH = r"(?:所以|因此|因而|故(?![事障意宫乡])|综上(?:所述)?)"
TOTAL = r"(?:totals?|totall?ing|sum|altogether)"
TOTAL_ZH = r"(?:一共|总共|合计|共(?!同))"

# Who may hold another opinion than the writer, and how it is told.
PEOPLE = (
    r"(?:some|many|most|several|few|others?|another|people|students?|everyone|everybody|someone|somebody|anyone"
    r"|nobody|critics|experts?|scholars?|he|she|they|you|who|friends?|teachers?|classmates?|colleagues?|users?|them"
    r"|him|her|rumou?r|readers?|candidates?|popular|common|my \w+|one|wikipedia|google|chatgpt|gpt)"
)
PEOPLE_ZH = (
    r"(?:(?<![个本])人们?|同学们?|学生们?|老师|他们?|她们?|你们?|您|大家|谁|专家|网友|考生|朋友|家长|学者|读者|对方"
    r"|网上|书上|小[明红刚华李王张丽强亮芳军东]"
    r"|[张王李赵刘陈]某|有的|有些|一些|不少|许多|很多|多数|少数|部分|甲|乙|丙)"
)
SAYS = (
    r"(?:say|says|said|think|thinks|thought|believes?|believed|claims?|claimed|argues?|argued|suggest|suggested"
    r"|assumes?|assumed|guess|guesses|guessed|insists?|insisted|states?|stated|answers?|answered|replies|replied"
    r"|told|tells?|maintains?|feels?|felt|suspects?|holds?|held|concludes?|concluded|proposes?|proposed|reckons?"
    r"|supposes?|heard|rumou?red)"
)


def word(pattern: str) -> str:
    """The pattern between the edges of a word."""
    return rf"(?<!\w){pattern}(?!\w)"
