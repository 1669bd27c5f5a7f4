// The generator's own module, so that gse is no dependency of kb.
module kb/scripts/wordlist

go 1.26.0

replace kb => ../..

require (
	github.com/go-ego/gse v0.80.3
	kb v0.0.0
)

require (
	github.com/kljensen/snowball v0.10.0 // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/vcaesar/cedar v0.20.2 // indirect
	golang.org/x/text v0.44.0 // indirect
)
