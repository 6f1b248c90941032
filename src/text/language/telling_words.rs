//! Which words tell a language?
//!
//! Function words, which questions and texts of a language are made with whatever they are about, and a few others of
//! short questions about prices and hours.

use super::NaturalLanguage;

/// The words that questions of a language of the Latin script are made with, beside what they are about, in lower case
/// with a space between.
pub(super) const FUNCTION_WORDS: &[(NaturalLanguage, &str)] = &[
    (
        NaturalLanguage::English,
        "a about after all am an and any are as at be been before but by can could did do does for from had has \
         have how i if in into is it its many may me much my not of off on or our out per should since so than \
         that the their them there these they this those to under until up us was we were what when where which \
         while who whom whose why will with within without would you your",
    ),
    (
        NaturalLanguage::German,
        "ab aber alle als am an auch auf aus bei beim bin bis braucht da dafür dann darf das dem den der des die \
         dies diese dieser dürfen ein eine einem einen einer eines er es für gegen gibt habe haben hat hatte ich \
         ihr ihre im in ist kann kein keine können kostet lange man mein meine mich mir mit muss müssen nach \
         nicht noch nur ob oder ohne seit sich sie sind soll sollte über um und uns unser unter viel viele vom \
         von vor wann war waren warum was weder welche welchem welchen welcher welches wem wen wenn wer werden \
         weshalb wessen wie wieso wieviel wieviele wir wird wo wobei wofür woher wohin womit wozu wurde wurden zu zum zur \
         zwischen",
    ),
    (
        NaturalLanguage::French,
        "à après au aux avec avant ce cela ces cette chez combien comment d dans de depuis des doit dois du elle \
         en entre est et eu fait faut il ils je l la laquelle le lequel les lesquelles lesquels leur mes moi mon \
         ne nos notre nous on ont ou où par pas pendant peut peux plus pour pourquoi qu quand que quel quelle \
         quelles quels qui quoi s sa sans se ses si son sont sous sur ta tes ton tu un une vos votre vous été \
         était",
    ),
    (
        NaturalLanguage::Spanish,
        "a al antes como con cuál cuáles cuándo cuánta cuántas cuánto cuántos cual cuales cuando cuanta cuantas cuanto cuantos cómo de debe \
         debo del desde donde dónde durante el ella ellos en entre era es esta este esto está están fue fueron \
         ha hace hasta hay la las le lo los mi mis más no nos o para pero por puede puedo que quien quienes quién \
         quiénes qué se ser si sin sobre son su sus tengo tiene tienen tras tu un una y yo",
    ),
    (
        NaturalLanguage::Italian,
        "a agli ai al alla alle anche che chi ci come con cosa cos da dal dalla dei del della delle dello deve \
         devo di dopo dove dov e era essere gli ha hanno ho i il in io l la le lo loro ma mi mia mio nei nel \
         nella non o ogni per perché più posso prima può qual quale quali quando quanta quante quanti quanto \
         questa questo se senza si sono stata stato su sua sul sulla suo tra tutti un una uno viene è",
    ),
    (
        NaturalLanguage::Portuguese,
        "a antes ao aos as até com como da das de depois deve devo do dos e ela ele em entre era essa esse esta \
         este está eu foi foram há isso já mais meu minha muito na nas no nos não o onde os ou para pela pelo \
         pode por porque posso preciso quais qual quando quanta quantas quanto quantos que quem se sem ser seu \
         sobre são sua tem tenho têm um uma à é",
    ),
    (
        NaturalLanguage::Dutch,
        "aan als altijd ben bij binnen dan dat de der deze die dit door duurt een en er geen had heb hebben \
         heeft het hij hoe hoelang hoeveel hun ik in is jaar kan kosten kost kunnen maar mag me meer met mijn \
         moet moeten na naar niet nog of om onder ons onze ook op over te tegen tijdens tot tussen uit van veel \
         voor waar waarom wanneer was wat we welk welke werd werden wie wij wordt worden ze zich zijn zonder \
         zou",
    ),
    (
        NaturalLanguage::Polish,
        "a ale bez by być była było był być co czego czy czym czyj dla dlaczego do gdy gdzie go i ich ile ilu ja jak jaka \
         jaki jakich jakie jakiego jakim jako jego jej jest jestem już kiedy kim kogo kto która które którego \
         której który których którym lub ma mam mają mi między mnie moje mogę można może musi muszę na nad nie o \
         od oraz po pod podczas przed przez przy się skąd są ta tego ten to trzeba tym u w we z za ze został \
         została",
    ),
    (
        NaturalLanguage::Turkish,
        "acaba ama ben beni bana benim bir bu da daha de değil en gibi hangi hangisi için ile kadar kaç kim kime \
         kimin ki mi miyim musunuz mı mıyım mu mü nasıl ne neden nedir nelerdir nerede nereden nereye niçin o olan \
         olarak oldu olur sonra var ve veya ya yok zaman önce şu",
    ),
    (
        NaturalLanguage::Danish,
        "af alle at blev bliver da de dem den denne der det dette din du efter eller en er et for fordi fra få får før \
         gør han har have hos hun hvad hvem hver hvilke hvilken hvilket hvis hvor hvordan hvorfor hvornår i ikke ind \
         jeg kan koster man mange med meget men mig min mine mit må nej nogen noget når og også om op os over på sig \
         sin skal som til ud uden under var ved vi være åbner",
    ),
    (
        NaturalLanguage::Norwegian,
        "alle at av ble blir da de dem den denne der det dette din du eller en er et etter for fordi fra få får før \
         gjør han har hos hun hva hvem hver hvilke hvilken hvilket hvis hvor hvordan hvorfor i ikke inn jeg kan koster \
         man mange med meg men min mine mitt mye må noe noen når og også om opp oss over på seg sin skal som til under \
         ut uten var ved vi være å åpner",
    ),
    (
        NaturalLanguage::Swedish,
        "alla att av blev blir de dem den denna det detta din ditt du där efter eller en ett finns för från får gör ha \
         han har hon hos hur här i inte jag kan kostar man med men mig min mina mitt mycket många måste ni någon något \
         några när och också om på sig sin ska skall som till under upp ut utan vad var varför vara vem vi vid vilka \
         vilken vilket än är över",
    ),
    (
        NaturalLanguage::Hungarian,
        "a az abban ahol akkor alatt ami amely amikor által be csak de egy el elé előtt ennek esetén ez ezek ezen ezt ezzel \
         én és fel ha hány hányan hányszor hogy hogyan hol honnan hova hová itt kell kellene ki kié kik kinek kit kitől \
         kivel között lehet le lesz lesznek már még meddig meg melyek melyik mennyi mennyibe mennyien mennyit mert mettől \
         mi miatt miben miért mik mikor mikortól mikorra milyen minden mióta mire miről mit mivel nekem neki nem nélkül \
         nincs nincsenek ott ő ők ön önök szabad szerint szükséges tudok tudom után vagy van vannak volt voltak össze",
    ),
    (
        NaturalLanguage::Finnish,
        "asti ei eikä eivät emme en ennen että he hän ilman ja jo joka jos jotka jälkeen kanssa kauan kauanko keiden keitä \
         kenelle keneltä kenen kenet ketkä koska kuinka kuka kun kuten me mihin mikä miksi millainen millä milloin minkä \
         minulla minulle minun minä missä mistä miten mitkä mitä moneksi monelta moneltako monen moneen montako monta mukaan \
         mutta myös ne niiden niitä niin noin nämä olen olemme olla oli olivat on onko ovat ovatko paljon paljonko pitää \
         pitääkö saa saako saan saanko se sekä sen siellä siinä sitä tai tulee te tämä tämän tässä tätä täytyy vai vain vielä \
         voi voidaan voiko voimme voin voinko yli",
    ),
    (
        NaturalLanguage::Czech,
        "a aby ale ani asi až bez bude budou by být byl byla bylo byly co čeho čem či čí čím do do ho i jak jaká jaké jaký \
         jakou jakým jako je jeho její jejich jen ji jí jsem jsme jsou jste k kam kde kdo kdy když ke koho kolik komu která které \
         který kterém kterou kvůli lze má mají mám máme máte mé mezi mi moje můj může můžete můžeme můžou mohu musí musím \
         musíme na nad ne nebo není o od odkud on ona pak po pod podle pokud potom pro proč proti před přes při s se si \
         smí smím ta tak také tento tato toto to tu u už v ve vám vás více všechny vždy z za že",
    ),
    (
        NaturalLanguage::Romanian,
        "a aceasta această acest acesta aceste acum ai al ale ar aș aş au ca că care cât câte câtă câți când ce cea cel \
         cei cine cu cui cum dacă de deci din după e ea ei el ele este eu fără fi fie fost iar îl îmi în înainte între își la \
         le lor lui mai mă mea meu mi mult multe nici nu o ori pe pentru poate pot prin până sa să sau se și şi sunt sub te \
         trebuie un una unde unei unui vă",
    ),
    (
        NaturalLanguage::Vietnamese,
        "ai bao bạn bị bởi các cách cái cần cho chúng có còn của cũng cùng để đã đang đâu đây đến đó đối được gì giờ hay hoặc \
         khi không là làm lúc mà mấy một này nào nên nếu người nhiêu như những ở phải ra sao sau sẽ tại thế theo thì tôi \
         trên trong trước từ và vào về vì với",
    ),
    (
        NaturalLanguage::Croatian,
        "a ali bez bi bih bila bilo bio biti bude čija čije čiji da dok do ga gdje gde ga hoće i ih ili im ima imam imamo \
         imate imaju iz iza je jer jesu jesam joj još ju kada kad kako kakav kakva kakve kako kamo kao ko kod koga koja koje \
         kojem koji kojim kojoj koju koliko kome kuda li me mi mogu možemo može možete mora moram moj moja moje na nakon \
         nam nas ne nema nije nisam nisu o od odakle on ona oni ono ova ovaj ove ovo po pod posle poslije pre prema preko \
         prije pri s sa sam samo se smije smijem smo smem sme ste su svaki svi ta taj te to tko treba trebam tijekom tokom u \
         uz vam vas već vi što šta za zašto",
    ),
    (
        NaturalLanguage::Indonesian,
        "adalah agar akan anda apa apakah apabila atau bagaimana belum berapa bisa bisakah boleh bolehkah bukan dalam dan \
         dapat dapatkah dari dengan di dia dimana hanya harus haruskah ini itu jika juga kalau kami kapan karena ke kenapa \
         kepada kita lagi mana mau melalui mengapa mereka oleh pada punya saat saja saya sampai sebelum selama semua seperti \
         sesudah setelah setiap siapa siapakah sudah supaya tapi telah tentang tersebut tetapi tidak untuk yang",
    ),
    (
        NaturalLanguage::Catalan,
        "a abans al als altres amb aquest aquesta aquests això cada com de del dels des després dins durant el els em en és \
         entre era es està estan fa fer fins ha han he hi i jo la les li meu meva més molt ni no nostre o on per perquè però \
         podem pot puc qual quan quant quanta quantes quants que què qui quin quina quines quins sense ser seu seva si \
         sobre són també té tenen tenim tinc tot tots un una",
    ),
    (
        NaturalLanguage::Estonian,
        "aga ei ega enne et ilma ja jaoks juba kas kaua kes keda kelle kellele kellega kuhu kui kuidas kuni kus kust ma me meie \
         midagi mida mille millal millega millest millised milline mina minu mis miks mitu mul mulle nad need neid nende ning \
         oled oleme olen oli olid olla oma on pärast palju peab pean pole pool ta tuleb või võib võin võimalik see \
         seda sel selle selles siin siis saab saan üle vaid veel",
    ),
    (
        NaturalLanguage::Lithuanian,
        "ant apie ar arba aš ši šis šie be bet bus buvo būti dar dėl galima gali galiu galime į iki ir iš ja jai jau jei jeigu jie \
         jis ji jo jos jums jų kad kada kai kaip kam kas kieno kiek kodėl ko koks kokia kokie kokio kokios kokiu kokį kol kur \
         kuri kurią kuris kurie kurios man mano mes mums mūsų ne nėra nes nuo o pagal pas per po prieš prie reikia reikės \
         savo su ta tai tas tačiau tik taip tarp turi turiu turime už visi yra",
    ),
];

