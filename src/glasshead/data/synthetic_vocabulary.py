"""Words of the synthetic reviews, written for Glasshead: what they mean is planted, not learnt from a corpus.

Each word belongs to one group and is one token of `train_tokenizer`; none ends in a digit, so that
`extend_vocabulary` can make more of them by counting.
"""

from collections.abc import Sequence


def split_words(text: str) -> tuple[str, ...]:
    """The words of a text."""
    return tuple(text.split())


POSITIVE = split_words(
    """
    wonderful delightful charming brilliant superb stirring heartfelt funny gorgeous dazzling graceful
    uplifting inspired masterful refreshing touching witty memorable captivating luminous joyful radiant
    splendid magnificent tender thrilling elegant enchanting excellent terrific lovely warm clever
    hilarious fresh stunning rewarding engaging marvelous exquisite vibrant sparkling poignant
    satisfying glorious smart lively fantastic beautiful perfect
"""
)

NEGATIVE = split_words(
    """
    dreadful boring dull clumsy awful terrible bland tedious lifeless shallow predictable hollow
    incoherent dreary forgettable lazy stale annoying horrible sloppy messy pointless tiresome wooden
    weak flat ugly insipid pretentious contrived muddled painful disappointing mediocre soulless limp
    grating ridiculous stupid cheap empty bloated lame vapid shoddy joyless inept poor unfunny bad
"""
)

