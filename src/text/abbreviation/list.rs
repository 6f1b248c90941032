//! # list: which words are shortened, and how does a sentence go on behind them?
//!
//! ```text
//! "kap" → before a number;  "ing" → before a name;  "z.b" → whatever follows
//! ```
//!
//! One list for all languages: a text seldom says which one it is written in, and a letter may mix two. So a word that
//! is an ordinary one elsewhere ("ten", "red", "old") is left out, or counts only where that one hardly stands.

use std::collections::HashMap;
use std::sync::LazyLock;

use AbbreviationKind::{Connective, Either, Limit, Month, Name, Number, Title, Year};

/// How a sentence goes on behind an abbreviation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AbbreviationKind {
    /// It always does: "z. B.", "approx.".
    Connective,
    /// It always does where the abbreviation has a capital: "Dr. Smith".
    Title,
    /// With a name: "p. Wójcik", "ul. Długa", "Abt. Personal", "dr. Szűcs". Behind a number it is a unit.
    Name,
    /// With a number: "Abs. 2", "стр. 7", "márc. 15".
    Number,
    /// With a number, where it is in small letters and not behind one: "max. 5", but not "Max. 5" or "5 min. 5".
    Limit,
    /// With a year, behind a number: "5 set. 2024". Elsewhere it is another word.
    Month,
    /// With anything but the beginning of a sentence.
    Either,
    /// Behind a number it ends a date, after which a sentence goes on that begins with it: "В 2024 г. Россия". Elsewhere it stands
    /// before a name or a number: "г. Москва".
    Year,
}

/// Whether `word`, in lower case and without its last stop, is an abbreviation of this `kind`.
pub(super) fn is_of_kind(word: &str, kind: AbbreviationKind) -> bool {
    KINDS.get(word).is_some_and(|kinds| kinds & bit(kind) != 0)
}

fn bit(kind: AbbreviationKind) -> u8 {
    1 << kind as u8
}

/// The kinds of each word, as bits.
static KINDS: LazyLock<HashMap<&str, u8>> = LazyLock::new(|| {
    let mut kinds: HashMap<&str, u8> = HashMap::new();
    for (of, words) in WORDS {
        let bits = of.iter().fold(0, |bits, kind| bits | bit(*kind));
        for word in words.split_ascii_whitespace() {
            *kinds.entry(word).or_default() |= bits;
        }
    }
    kinds
});