/// Words by which a language is told besides: those of short questions about prices and hours, and everyday words that
/// make function words of another language.
pub(super) const TELLING: &[(NaturalLanguage, &str)] = &[
    (
        NaturalLanguage::English,
        "bet bus ca care he hi kit man need no pole pool pot pre pro see sense she sub",
    ),
    (NaturalLanguage::German, "ja"),
    (NaturalLanguage::French, "ai là lui ma me te"),
    (NaturalLanguage::Spanish, "abre cada dar han he ir me ni te"),
    (NaturalLanguage::Italian, "cui fa li me ne però po te tu voi"),
    (
        NaturalLanguage::Portuguese,
        "abre abrem cada custa custam dar faço ficou ir me podem te tu vai vocês",
    ),
    (NaturalLanguage::Dutch, "al ga ja jullie kun man mogen nu pas per u één hét vóór óók"),
    (
        NaturalLanguage::Polish,
        "aby ani im kosztuje kosztują macie moja nam nas on ona oni sam samo tak trwa",
    ),
    (NaturalLanguage::Turkish, "az iki ise misiniz miyiz mısınız mıyız ön sen"),
    (NaturalLanguage::Swedish, "blivit inom ligger öppnar"),
    (NaturalLanguage::Danish, "blevet inden ligger"),
    (NaturalLanguage::Norwegian, "blitt innen ligger"),
    (NaturalLanguage::Hungarian, "jár kerül kérek nyit nyitva tart zár"),
    (NaturalLanguage::Finnish, "aukeaa kestää kestääkö maksaa maksaako sijaitsee sulkeutuu"),
    (NaturalLanguage::Czech, "máme otevírá stojí trvá zavírá"),
    (NaturalLanguage::Romanian, "aveți costă durează deschide găsesc"),
    (NaturalLanguage::Vietnamese, "mở phí tiền"),
    (NaturalLanguage::Croatian, "košta otvara traje zatvara"),
    (NaturalLanguage::Indonesian, "biayanya buka harganya jam tutup"),
    (NaturalLanguage::Catalan, "costa obre obren teniu"),
    (NaturalLanguage::Estonian, "avatakse kestab maksab maksavad"),
    (NaturalLanguage::Lithuanian, "atidaroma kainuoja trunka"),
];