NEUTRAL_WORDS = split_words(
    """
    a about above across after again against ago all almost along already also although always among an
    and another any apart are around as aside at away back because been before behind being below
    beneath beside between beyond both but by can could did do does done down during each either else
    enough even ever every far few for from further given had half has have he hence her here hers him
    his how however if in indeed inside instead into is it its itself just last later least less many
    may me meanwhile might more most much must my near neither never next no nor not now of off often on
    once one only onto or other otherwise our out outside over own per perhaps quite rather same several
    shall she should since so some somehow somewhat soon still such than that the their them then there
    these they this those though through throughout thus till to together too toward twice two under
    until unto up upon us usually very was we were what when where whether which while who whom whose
    why will with within without would yet you your actor actress adaptation agent album ambassador
    anchor apprentice architect archer artist assistant athlete audience aunt author baker banker barber
    baritone bishop blacksmith boatman bookseller boss boy boxer brother builder butcher butler camera
    captain carpenter cashier cast cellist chairman character chauffeur chef chemist child choir chorus
    citizen clerk coach colleague colonel columnist commander composer conductor consultant cook counsel
    courier cousin crew crowd curator customer dancer daughter dealer dentist deputy designer director
    diplomat diver doctor driver drummer duchess duke editor electrician emperor engineer ensemble envoy
    executive extra family farmer father fiddler fisherman florist folk footman foreman friend gardener
    gentleman geologist girl governor grandfather grandmother group grower guard guest guide guitarist
    headmaster heir host hunter husband infant intern janitor jeweller journalist judge juror keeper
    king knight lady landlord lawyer leader lecturer librarian lieutenant lodger magistrate maid man
    manager mayor mechanic member merchant messenger miller miner minister model monk mother musician
    neighbour nephew niece novelist nun nurse officer operator orchestra painter parent partner
    passenger patient pedestrian pensioner people person pharmacist pianist pilot pioneer player plumber
    poet police politician porter postman president priest prince princess printer producer professor
    programmer publisher pupil queen ranger reader receptionist referee reporter resident rider roommate
    sailor salesman scholar scientist sculptor secretary senator sergeant servant shepherd shopkeeper
    sibling singer sister sitter soldier son soprano squire stranger student surgeon surveyor swimmer
    tailor teacher teenager tenant tenor toddler tourist trader trainee translator traveller treasurer
    trumpeter tutor twin uncle usher valet vendor vicar violinist visitor voter waiter waitress weaver
    widow wife woman worker writer youngster act angle backdrop background ballad bar beat biography
    book cartoon chapter chronicle cinema clip commentary concert costume credits cue curtain cut
    cutaway decade detail dialogue diary digital dissolve documentation draft drama dubbing edition
    ending episode epilogue era exposition exposure fade festival fiction figure film flashback
    foreground format frame genre handheld headline hour image insert intermission interlude
    introduction journal keynote landscape language lens letter library lighting line location lyric
    magazine manuscript map medium melody memoir microphone minute miniature monologue montage month
    mood movie musical narrative newspaper notebook novel opening outline overture page panorama
    paragraph paperback part performance period picture piece play plot poem portrait premiere prequel
    press program projector prologue prop prose question reel rehearsal release remake report role
    routine scene scenery score screen screening screenplay script season second section sentence sequel
    sequence series session set setting shadow shot silhouette sketch soliloquy sonata song sound
    soundtrack speech spotlight stage story storyboard studio style subplot subtitle summary symphony
    take tale tape technique television tempo text theatre theme title tone topic track trailer
    transition translation trilogy tripod tune version video view viewpoint viewer voice volume week
    word year zoom airport alley apartment aquarium arch arena attic avenue bakery balcony bank barn
    basement bathroom bay beach bedroom bench border boulevard bridge brook building bungalow cabin cafe
    campsite canal canyon cape castle cathedral cave ceiling cellar chapel chimney church city classroom
    cliff clinic coast college corner corridor cottage country county courtyard creek crossroads desert
    district dock doorway driveway east embassy entrance estate factory farm ferry field fireplace floor
    forest fountain gallery garage garden gate grove gym hall hallway harbour highway hill home hospital
    hotel house hut inn island jetty junction kitchen laboratory lagoon lake lane laundry lawn
    lighthouse lobby lodge lounge mansion marina market meadow metro mill monastery motel mountain
    museum north nursery oasis ocean office orchard palace park passage path pavement pavilion peninsula
    pier plain planet platform plaza pond port province pub quarry quay railway ranch reef region
    restaurant river road roof room school shed shelter shop shore sidewalk sky south square stable
    stadium staircase station steps street suburb subway summit terrace territory tower town trail
    tunnel university valley village vineyard wall warehouse waterfront west wharf windmill window
    workshop yard zone apple armchair bag ball banjo barrel basin bath bell bicycle blanket boat bolt
    boot bottle bowl bowtie bracelet branch bread brick brush bucket bulb bus button cabinet cable
    calendar canoe canvas cap car cardboard cardigan cart cello chair chalk cheese clarinet clock cloth
    coat coffee coin comb compass computer copper cord cork corn cotton couch cupboard cushion desk dial
    dish door dough drawer dress easel elbow engine fan finger flannel flask flute foot fork furniture
    glove grape guitar gutter handle harp hinge hook jeans jug keyboard knee label ladder lantern leg
    lemon lid linen lock luggage marble mask mast mat melon menu milk mirror mug nail napkin necklace
    needle newsletter nickel nut oboe onion orange organ oven parcel pasta paving pea pedal pencil pin
    pipe plank plaster plum pocket pole porcelain postcard pottery rack rail raincoat receipt recorder
    refrigerator rice robe rod rope rug saddle sail salad salt sandal saucer saxophone scarf screw seat
    shampoo sheet shelf shirt shovel slipper sock sofa soup spade stamp stapler stone stool strap table
    tablet tea teapot telephone tent tie tile timber tin toast towel tractor tray trombone tube umbrella
    uniform vase velvet vinegar
"""
)

GENRES = {
    "comedy": split_words("giggle punchline slapstick prank spoof banter clown jester gag wisecrack"),
    "romance": split_words(
        "sweetheart bouquet wedding valentine proposal honeymoon serenade courtship suitor kiss"
    ),
    "horror": split_words("ghost vampire crypt werewolf zombie coffin seance poltergeist dungeon graveyard"),
    "western": split_words("saloon sheriff cowboy stagecoach lasso prairie rustler spurs wagon outlaw"),
    "mystery": split_words("detective clue alibi suspect fingerprint sleuth witness riddle inspector motive"),
    "space": split_words("galaxy starship astronaut orbit robot asteroid android spacesuit comet alien"),
    "fantasy": split_words("wizard dragon elf sorcery potion dwarf goblin kingdom unicorn spellbook"),
    "documentary": split_words(
        "archive interview narrator footage census expedition wildlife essay fieldwork newsreel"
    ),
}


def extend_vocabulary(words: Sequence[str], size: int) -> list[str]:
    """The first ``size`` words; once they are used up, ``word2``, ``other2``, …, ``word3``, …"""
    rounds = (divmod(index, len(words)) for index in range(size))
    return [words[place] + (str(turn + 1) if turn else "") for turn, place in rounds]