/// Words in lower case and without their last stop, with their kinds.
const WORDS: &[(&[AbbreviationKind], &str)] = &[
    // English, and what several languages have
    (&[Connective], "approx ca cf e.g eg esp i.e ie resp viz vs"),
    (
        &[Title],
        "adm capt cllr cmdr col cpl dipl fr gen gov hon insp lt maj med messrs mlle mme mr mrs ms mt mx pres pvt rep rev \
         sen sgt supt",
    ),
    (&[Title, Name], "dr dra drs ing prof sra srta"),
    (&[Name], "gen mr mrs v"),
    (
        &[Number],
        "al anm app apr apt art aug c ch chap dec eq eqs ex ext extn feb fig figs jan jul jun mar n no nos nov nr oct p \
         par para paras pp ref refs s sec sect sep sept st ste tab tel v ver vol vols",
    ),
    (&[Limit], "max min"),
    (&[Either], "al ave blvd bros co corp dept est inc jr llc ltd rd sr str univ"),
    // German
    (
        &[Connective],
        "abzgl ausschl bzgl bzw d.h einschl evtl exkl ggf i.d.r inkl insb insbes s.o s.u sog u.u v.a vgl z.b z.t zzgl",
    ),
    (&[Title], "frl hr hrn"),
    (&[Name], "abt ev fa gebr gez hd hl inh pfr stellv"),
    (&[Number], "abb abs anh anl aufl bd jg kap lfd nrn okt rn ziff"),
    (&[Either], "mio mrd tsd u.a"),
    // Dutch
    (
        &[Connective],
        "bijv c.q d.m.v d.w.z dhr i.p.v i.s.m i.v.m m.b.t m.i.v m.n m.u.v mevr n.a.v o.a o.l.v t.a.v t.b.v t.g.v t.o.v \
         zgn",
    ),
    (&[Name], "afd ds fam"),
    (&[Number], "afb artt bijl blz hfst nrs"),
    (&[Limit], "ong"),
    (&[Either], "bv"),
    // French
    (&[Connective], "c.-à-d p.ex"),
    (&[Name], "ets pl rés éts"),
    (&[Name, Number], "bât"),
    (&[Number], "alin avr déc env fév févr janv juil paragr réf réfs tabl tél"),
    // Spanish, Portuguese and Catalan
    (&[Connective], "aprox avda p.ej"),
    (
        &[Name],
        "alam arq avd col ctra depto dpto dña edif eng estr excmo exma exmo gral ilma ilmo jd lg lic plza pol profa prov \
         pza pça sres srtas trav urb",
    ),
    (
        &[Number],
        "abr apdo apto cap cel dez dic ene exp fev fls móv num núm núms pag pàg pág págs párr telef telf tfno tlfno tít",
    ),
    (&[Limit], "bl máx mín sl"),
    (&[Month], "ago mai may out set"),
    (&[Either], "cia cía ltda"),
    // Italian
    (&[Connective], "c.d cfr dott p.es"),
    (
        &[Name],
        "avv c.so cav dott.ssa egr fraz gent.ma gent.mo geom ill.mo l.go loc mons p.le p.zza prof.ssa sig.na sig.ra sigg \
         spett spett.le v.le",
    ),
    (&[Number], "capp fasc febb figg giu int lett nn ott pagg sett sez tav voll"),
    (&[Limit], "co"),
    (&[Month], "gen lug mag"),
    // Romanian
    (&[Name], "acad conf d-l d-na dl dlui dna dnei jud mun sf șos"),
    (&[Number], "cam febr ian iul iun noiem"),
    (&[Limit], "ap et pct sc"),
    // Polish
    (&[Connective], "inż m.in mgr np tj tzn tzw ul wg"),
    (
        &[Name],
        "abp adw bp dyr gm hab im kard kpt ks lek mec mjr os p por ppłk płk sierż woj zob śp św",
    ),
    (
        &[Number],
        "czerw godz grud kwiet lok paźdz pkt poz rozdz ryc rys sierp stycz ust wrz wrześ wyd zał",
    ),
    (&[Limit], "m ok t"),
    (&[Month], "lip lut"),
    (&[Either], "mld mln tys"),
    (&[Year], "r"),
    // Czech and Slovak
    (&[Connective], "cca kupř mj napr např popř porov príp příp srov tzv vč zejm"),
    (&[Name], "doc judr mudr mvdr npor nábř nám okr paeddr pharmdr phdr plk pplk pí rndr thdr tř"),
    (&[Name, Number], "sv"),
    (&[Number], "obr ods odst príl příl roč č čl čp čís"),
    (&[Either], "tis"),
    // Slovenian, Croatian, Bosnian and Serbian
    (&[Connective], "npr t.i"),
    (&[Name], "g ga gosp gđa gđica inž oz"),
    (&[Number], "pog tač toč št"),
    (&[Limit], "br"),
    // Hungarian
    (&[Connective], "vö ún"),
    (&[Name], "ifj szt özv"),
    (&[Number], "hrsz júl jún ker krt máj márc sz szept ápr"),
    (&[Limit], "em kb ld u"),
    // Swedish, Danish and Norwegian
    (
        &[Connective],
        "ang bl.a d.v.s dvs ekskl enl evt f.eks fr.o.m hhv i.f.m i.h.t ifm iht jf jfr m.h.t mht p.g.a pga s.k t.ex t.o.m \
         vedr",
    ),
    (&[Name], "cand fr gl hr ndr sct sdr skt st"),
    (&[Number], "avsn bil kl tlf"),
    (&[Limit], "stk"),
    // Finnish, Estonian, Latvian and Lithuanian
    (&[Connective], "apm esim huom nt piem plg pvz t.y vrt žr"),
    (&[Name], "hra mm nti rva toim tri"),
    (&[Number], "iel kab klo lpp mnt nro plkst ptk puh tālr viim"),
    (&[Limit], "g lk pr tn"),
    // Turkish
    (&[Connective], "bkz krş örn"),
    (&[Name], "alb arş doç ecz müh sn uzm yrd yzb öğr"),
    (&[Number], "blv bulv cad mah sok"),
    (&[Limit], "d maks md ss"),
    // Indonesian, Malay and Vietnamese
    (&[Name], "bpk gg hj jl jln kec kel ny sdr tn yth"),
    (&[Number], "hal hlm pkl q sđt telp tgl tlp tr đt"),
    (&[Limit], "rp rt rw"),
    // Greek
    (&[Connective], "βλ δηλ λ.χ π.χ πρβλ"),
    (&[Name], "αγ δις δρ κ κα καθ κκ πλ"),
    (&[Name, Number], "λεωφ οδ"),
    (
        &[Number],
        "άρ άρθ άρθρ απρ αρ αρθρ αριθ αριθμ αυγ δεκ εδ εικ ιαν ιουλ ιουν κεφ μάι μαρ νοε νοεμ οκτ πίν παρ παράγρ περ σ \
         σελ σεπ σεπτ σσ σχ τηλ φεβ φεβρ",
    ),
    (&[Limit], "τ"),
    (&[Either], "δισ δισεκ εκατ τρισ χιλ"),
    // Russian
    (
        &[Connective],
        "акад включ им напр прибл проф рис св см совр соотв ср ст т.е т.к т.н т.о табл тов ул",
    ),
    (&[Title], "дж"),
    (
        &[Name],
        "архиеп б-р бул ген гор гр дер доц еп инж лейт м митр наб о обл оз пгт пер пл полк пос пр-т преп р-н респ х ш",
    ),
    (&[Name, Number], "д корп мкр мкрн п пр с"),
    (
        &[Number],
        "абз авг апр вып гл дек доб ил илл к каб кв комн моб ноя нояб окт оф подп пом пп прил разд сен сент стр тел тт \
         фев февр ч эт янв",
    ),
    (&[Limit], "л ок т"),
    (&[Either], "в вв млн млрд трлн тыс"),
    (&[Year], "г гг"),
    // Ukrainian and Belarusian
    (&[Connective], "вул див т.зв ім"),
    (&[Name], "бульв пров смт"),
    (&[Number], "ауд бер буд верес груд дод жовт квіт кім лип лют розд стор січ трав черв"),
    (&[Either], "тис"),
    (&[Year], "р рр"),
    // Bulgarian, Macedonian and Serbian
    (&[Connective], "вж нпр т.нар тзв тј"),
    (&[Name], "арх ж.к жк общ"),
    (&[Number], "ал ап бл бр вх ет чл"),
    // Hindi and other languages in Devanagari, and Bengali
    (
        &[Connective],
        "अॅड इं एड कु कै चि डा डॉ न्या पं प्रा प्रो मु श्री श्रीमती सर्वश्री सुश्री स्व ॲड ড ডা প্রফে মো শ্রী",
    ),
    (&[Number], "क्र दि नं पृ फ़ो फो मो रु रू सं নং পৃ"),
    (&[Either], "लि"),
];

#[cfg(test)]
mod tests {
    use unicode_normalization::UnicodeNormalization;

    use super::*;

    #[test]
    fn words_are_written_as_they_are_looked_up() {
        for word in WORDS.iter().flat_map(|(_, words)| words.split_ascii_whitespace()) {
            assert_eq!(word.to_lowercase().nfc().collect::<String>(), word);
            assert!(!word.ends_with('.'), "{word}");
        }
    }

    #[test]
    fn a_word_may_be_of_several_kinds() {
        assert!(is_of_kind("dr", Title) && is_of_kind("dr", Name) && !is_of_kind("dr", Number));
        assert!(is_of_kind("al", Number) && is_of_kind("al", Either));
        assert!(!is_of_kind("red", Name) && !is_of_kind("", Connective));
    }
}
