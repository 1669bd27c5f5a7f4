// Package flat keeps an index in one file that is JSON Lines inside of zstd:
//
//	zstd -dc index.jsonl.zst | jq
//
// reads all of it, and any zstd tool accepts it. The text is the index. Frames,
// codes, directory and seek table only make it fast to search, to change and
// to verify: zstd -dc x | zstd > y is still a valid index, which is read from
// front to end and written back in its own form by the next change.
//
// # Lines
//
// One JSON object a line, compact, with "kind" first. Readers ignore fields
// that they do not know. Integers in base64 and vectors are little-endian;
// base64 is that of RFC 4648 with padding. The lines come in this order:
//
//	index      the header: format, reader (the oldest format whose readers
//	           understand the file), version, model, base_url, query_prefix,
//	           document_prefix, dim, analyzer, calibration, documents, chunks,
//	           vectors (how many there are)
//	skipped    files that gave no document, by path
//	root       folders that were walked, by path
//	           then each segment, see below:
//	document     path, id, hash, title, media_type, meta, and chunks and
//	             vectors (how many), sum (see store.Sum)
//	chunk        as in package record, without vector, model, base_url and dim
//	vector       id (of the chunk) and vector (base64 of float32, of unit
//	             length), or null for a chunk without one; a vector that is
//	             sparse has dim, places and values instead, see below; a line
//	             for each chunk, in their order
//	codes        one line, see below
//	postings   terms and postings: two strings of as many words, joined with
//	           spaces; terms rise by their bytes, through all lines
//	terms      first: the first term of each line of postings; lengths: of
//	           their frames, compressed, base64 of uint32
//	lengths    tokens: in all chunks; lengths: of each chunk, as numbers
//	directory  see below; the last line, without which the file is cut off
//
// "version" is what [store.Version] makes of settings and documents. There are no times, counters or paths of the machine in the file, so
// the same documents give the same bytes, whatever the way they came.
//
// # Segments
//
// Documents lie in the order of their paths (by bytes), chunks in the order of
// documents and seq. A segment is a run of chunks with their documents: up to
// 2,048 chunks, 1,000 on average. Where a segment ends depends only on the
// documents near by (see border.go), so that a change rewrites the segments it
// touches and copies all others byte for byte. A document of more than 2,048
// chunks is cut into segments of 1,024, and its line is in the first. A segment
// in which no chunk has a vector has no lines of vectors and codes.
//
// # Sparse vectors
//
// A vector of dim elements of which less than half are not +0 is given by these:
// values is base64 of the different float32 among them, in the order in which they
// first occur, and places has two numbers (see Numbers) for each element: how many
// +0 stand between it and the one before, or the beginning, and which of the values
// it has, from 0. "CAAB" with the values x and y is 0 0 x y, and zeros up to dim.
//
// # Codes
//
// The line of codes has, for the n chunks of a segment and d dimensions,
//
//	rows   n
//	dim    d
//	base   base64 of d float32
//	step   base64 of d float32
//	err    base64 of n float32; -1 for a chunk without a vector
//	check  base64 of n uint32
//	head   8 hex digits: the low half of xxh64 of the line up to and without
//	       the quote before ,"head"
//	codes  n rows of d characters, each row padded with P to a multiple of 64
//
// A character c of dimension j stands for base[j] + step[j]·c; err[i] is not
// less than the distance between vector i and what its characters stand for. Where
// all vectors of a segment are sparse, 0 has a character without an error.
// The characters are 0x23 to 0x7E without the backslash, so that the string is
// the array that a search scans. How exact results follow from them, and what
// check is, stands with vector.Block and vector.Weights.ScanChecked.
//
// # Numbers
//
// Postings and lengths are unsigned numbers in base 32: the digits 0 to 31, least
// first, are the characters A…Za…f of base64; a digit that is not the last of
// its number is 32 greater (g…z0…9+/). So are the places of a sparse vector. The postings of a term are, for each
// chunk that holds it, 2·gap + 1 if it holds it once, else 2·gap and then the
// frequency - 2; gap is the number of chunks since the posting before, or since
// the beginning. "DBEA" is: chunk 1 once, chunk 2 once, chunk 5 twice, where the
// first chunk of the index is chunk 0.
//
// # Frames
//
// The file is a sequence of zstd frames (RFC 8878), each with its content size
// and a checksum, each of whole lines:
//
//	header     1 line
//	lists      skipped and root, up to 64 KiB, or one line
//	documents  up to 64 KiB, or one line
//	chunks     16 lines, or 8, 4, 2, 1 if 16 of the segment exceed 1 MiB
//	vectors    4 lines
//	codes      1 line, in raw blocks: one block up to the codes, then blocks of as
//	           many whole rows as fit into 128 KiB, then one with the end of the
//	           line (see codes.go); a reader that finds another shape must decode it
//	postings   1 line of up to 16 KiB, or of one term
//	terms, lengths, directory   1 line each
//
// and at last a skippable frame with the seek table of the zstd seekable format,
// with the checksum that ends each frame: a frame that is whole but not the one
// of the table is damage, too.
//
// The directory has the header again (header), the number of segments, and
// for each segment, as base64 of uint32 or, for the last two, uint64: rows (its
// chunks), vectors, documents, document_frames, chunks_per_frame, frame (the
// number of its first frame), offset (of that frame) and codes (offset of its
// codes frame, 0 without). lists, postings, terms and lengths are objects with
// offset, length, frame and frames. A reader opens the file with the last entry
// of the seek table, the directory and the header, and looks up a chunk with
// the entries of one segment.
//
// # Limits
//
// 8,192 dimensions, 2,048 chunks a segment, 64 MiB a line, 2³¹−1 chunks, 2²⁷
// frames. A frame is never larger than 64 MiB, decoded; a file without a seek
// table may unpack to 64 MiB + 64 times its size. Beyond that it is refused before
// memory is taken for it.
//
// # Changes and damage
//
// A writer locks PATH.lock, which stays behind, writes a temporary file
// .NAME.tmp-… beside the index, syncs it, renames it and syncs the folder. A
// reader keeps the file that it opened. What a search reads is checked:
// everything by the checksums of its frames and of the seek table, codes by head
// and check. Damage is a store.DamagedError with the offset of the frame.
// [Store.Verify] reads all there is, and [Store.Repair] writes the index again
// from every frame that is whole.
package flat
