package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/simplifiedchinese"

	"kb/pkg/record"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == PDFWorkerCommand {
		if err := PDFWorker(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// folder makes files in a new working directory.
func folder(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// run loads the paths and writes one line a record: the path of a document,
// "path: class" of a skipped file, "root/ documents skipped" of a root.
func run(t *testing.T, opt Options, paths ...string) []string {
	t.Helper()
	var out []string
	for r, err := range Run(context.Background(), paths, opt) {
		if err != nil {
			t.Fatal(err)
		}
		switch r := r.(type) {
		case *record.Document:
			out = append(out, r.Path)
		case *record.Skipped:
			out = append(out, r.Path+": "+r.Class)
		case *record.Root:
			out = append(out, fmt.Sprintf("%s/ %d %d", r.Path, r.Documents, r.Skipped))
		}
	}
	return out
}

func TestWalk(t *testing.T) {
	files := map[string]string{
		"n/b.md": "b", "n/a.TXT": "a", "n/a/x.markdown": "x", "n/a-b.md": "ab", "n/empty.txt": " \n", "n/photo.jpg": "x",
		"n/.hidden.md": "x", "n/.git/x.md": "x", "n/node_modules/p/x.md": "x", "n/sub/README.md": "r", "n/caf\u0065\u0301.md": "nfd",
		"n/ignored.md": "x", "n/sub/drafts/d.md": "x", "n/sub/keep.md": "k", "n/sub/log.txt": "x",
		"n/.kbignore": "# comment\nignored.md\ndrafts/\n*.txt\n!a.TXT\n!/empty.txt\n[\n", "n/sub/.kbignore": "keep.md\n!keep.md\n",
		".kbignore": "n/b.md\n",
	}
	for name, c := range map[string]struct {
		paths []string
		want  []string
	}{
		"folder":     {[]string{"./n/"}, []string{"n/a-b.md", "n/a.TXT", "n/a/x.markdown", "n/caf\u0065\u0301.md", "n/empty.txt: empty", "n/sub/README.md", "n/sub/keep.md", "n/ 6 1"}},
		"twice":      {[]string{"n/sub", "n/sub/keep.md", "n/a", "n/a/"}, []string{"n/sub/README.md", "n/sub/keep.md", "n/sub/ 2 0", "n/a/x.markdown", "n/a/ 1 0"}},
		"by name":    {[]string{"n/ignored.md", "n/.hidden.md", "n/photo.jpg", "n/gone.md"}, []string{"n/ignored.md", "n/.hidden.md", "n/photo.jpg: unsupported", "n/gone.md: unreadable"}},
		"no folder":  {[]string{"gone", "n/a"}, []string{"gone: unreadable", "n/a/x.markdown", "n/a/ 1 0"}},
		"hidden one": {[]string{"n/.git"}, []string{"n/.git/x.md", "n/.git/ 1 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			folder(t, files)
			var warnings []string
			got := run(t, Options{Warn: func(m string) { warnings = append(warnings, m) }}, c.paths...)
			if !slices.Equal(got, c.want) {
				t.Errorf("\n%q, want\n%q", got, c.want)
			}
			if name == "folder" && (len(warnings) != 1 || !strings.Contains(warnings[0], "n/.kbignore: bad pattern [")) {
				t.Errorf("warnings %q", warnings)
			}
		})
	}
	t.Run("here", func(t *testing.T) {
		folder(t, files)
		t.Chdir("n/a")
		here, _ := os.Getwd()
		if got, want := run(t, Options{}, "."), []string{"x.markdown", "./ 1 0"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		if got, want := run(t, Options{}, "../a"), []string{"../a/x.markdown", "../a/ 1 0"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		if got, want := run(t, Options{}, here), []string{filepath.ToSlash(here) + "/x.markdown", filepath.ToSlash(here) + "/ 1 0"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

func TestLinks(t *testing.T) {
	folder(t, map[string]string{"n/a.md": "a", "out/b.md": "b"})
	for link, target := range map[string]string{"n/file.md": "../out/b.md", "n/dir": "../out", "n/loop": ".", "link": "n", "one.md": "out/b.md"} {
		if err := os.Symlink(target, link); err != nil {
			t.Skip(err)
		}
	}
	want := []string{"link/a.md", "link/ 1 0", "n/ 0 0", "one.md"}
	if got := run(t, Options{}, "link", "n", "one.md", "out/b.md"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestUnreadable(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("needs a user whom permissions stop")
	}
	folder(t, map[string]string{"n/a.md": "a", "n/b.md": "b", "n/sub/c.md": "c"})
	os.Chmod("n/a.md", 0)
	os.Chmod("n/sub", 0)
	defer os.Chmod("n/sub", 0o700)
	want := []string{"n/a.md: unreadable", "n/b.md", "n/sub: unreadable"}
	if got := run(t, Options{}, "n"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Files and folders that go while the folder is walked end nothing; a folder
// that could not be listed has no root record.
func TestVanishing(t *testing.T) {
	folder(t, map[string]string{"n/a.md": "a", "n/b.md": "b", "n/c/d.md": "d", "n/e.md": "e"})
	var got []string
	for item, err := range Walk(context.Background(), []string{"n"}, nil) {
		switch {
		case err != nil:
			t.Fatal(err)
		case item.Entry != nil:
			got = append(got, item.Entry.Path)
		case item.Skipped != nil:
			got = append(got, item.Skipped.Path+": "+item.Skipped.Class)
		default:
			got = append(got, "root")
		}
		os.Remove("n/b.md")
		os.RemoveAll("n/c")
	}
	if want := []string{"n/a.md", "n/c: unreadable", "n/e.md"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Names that no format of kb can hold are listed and do no harm; those that
// only look odd are read.
func TestNames(t *testing.T) {
	long := strings.Repeat("x", 251) + ".md"
	folder(t, map[string]string{"n/a\nb.md": "x", "n/\x1b[31m.md": "x", "n/" + long: "x", "n/ .md": "x"})
	want := []string{"n/\x1b[31m.md", "n/ .md", "n/a\nb.md", "n/" + long, "n/ 4 0"}
	if os.WriteFile("n/y\xff.md", []byte("x"), 0o600) == nil { // not every file system takes it
		want = slices.Concat(want[:4], []string{"n/y\ufffd.md: unsupported", "n/ 4 1"})
	}
	if got := run(t, Options{}, "n"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestIgnorePatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		folder, want  bool
	}{
		{"a.md", "x/y/a.md", false, true},
		{"/a.md", "a.md", false, true},
		{"/a.md", "x/a.md", false, false},
		{"x/a.md", "x/a.md", false, true},
		{"x/a.md", "y/x/a.md", false, false},
		{"**/x/*.md", "y/x/a.md", false, true},
		{"x/**", "x/y/a.md", false, true},
		{"x/**", "x", true, false},
		{"x/**/a.md", "x/a.md", false, true},
		{"drafts/", "drafts", false, false},
		{"drafts/", "x/drafts", true, true},
		{"*.m?", "a.md", false, true},
		{"[!a-c].md", "d.md", false, true},
		{"[!a-c].md", "b.md", false, false},
		{"[[:upper:]_]*.md", "Ab.md", false, true},
		{"[![:digit:]].md", "7.md", false, false},
		{`\#a.md`, "#a.md", false, true},
		{"a.md  ", "a.md", false, true},
		{"#a.md", "#a.md", false, false},
		{"中文*", "中文笔记.md", false, true},
		{strings.Repeat("**/a/", 30) + "b", strings.Repeat("a/", 60) + "c", false, false},
	} {
		p, ok, err := parsePattern(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		files := []ignoreFile{{folder: "n"}}
		if ok {
			files[0].patterns = []ignorePattern{p}
		}
		if got := ignored("n/"+c.path, c.folder, files); got != c.want {
			t.Errorf("%q on %q: %v", c.pattern, c.path, got)
		}
	}
}

func read(t *testing.T, opt Options, name string) (record.Record, []string) {
	t.Helper()
	var warnings []string
	opt.Warn = func(m string) { warnings = append(warnings, m) }
	r := NewReader(opt)
	defer r.Close()
	rec, err := r.Read(context.Background(), Entry{Path: name, Root: "."})
	if err != nil {
		t.Fatal(err)
	}
	return rec, warnings
}

func TestDocuments(t *testing.T) {
	gbk, err := simplifiedchinese.GBK.NewEncoder().String("机房温度上限为二十六摄氏度，第二行。\n")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		file, content string
		title, text   string
		meta          string
		warning       string
	}{
		"fields with capitals":      {"a.md", "---\nTitle: x\nTAGS: [y]\nDate: 2026-01-02\nOwner: z\n---\n# H\n", "x", "---\nTitle: x\nTAGS: [y]\nDate: 2026-01-02\nOwner: z\n---\n# H\n", `{"Owner":"z","date":"2026-01-02","tags":["y"],"title":"x"}`, ""},
		"title of the front matter": {"a.md", "\ufeff---\r\ntitle: 值班 手册\r\ntags: \"#x, y,x\"\r\n---\r\n# H\r\n", "值班 手册", "---\ntitle: 值班 手册\ntags: \"#x, y,x\"\n---\n# H\n", `{"tags":["x","y"],"title":"值班 手册"}`, ""},
		"title of the heading":      {"a.md", "text\n\n## B\n\nA\n=\n", "A", "text\n\n## B\n\nA\n=\n", "", ""},
		"title of the name":         {"笔记.v2.md", "text", "笔记.v2", "text", "", ""},
		"toml":                      {"a.md", "+++\ntags = ['b', 1]\n+++\nx", "a", "+++\ntags = ['b', 1]\n+++\nx", `{"tags":["b","1"]}`, ""},
		"broken front matter":       {"a.md", "---\ntitle: [\n---\nx", "a", "---\ntitle: [\n---\nx", `{"load_notes":["front matter cannot be read and is taken as text: line 3: did not find expected node content"]}`, "a.md: front matter cannot be read"},
		"text":                      {"a.txt", "# no heading\r", "a", "# no heading\n", "", ""},
		"gbk":                       {"old.txt", gbk, "old", "机房温度上限为二十六摄氏度，第二行。\n", fmt.Sprintf(`{"encoding":"GB18030","encoding_guessed":true,"encoding_guessed_from":%d}`, len(gbk)), fmt.Sprintf("old.txt: decoded as GB18030 (guessed from %d bytes)", len(gbk))},
	} {
		t.Run(name, func(t *testing.T) {
			folder(t, map[string]string{c.file: c.content})
			when := time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600))
			os.Chtimes(c.file, when, when)
			rec, warnings := read(t, Options{}, c.file)
			doc, ok := rec.(*record.Document)
			if !ok {
				t.Fatalf("%+v", rec)
			}
			if doc.Title != c.title || doc.Text != c.text || string(doc.Meta) != c.meta {
				t.Errorf("title %q text %q meta %s", doc.Title, doc.Text, doc.Meta)
			}
			if doc.ID != record.DocumentID(c.file) || doc.Root != "." || len(doc.Hash) != 64 || doc.Modified != "2026-01-02T02:04:05Z" {
				t.Errorf("%+v", doc)
			}
			if got := strings.Join(warnings, "|"); !strings.HasPrefix(got, c.warning) || (got == "") != (c.warning == "") {
				t.Errorf("warnings %q", got)
			}
		})
	}
}

func TestSkipped(t *testing.T) {
	folder(t, map[string]string{"big.txt": strings.Repeat("x", 101), "bin.txt": "\x89PNG\r\n", "empty.md": "", "matter.md": "---\ntitle: x\n---\n\n", "gone": "", "not.pdf": "hello"})
	os.Mkdir("dir.md", 0o700)
	for name, class := range map[string]string{
		"big.txt": record.ClassTooLarge, "bin.txt": record.ClassBinary, "empty.md": record.ClassEmpty, "matter.md": record.ClassEmpty, "not.pdf": record.ClassNotPDF,
		"missing.md": record.ClassUnreadable, "dir.md": record.ClassUnsupported,
	} {
		rec, _ := read(t, Options{MaxSize: 100}, name)
		if s, ok := rec.(*record.Skipped); !ok || s.Class != class || s.Reason == "" || s.Path != name || s.Root != "." {
			t.Errorf("%s: %+v", name, rec)
		}
	}
}

// The order is that of the walk although files are read side by side, and a
// file that is known is not read.
func TestOrderAndKnown(t *testing.T) {
	files := map[string]string{}
	for i := range 200 {
		files[fmt.Sprintf("n/%03d.txt", i)] = strings.Repeat("x", 1+(i*7919)%50_000)
	}
	folder(t, files)
	os.Remove("n/100.txt")
	os.WriteFile("n/100.txt", nil, 0o600)
	known := &record.Raw{RecordKind: "known"}
	opt := Options{Known: func(e Entry) record.Record {
		if e.Path == "n/050.txt" && e.Size > 0 && !e.Modified.IsZero() {
			return known
		}
		return nil
	}}
	i := 0
	for r, err := range Run(context.Background(), []string{"n"}, opt) {
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("n/%03d.txt", i)
		switch r := r.(type) {
		case *record.Document:
			if r.Path != name || i == 50 || i == 100 {
				t.Fatalf("%s at %s", r.Path, name)
			}
		case *record.Skipped:
			if i != 100 {
				t.Fatalf("%+v", r)
			}
		case *record.Raw:
			if r != known || i != 50 {
				t.Fatalf("%+v at %d", r, i)
			}
		case *record.Root:
			if r.Documents != 199 || r.Skipped != 1 || i != 200 {
				t.Errorf("%+v", r)
			}
		}
		i++
	}
}

func TestStops(t *testing.T) {
	files := map[string]string{}
	for i := range 100 {
		files[fmt.Sprintf("n/%03d.txt", i)] = strings.Repeat("x", 100_000)
	}
	folder(t, files)
	before := runtime.NumGoroutine()
	for range Run(context.Background(), []string{"n"}, Options{}) {
		break
	}
	// One that has said that it is done may take a moment to be gone.
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var last error
	for r, err := range Run(ctx, []string{"n"}, Options{}) {
		if last = err; err == nil {
			if _, ok := r.(*record.Root); ok {
				t.Error("a walk that was cancelled came to its end")
			}
		}
		cancel()
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("last error %v", last)
	}
	for _, err := range Run(context.Background(), []string{"n"}, Options{Encoding: "x"}) {
		if err == nil {
			t.Error("a bad option is no error")
		}
	}
}

func TestTags(t *testing.T) {
	for in, want := range map[string]string{
		`["a", "#b", "a", 1]`: `["a","b","1"]`, `"a, b，c"`: `["a","b","c"]`, `"#a #b"`: `["a","b"]`, `"machine learning"`: `["machine learning"]`, `{}`: `null`, `[]`: `null`,
	} {
		var v any
		json.Unmarshal([]byte(in), &v)
		got, _ := json.Marshal(tagList(v))
		if string(got) != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestRanges(t *testing.T) {
	if got := ranges([]int{1, 3, 4, 5, 8}); got != "1, 3-5, 8" {
		t.Error(got)
	}
}

func TestConverted(t *testing.T) {
	gbk, err := simplifiedchinese.GBK.NewEncoder().String("<meta charset=gb2312><meta name=author content=某人><title>标题</title><p>机房温度</p>")
	if err != nil {
		t.Fatal(err)
	}
	docx := "PK\x03\x04 no archive"
	folder(t, map[string]string{"a.htm": gbk, "b.docx": docx, "~$b.docx": "x", "c.docx": "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e\x00",
		"d.html": "<script>x</script>", "e.html": "\x89PNG\r\n"})
	if got, want := run(t, Options{}, "."), []string{"a.htm", "b.docx: damaged", "c.docx: password", "d.html: empty", "e.html: binary", "./ 1 4"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	rec, warnings := read(t, Options{}, "a.htm")
	doc, ok := rec.(*record.Document)
	if !ok || doc.Title != "标题" || doc.Text != "机房温度\n" || !doc.Converted || string(doc.Meta) != `{"author":"某人","converted_from":"HTML","encoding":"GB18030"}` || warnings != nil {
		t.Errorf("%+v %q", rec, warnings)
	}
}

func TestParseHook(t *testing.T) {
	for command, want := range map[string][]string{
		"markdown: pandoc -t gfm": {"pandoc", "-t", "gfm", "n/a.rst"}, ` a "b c" d'e f'`: {"a", "b c", "de f", "n/a.rst"},
		"a {} -o x": {"a", "n/a.rst", "-o", "x"}, "a --in={}": {"a", "--in=n/a.rst"}, "a '' $HOME;b": {"a", "", "$HOME;b", "n/a.rst"},
		"": nil, `""`: nil, "a 'b": nil, "markdown:": nil,
	} {
		hook, err := ParseHook(command)
		var argv []string
		if err == nil {
			argv = withPath(hook.Argv, "n/a.rst")
		}
		if hook.Markdown != strings.Contains(command, "gfm") {
			t.Errorf("%s: %+v", command, hook)
		}
		if !slices.Equal(argv, want) || (err == nil) != (want != nil) {
			t.Errorf("%s: %q, %v", command, argv, err)
		}
	}
	if got := withPath([]string{"a"}, "-x.rst"); got[1] != "."+string(filepath.Separator)+"-x.rst" {
		t.Errorf("%q", got)
	}
}

// What is expected of the files in textfiles/ and markdown/, where they are.
func TestDocumentsFolder(t *testing.T) {
	folder, err := filepath.Abs("../../../shared/documents")
	if _, e := os.Stat(filepath.Join(folder, "textfiles")); err != nil || e != nil {
		t.Skip("no ../shared/documents beside the project")
	}
	t.Chdir(folder)
	want := map[string]string{
		"binary.txt": "binary", "png_named.txt": "binary", "elf_named.md": "binary", "empty.txt": "empty", "only_bom.txt": "empty", "whitespace.txt": "empty",
		"big5.txt": "Big5 圖書館週一", "sjis.txt": "Shift_JIS 図書館", "latin1.txt": "windows-1252 Les résultats de l'étude", "gb18030.txt": "GB18030 检索增强生成",
		"gb18030_4byte.txt": "GB18030 𠮷野家与㐀字", "html_meta_gbk.txt": "GB18030 <meta charset=gbk>检索", "utf16le_bom.txt": "UTF-16LE 检索", "utf16be_bom.txt": "UTF-16BE 检索",
		"nul_bytes.txt": " 前半后半", "utf8_truncated.txt": " 检索", "utf8_one_bad_byte.txt": " 检索", "crlf_utf8.txt": " 检索", "cr_only.txt": " 检索", "utf8_bom.txt": " 检索",
	}
	for r, err := range Run(context.Background(), []string{"textfiles"}, Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		switch r := r.(type) {
		case *record.Document:
			var meta struct{ Encoding string }
			json.Unmarshal(r.Meta, &meta)
			name := filepath.Base(r.Path)
			if !strings.HasPrefix(meta.Encoding+" "+r.Text, want[name]) || want[name] == "" || strings.ContainsAny(r.Text, "\r\x00") {
				t.Errorf("%s: %s %.40q", name, meta.Encoding, r.Text)
			}
			delete(want, name)
		case *record.Skipped:
			if name := filepath.Base(r.Path); want[name] != r.Class {
				t.Errorf("%s: %s", name, r.Class)
			} else {
				delete(want, name)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("not seen: %v", want)
	}
	titles := map[string]string{"bom.md": "bom", "crlf.md": "crlf", "torture.md": "测试文档", "badyaml.md": "H bad yaml", "hr.md": "H", "nofm.md": "H1"}
	for r := range Run(context.Background(), []string{"markdown"}, Options{}) {
		if doc, ok := r.(*record.Document); ok && doc.Title != titles[filepath.Base(doc.Path)] {
			t.Errorf("%s: title %q", doc.Path, doc.Title)
		}
	}
}