/// Two words beside each other that tell more than each of them.
pub(super) const PAIRS: &[(NaturalLanguage, &str, &str)] = &[
    (NaturalLanguage::French, "y", "a"),
    (NaturalLanguage::Italian, "quanto", "costa"),
    (NaturalLanguage::Italian, "quanto", "costano"),
    (NaturalLanguage::Portuguese, "qual", "a"),
    (NaturalLanguage::Portuguese, "qual", "o"),
    (NaturalLanguage::Portuguese, "que", "horas"),
    (NaturalLanguage::Swedish, "får", "man"),
    (NaturalLanguage::Swedish, "kan", "jag"),
    (NaturalLanguage::Swedish, "var", "ligger"),
];

/// Function words of the languages of the Cyrillic script.
pub(super) const CYRILLIC_WORDS: &[(NaturalLanguage, &str)] = &[
    (
        NaturalLanguage::Russian,
        "а без бы был была были было в вам вас во все вы где да для до его ее её ей если есть ещё еще же за здесь и из или им их к \
         как какая какие каких какого какое какой какую когда кого кому которая которого которое которой которые который которых кто куда ли между меня мне можно мои мой моя \
         мы на над не нет ни но нужно о об от откуда очень по под после почему при с сколько со стоит также там то только том ты \
         у уже чего чей чем через что чтобы чья эта эти этих это этого этой этом этот я",
    ),
    (
        NaturalLanguage::Ukrainian,
        "а або або без був була були було в вам вас від він вона вони воно вже де для до є за звідки з зі і із й його їй їм їх \
         її із коли кого кому коштує куди мене мені мій ми можна моя має мають на над нам не немає ні о об ось після по під потрібно \
         при про працює про скільки та так також там те тільки треба тут у хто це цей ця ці чи чий чия чого чому ще що щоб як яка \
         яке який яким яких які якій якого якщо я",
    ),
    (
        NaturalLanguage::Bulgarian,
        "а ако без бе беше би в ви във вие върху да дали до до е за защо защото и или има имам имате как каква какви какво какъв \
         какъв каква кога когато кого кое които който коя която кои кой колко към къде ли между ме ми мога могат може можем моите \
         моя на най намира не нещо ние но няма ни от отваря по под пред през при с са само се си след сме со ще струва сте съм също \
         със там този това тази тези трябва тук у чия чий ще",
    ),
    (
        NaturalLanguage::Serbian,
        "а ако али без би била било био бити га гдје да до док за зашто и из или има имам имамо имате иза је јер јесу још када \
         како какав каква какве ко кога код која које који којем коју колико коме кошта куда ли ме ми може можемо можете мој моја \
         моје мора морам могу на након нам нас не нема није нису о од одакле он она они оно ова овај ово по под после пре пре према \
         преко при ради с са сам само се смо су сте та тај те то током треба у уз већ ви чија чији шта што",
    ),
];
