"""Lists of words that rules of the languages name."""

from __future__ import annotations

from typing import Final


def _word_list(text: str) -> frozenset[str]:
    return frozenset(text.split())


TITLES: Final = _word_list("mr mrs ms miss messrs mme mlle dr prof sir lady lord rev hon judge")
"""A name of a person follows."""

ABBREVIATIONS: Final = _word_list(
    """mr mrs ms messrs mme mlle dr prof rev hon st no nos art arts para paras cf vs v vol ed eds fig pp p ch
    sec jr sr ltd inc co corp gen col capt lt sgt gov sen rep pres min dept univ est approx al etc ca viz
    ave blvd rd jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun"""
)
"""What a full stop belongs to, and does not end a sentence by itself."""

COMMON: Final = _word_list("no art co gen ed min est fig jun mar sat sun")
"""Abbreviations that are words as well: these only before a number, or with a capital before a capital."""

CALENDAR: Final = _word_list(
    """january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday"""
)

TELLING: Final = _word_list(
    """the of and to that with by were which not from this it she been they their who when there would did its
    into after before between against you your those than then also could should because his has"""
)
"""Function words of English that are not common words of other languages in Latin letters."""

FUNCTION_WORDS: Final = TELLING | _word_list(
    "in was is for her had be at he as on an have are or but under him we i my our these if"
)
"""The commonest words of English that say nothing of a matter."""

GERMAN: Final = _word_list(
    """der die das und ist nicht ein eine einer eines einem einen den dem des von zu mit sich auf für im
    am vom zum zur bei nach wird wurde wurden werden hat habe haben hatte sind sei war waren als auch
    es an aus er sie ich wir ihr ihre ihrer ihren sein seine seiner seinen daß dass oder aber wie um
    noch nur so durch wegen seit bis über unter gegen zwischen beim ins in""",
)
FRENCH: Final = _word_list(
    """le la les l un une des du de d et est en à au aux que qui dans pour pas sur par avec ce cette ces
    il elle ils elles nous vous je se son sa ses leur leurs ne plus ou où mais comme été être sont
    était a ai ont avait depuis chez sans sous entre contre après avant c s n m j qu y""",
)
"""The commonest words of German and French, which say nothing of a matter."""

TELLING_GERMAN: Final = GERMAN - _word_list(
    "die was in er den an als wie so durch ins ein hat sei sie war es im am"
)
TELLING_FRENCH: Final = FRENCH - _word_list(
    "la de en se que un a il si le sont entre sur d s l n m c j y on ne par contre son ses je"
)
"""Those of them that are not common words of other languages in Latin letters."""

AUXILIARIES: Final = _word_list(
    "為る 居る 有る 成る 呉れる 仕舞う 出来る 御座る 致す 下さる 頂く 貰う 得る 因る 於く"
)
"""Japanese verbs that carry no meaning of their own, by their normal forms."""

PLACES: Final = _word_list(
    "都 道 府 県 市 区 町 村 郡 川 河 山 岳 海 湾 湖 島 岬 峠 谷 橋 駅 港 空港 公園 通り 街道 線 海岸"
)
ORGANIZATIONS: Final = _word_list(
    """病院 医院 診療所 クリニック 内科 外科 歯科 整形外科 小児科 薬局 大学 大学院 短大 短期大学
    高校 高等学校 中学 中学校 小学校 学校 学園 学院 幼稚園 保育園 保育所 園 塾 会社 株式会社
    有限会社 合同会社 商事 商店 商会 工業 産業 建設 製作所 工務店 運輸 運送 交通 銀行 信用金庫
    証券 生命 新聞 新聞社 出版 出版社 社 店 堂 屋 館 旅館 ホテル ビル 荘 寺 神社 教会 財団 協会
    組合 連合会 研究所 事務所 法律事務所 裁判所 警察署 消防署 図書館 博物館 美術館 ホール 会館
    センター グループ 組 部屋 ジム"""
)
"""What stands after the name of a place or an organization, which is often that of a person as well."""

BETWEEN: Final = _word_list(
    """記念 総合 中央 市民 県立 市立 町立 国立 私立 女子 第 一 二 三 医科 工科 付属 附属 電機 電器
    不動産 交通"""
)
"""What may stand between a name and the word that says of what it is the name."""
