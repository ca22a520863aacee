"""The words that names and things of the generated world are put together from."""

# ruff: noqa: SIM905 (lists of words are easier to read, and to add to, as one text)

from itertools import product

WOMEN = tuple(
    "Agnes Alice Amelia Anna Beatrice Bridget Cecilia Clara Cora Daisy Dora Edith Eleanor Ella Emma Esther Eva "
    "Flora Frances Greta Hannah Helen Ida Irene Isabel Jane Joan Julia Kate Laura Lena Lily Lucy Mabel "
    "Margaret Martha Mary Nancy Nora Olive Paula Rachel Rosa Ruth Sarah Sophie Stella Susan Sylvia Vera".split()
)
MEN = tuple(
    "Adam Albert Alfred Arthur Ben Bernard Carl Charles Daniel David Edgar Edwin Felix Francis Frank George "
    "Gilbert Harold Henry Hugo Ivan Jack Jacob James John Joseph Karl Leo Leonard Louis Luke Mark Martin Max "
    "Michael Nathan Oscar Otto Patrick Paul Peter Philip Ralph Robert Roger Samuel Simon Thomas Victor Walter".split()
)
_SURNAMES = tuple(
    first + last
    for first, last in product(
        "Ash Barn Black Brook Clay Crow Dun Fair Gold Hart Hol Kel Lock Marl North Penn Rook Sand Stan Whit".split(),
        "bourne croft field ford hurst land ley man more ridge shaw well wood".split(),
    )
)
_TOWNS = tuple(
    first + last
    for first, last in product(
        "Alder Bram Cold Elm Fern Grim Hazel Kest Lang Mab Nor Oat Pen Quarr Rush Salt Thorn Ul Wind Yol".split(),
        "bury by combe dale gate ham mere mouth port stead ton wick worth".split(),
    )
)
TOWN_SIDES = tuple("East Great High Little Lower New Old Upper West".split())
_EMBLEMS = tuple(
    "Amber Anchor Apple Arrow Barley Bell Candle Cedar Cherry Copper Coral Crane Crystal Eagle Falcon Feather "
    "Fiddle Garden Hammer Harp Harvest Heron Honey Iron Ivory Jasper Lantern Laurel Lemon Lily Lion Maple "
    "Meadow Mirror Moon Oak Orchid Otter Owl Pearl Pepper Pine Plum Raven Ribbon River Rose Saddle Salmon "
    "Shell Silver Sparrow Spring Star Stone Swan Tiger Tulip Velvet Violet Willow Winter".split()
)
_TITLE_WORDS = tuple(
    "Bitter Blind Blue Bright Broken Burning Crooked Dark Distant Double Empty Endless Faithful Fallen Final "
    "First Forgotten Frozen Gentle Golden Green Grey Hidden Hollow Hungry Last Lonely Long Lost Lucky Narrow "
    "New Old Pale Patient Quiet Red Restless Sacred Secret Seventh Silent Sleeping Stolen Strange Sunken Third "
    "White Wild Wooden".split()
)
_TITLE_NOUNS = tuple(
    "Bridge Castle Circle Cloud Coast Corner Crown Daughter Door Dream Evening Father Field Fire Forest "
    "Fountain Gate Ghost Guest Harbour Hill Horse House Island Journey Key King Lake Letter Light Morning "
    "Mountain Night Ocean Orchard Path Pilot Prince Promise Queen Rain Road Room Sailor Sea Shadow Ship Sister "
    "Sky Stair Stranger Street Summer Tower Valley Village Voice Wall Well Window".split()
)
_EVENTS = tuple(
    "Ball Banquet Carnival Concert Congress Contest Exhibition Fair Feast Festival Market Parade Race Regatta "
    "Show Tournament".split()
)
_RIVERS = tuple(
    first + last
    for first, last in product(
        "Ard Bel Cam Dor Esk Fal Gar Har Ist Jor Lin Mel Nar Orr Pol Rin Sel Tav Urd Ver".split(),
        "en ing le ow un".split(),
    )
)
WORK_SORTS = ("novel", "painting", "opera")

# What the splits divide between them.
PROPER_NAMES = {
    "surname": _SURNAMES,
    "town": _TOWNS,
    "work": tuple(product(_TITLE_WORDS, _TITLE_NOUNS)),
    "event": tuple(product(_EMBLEMS, _EVENTS)),
    "river": _RIVERS,
    "prize": tuple(product(_EMBLEMS, ("Cup", "Medal", "Prize"))),
}

INSTITUTION_WORDS = tuple("free large local modern poor private public rural small weekly".split())
INSTITUTIONS = tuple("academy bakery bank brewery choir clinic club hospital library newspaper school theatre".split())
MATERIALS = tuple("brass bronze clay copper glass iron ivory leather silk silver tin wool".split())
THINGS = tuple("bell box chair clock coat cup drum flute hat lamp map mirror ring violin watch whistle".split())
STONES = tuple("brick granite limestone marble sandstone slate steel stone timber".split())
BUILDINGS = tuple("barn bridge canal chapel dam granary hotel lighthouse mill pier stable tower tunnel".split())
SCENE_WORDS = tuple("cold famous great long royal sad sudden terrible violent".split())
SCENES = tuple("battle dance escape funeral harvest hunt meeting siege storm trial voyage wedding winter".split())
PROFESSIONS = tuple(
    "actor baker barber butcher carpenter clerk cook doctor driver engineer farmer gardener guard judge lawyer "
    "librarian miner nurse pilot porter potter priest sailor soldier tailor teacher weaver".split()
)
FIELDS = tuple(
    "anatomy astronomy biology botany chemistry dance drama economics French geography geology geometry "
    "grammar Greek history latin law logic mathematics medicine music philosophy physics poetry theology "
    "zoology".split()
)
PRODUCTS = tuple(
    "beer bricks butter cheese cloth coal cotton glass honey leather lime linen oil paper salt silk soap steel "
    "sugar tea timber tobacco wheat wine wool".split()
)
MONTHS = tuple("January February March April May June July August September October November December".split())
SMALL_NUMBERS = tuple("two three four five six seven eight nine ten eleven twelve".split())
LARGE_NUMBERS = tuple("twenty thirty forty fifty sixty seventy eighty ninety 120 150 200 250 300 400 500 600".split())
