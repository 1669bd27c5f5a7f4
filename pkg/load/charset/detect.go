package charset

import (
	"slices"
	"unicode/utf8"

	"github.com/wlynxg/chardet/consts"
	"github.com/wlynxg/chardet/probe"
)

// leastConfidence is what a guess must reach to count.
const leastConfidence = 0.2

// detect names the encoding that is most plausible, or "": one of several
// bytes a character or a Latin one by the probes of wlynxg/chardet, one of
// another alphabet by [alphabet].
//
// chardet.Detect has models of letter pairs for those alphabets, but they are
// maps: merely linking them costs each process of kb more than a millisecond
// before it begins, whatever it does.
func detect(data []byte) string {
	name, best := alphabet(data)
	probes := []probe.Probe{probe.MBCGroupProbe(consts.AllLangFilter), probe.NewLatin1Probe()}
	if maybeMac(data) {
		probes = append(probes, probe.NewMacRomanProbe())
	}
	for _, p := range probes {
		if p.Feed(data) == consts.FoundItProbingState {
			return p.CharSetName()
		}
		if c := p.GetConfidence(); c > best {
			name, best = p.CharSetName(), c
		}
	}
	switch {
	case best <= leastConfidence:
		return ""
	case name == consts.ISO88591 && maybeTurkish(data):
		return consts.ISO88599
	}
	return name
}

// maybeMac says whether data have any byte where Mac Roman has most of its
// accented letters, and Latin-1 nothing.
func maybeMac(data []byte) bool {
	return slices.ContainsFunc(data, func(b byte) bool { return b >= 0x80 && b < 0xa0 })
}

// maybeTurkish says whether one in ten bytes beyond ASCII is ğ, ı or ş in
// Latin-5 and ð, ý or þ in Latin-1, and none of the letters is there that
// accompany these in Icelandic and Faroese.
func maybeTurkish(data []byte) bool {
	wide, turkish := 0, 0
	for _, b := range data {
		switch b {
		case 'á', 'é', 'í', 'ó', 'ú', 'æ':
			return false
		case 'ð', 'ý', 'þ':
			turkish++
		}
		if b >= utf8.RuneSelf {
			wide++
		}
	}
	return turkish > 0 && turkish*10 >= wide
}
