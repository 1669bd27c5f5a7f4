package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kb/pkg/index"
	"kb/pkg/load"
	"kb/pkg/record"
	"kb/pkg/store"
)

// Errors that callers tell apart with errors.Is.
var (
	ErrConflict = errors.New("conflict") // the folder or the index does not allow it now
	ErrFolder   = errors.New("the folder of notes cannot be written")
	ErrTooLarge = errors.New("too large")
	ErrType     = errors.New("type is not read") // by its name or by its content
)

// RejectedError is a file that gives no document. By its class it is an
// [ErrTooLarge] or an [ErrType], too.
type RejectedError struct {
	Name, Class, Reason string // see [record.Skipped]
}

func (e *RejectedError) Error() string { return fmt.Sprintf("%s: %s", e.Name, e.Reason) }

func (e *RejectedError) Is(target error) bool {
	switch e.Class {
	case record.ClassTooLarge:
		return target == ErrTooLarge
	case record.ClassUnsupported, record.ClassBinary, record.ClassNotPDF:
		return target == ErrType
	}
	return false
}

// NotesOptions are what [Notes] are made of.
type NotesOptions struct {
	Index *Index
	// Dir is the folder as the paths of its documents begin, reachable from
	// the working directory. It is made with the first file.
	Dir string
	// Load says how files are read, and which.
	Load load.Options
	// Build brings the index in step with the folder, by the change that was
	// begun. Where that is nil it begins one before it reads any file, and fails
	// with [store.ErrLocked] while another process writes.
	Build func(ctx context.Context, tx store.Tx) error
	// MaxSize of a file in bytes, and how long it may take to be read once it
	// is there; 0: [load.MaxSize], a minute.
	MaxSize  int64
	ReadTime time.Duration
}

// Notes is a folder of notes and the index of it. It is safe for many
// goroutines at once: what they change is changed one after the other.
//
// A new file is written beside its place, in a hidden folder, and read there:
// one that gives no document never gets into the notes. Then the index is
// locked, the file takes its place, and the index is brought in step: so another
// server of the same folder, which reads it under the lock, sees no file that is
// refused. Where the build fails, what was there before is put back, so that
// folder and index always tell the same.
type Notes struct {
	o       NotesOptions
	turn    chan struct{} // holds one token: who has it may change things
	reading chan struct{} // likewise, for reading new files
	closing context.Context
	close   context.CancelFunc
}

// NewNotes returns the notes in a folder. Nothing is made or read yet.
func NewNotes(o NotesOptions) *Notes {
	if o.MaxSize == 0 {
		o.MaxSize = load.MaxSize
	}
	if o.ReadTime == 0 {
		o.ReadTime = time.Minute
	}
	n := &Notes{o: o, turn: make(chan struct{}, 1), reading: make(chan struct{}, 1)}
	n.closing, n.close = context.WithCancel(context.Background())
	return n
}

// Close gives up what is being changed, and returns once that is undone or
// done, or when the context ends.
func (n *Notes) Close(ctx context.Context) error {
	n.close()
	leave, err := enter(ctx, n.turn)
	if err == nil {
		leave()
	}
	return err
}

// Sync brings the index in step with the folder. It waits for a process that
// writes, and has others take their turn meanwhile, to be told so at once.
func (n *Notes) Sync(ctx context.Context) error {
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		err := n.sync(ctx)
		if !errors.Is(err, store.ErrLocked) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// How long Sync waits before it looks again whether it can write.
const (
	firstWait = 250 * time.Millisecond
	lastWait  = 30 * time.Second
)

func (n *Notes) sync(ctx context.Context) error {
	leave, err := enter(ctx, n.turn)
	if err != nil {
		return err
	}
	defer leave()
	n.sweep()
	if err := n.o.Build(ctx, nil); err != nil {
		return err
	}
	return n.o.Index.Refresh(ctx)
}

// begin locks the index, unless another process writes.
func (n *Notes) begin(ctx context.Context) (store.Tx, error) {
	return n.o.Index.o.Store.Begin(ctx, false)
}

// sweep removes what a process that was killed left behind an hour ago or
// earlier.
func (n *Notes) sweep() {
	left, _ := filepath.Glob(filepath.Join(filepath.FromSlash(n.o.Dir), stagePrefix+"*"))
	for _, dir := range left {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && time.Since(info.ModTime()) > time.Hour {
			_ = os.RemoveAll(dir)
		}
	}
}

// Has says whether a document of the index is one of these notes.
func (n *Notes) Has(path string) bool {
	_, ok := n.below(path)
	return ok
}

// below is the path of a document within the folder.
func (n *Notes) below(p string) (rel string, ok bool) {
	dir := path.Clean(filepath.ToSlash(n.o.Dir))
	if dir == "." {
		return p, filepath.IsLocal(filepath.FromSlash(p))
	}
	rel, ok = strings.CutPrefix(p, strings.TrimSuffix(dir, "/")+"/")
	return rel, ok && filepath.IsLocal(filepath.FromSlash(rel))
}

// enter takes the one token.
func enter(ctx context.Context, turn chan struct{}) (leave func(), err error) {
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// lasting is a context for a change that was begun: it ends when the notes are
// closed, and not when the one who asked for it goes away.
func (n *Notes) lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(n.closing, cancel)
	return ctx, func() { stop(); cancel() }
}

// Add adds a file to the folder, or replaces the one of the same name, and
// indexes it. The name may have folders in front, which do not count. Besides
// those of the build, errors are a [*NameError], a [*RejectedError],
// [ErrConflict] and [store.ErrLocked].
func (n *Notes) Add(ctx context.Context, name string, content io.Reader) (*Added, error) {
	s, err := n.Stage(ctx, name, content)
	if err != nil {
		return nil, err
	}
	defer s.Discard()
	added, err := n.Commit(ctx, s)
	if err != nil {
		return nil, err
	}
	return added[0], nil
}

// Added is what became of a file.
type Added struct {
	ID, Path, Status string // see [record.Indexed]
	Chunks           int
}

// Staged is a file that was found good and waits to be added. Discard it.
type Staged struct {
	name string
	hash string
	root *os.Root // of the folder of notes
	dir  string   // in it, hidden: the file, and what it replaces
	kept bool     // the file that it replaces is in dir
}

// Name is the one that the file will have in the folder.
func (s *Staged) Name() string { return s.name }

// Discard removes what is left of the file outside its place.
func (s *Staged) Discard() {
	_ = s.root.RemoveAll(s.dir)
	s.root.Close()
}

const stagePrefix = ".kb-upload-"

// Stage writes a file beside its place and reads it, as [Notes.Add] does.
func (n *Notes) Stage(ctx context.Context, sent string, content io.Reader) (*Staged, error) {
	name, err := n.name(sent)
	if err != nil {
		return nil, err
	}
	dir := filepath.FromSlash(n.o.Dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, unwritable(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, unwritable(err)
	}
	s := &Staged{name: name, root: root, dir: stagePrefix + random()}
	err = s.fill(content, n.o.MaxSize)
	if err == nil {
		err = n.read(ctx, s)
	}
	if err != nil {
		s.Discard()
		return nil, unwritable(err)
	}
	return s, nil
}

// unwritable marks an error of the file system.
func unwritable(err error) error {
	var file *fs.PathError
	var link *os.LinkError
	if errors.As(err, &file) || errors.As(err, &link) {
		return fmt.Errorf("%w: %w", ErrFolder, err)
	}
	return err
}

// name is the name that a file will have, if it can be part of the index.
func (n *Notes) name(sent string) (string, error) {
	name, err := baseName(sent)
	switch {
	case err != nil:
		return "", err
	case !n.o.Load.Hooks.Read(name):
		return "", &RejectedError{name, record.ClassUnsupported, "only " + load.Types + " files are read"}
	case load.Ignored(n.o.Dir, name):
		return "", &NameError{sent, "a .kbignore names it"}
	}
	return name, nil
}

// fill writes the file to disk.
func (s *Staged) fill(content io.Reader, limit int64) error {
	if err := s.root.Mkdir(s.dir, 0o700); err != nil {
		return err
	}
	f, err := s.root.OpenFile(s.dir+"/"+s.name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	size, err := io.Copy(f, io.LimitReader(content, limit+1))
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil && size > limit {
		err = &RejectedError{s.name, record.ClassTooLarge, fmt.Sprintf("it has more than %d bytes", limit)}
	}
	return err
}

// read reads the file as a build would. Not every format can be given up while
// it is read, so the next file waits for one that takes too long, and not for
// ever.
func (n *Notes) read(ctx context.Context, s *Staged) error {
	leave, err := n.turnToRead(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, n.o.ReadTime)
	defer cancel()
	opt := n.o.Load
	opt.Warn, opt.Status, opt.Known = nil, nil, nil
	entry := load.Entry{Path: path.Join(filepath.ToSlash(n.o.Dir), s.dir, s.name)}
	type result struct {
		record record.Record
		err    error
	}
	done := make(chan result, 1)
	go func() {
		defer leave()
		reader := load.NewReader(opt)
		defer reader.Close()
		r, err := reader.Read(ctx, entry)
		done <- result{r, err}
	}()
	var res result
	select {
	case res = <-done:
	case <-ctx.Done():
		res.err = ctx.Err()
	}
	if errors.Is(res.err, context.DeadlineExceeded) {
		return &RejectedError{s.name, record.ClassTimeout, "reading it takes too long"}
	}
	switch r := res.record.(type) {
	case *record.Document:
		s.hash = r.Hash
	case *record.Skipped:
		return &RejectedError{s.name, r.Class, r.Reason}
	}
	return res.err
}

func (n *Notes) turnToRead(ctx context.Context) (leave func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, n.o.ReadTime)
	defer cancel()
	if leave, err = enter(waiting, n.reading); err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: other files are being read; try again later", ErrConflict)
	}
	return leave, err
}

// Commit puts files in their places and indexes them, all or none.
func (n *Notes) Commit(ctx context.Context, files ...*Staged) ([]*Added, error) {
	leave, err := enter(ctx, n.turn)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := n.closing.Err(); err != nil {
		return nil, err
	}
	ctx, cancel := n.lasting(ctx)
	defer cancel()
	before, err := n.find(ctx, files)
	if err != nil {
		return nil, err
	}
	tx, err := n.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	var placed []*Staged
	undo := func(err error) ([]*Added, error) {
		for _, s := range slices.Backward(placed) {
			err = errors.Join(err, s.restore())
		}
		return nil, err
	}
	for _, s := range files {
		if err := s.place(); err != nil {
			return undo(unwritable(err))
		}
		placed = append(placed, s)
	}
	if err := n.o.Build(ctx, tx); err != nil {
		return undo(err)
	}
	if err := n.o.Index.Refresh(ctx); err != nil {
		return nil, err
	}
	return n.added(ctx, tx, files, before, undo)
}

// find returns what the index has of the files, by path.
func (n *Notes) find(ctx context.Context, files []*Staged) (map[string]store.Document, error) {
	lease, err := n.o.Index.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer lease.Release()
	wanted := map[string]bool{}
	for _, s := range files {
		p := n.path(s.name)
		if wanted[p] {
			return nil, &NameError{s.name, "two files have it"}
		}
		wanted[p] = true
	}
	found := map[string]store.Document{}
	for d, err := range lease.Reader().Documents(ctx) {
		if err != nil {
			return nil, err
		}
		if wanted[d.Path] {
			found[d.Path] = d
		}
	}
	return found, nil
}

// path is that of a document in the folder.
func (n *Notes) path(name string) string { return path.Join(filepath.ToSlash(n.o.Dir), name) }

// added says what became of the files. One that is no document of the index
// after all is taken back with the rest.
func (n *Notes) added(ctx context.Context, tx store.Tx, files []*Staged, before map[string]store.Document, undo func(error) ([]*Added, error)) ([]*Added, error) {
	after, err := n.find(ctx, files)
	if err != nil {
		return nil, err
	}
	var out []*Added
	for _, s := range files {
		p := n.path(s.name)
		d, ok := after[p]
		if !ok || d.Hash != s.hash {
			_, err := undo(fmt.Errorf("%s: %w: it was changed or could not be indexed", p, ErrConflict))
			tx.Rollback() // it still has the lock where the build found nothing to change
			return nil, errors.Join(err, n.buildAgain(ctx), n.o.Index.Refresh(ctx))
		}
		status := record.StatusCreated
		if old, known := before[p]; known && old.Hash == d.Hash {
			status = record.StatusUnchanged
		} else if known {
			status = record.StatusUpdated
		}
		out = append(out, &Added{ID: d.ID, Path: p, Status: status, Chunks: d.Chunks})
	}
	return out, nil
}

// buildAgain waits for a process that writes.
func (n *Notes) buildAgain(ctx context.Context) error {
	tx, err := n.o.Index.o.Store.Begin(ctx, true)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	return n.o.Build(ctx, tx)
}

// place moves the file to its place, and keeps what was there.
func (s *Staged) place() error {
	info, err := s.root.Lstat(s.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w: %s is there, and is not a regular file", ErrConflict, s.name)
	default:
		if err := s.root.Link(s.name, s.old()); err != nil { // a file system without links
			err = s.root.Rename(s.name, s.old())
			if err != nil {
				return err
			}
		}
		s.kept = true
	}
	if err := s.root.Rename(s.dir+"/"+s.name, s.name); err != nil {
		return errors.Join(err, s.restore())
	}
	syncFolder(s.root)
	return nil
}

func (s *Staged) old() string { return s.dir + "/old" }

// restore puts back what was there. Where nothing was, somebody else may have
// removed the file already.
func (s *Staged) restore() error {
	defer syncFolder(s.root)
	if s.kept {
		return s.root.Rename(s.old(), s.name)
	}
	if err := s.root.Remove(s.name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Remove removes the file of a document, by its id or path, and what the index
// has of it. The error is [ErrNotFound], or [ErrConflict] for a document that
// is not one of these notes.
func (n *Notes) Remove(ctx context.Context, id string) error {
	leave, err := enter(ctx, n.turn)
	if err != nil {
		return err
	}
	defer leave()
	if err := n.closing.Err(); err != nil {
		return err
	}
	ctx, cancel := n.lasting(ctx)
	defer cancel()
	lease, err := n.o.Index.Acquire(ctx)
	if err != nil {
		return err
	}
	d, err := lease.Find(ctx, id)
	lease.Release()
	if err != nil {
		return err
	}
	rel, ok := n.below(d.Path)
	if !ok {
		return fmt.Errorf("%w: %s does not lie in the folder %s", ErrConflict, d.Path, n.o.Dir)
	}
	return n.remove(ctx, d.Path, rel)
}

// remove takes the file out of its folder, then the document out of the index,
// which is locked before, and puts the file back where that fails.
func (n *Notes) remove(ctx context.Context, path, rel string) error {
	tx, err := n.begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	root, err := os.OpenRoot(filepath.FromSlash(n.o.Dir))
	if errors.Is(err, fs.ErrNotExist) {
		return n.forget(ctx, tx, path)
	}
	if err != nil {
		return err
	}
	defer root.Close()
	info, err := root.Lstat(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return n.forget(ctx, tx, path)
	case err != nil || !info.Mode().IsRegular():
		return fmt.Errorf("%w: %s is not a regular file of the folder", ErrConflict, path)
	}
	dir := stagePrefix + random()
	if err := root.Mkdir(dir, 0o700); err != nil {
		return unwritable(err)
	}
	defer root.RemoveAll(dir)
	if err := root.Rename(rel, dir+"/old"); err != nil {
		return unwritable(err)
	}
	if err := n.forget(ctx, tx, path); err != nil {
		return errors.Join(err, root.Rename(dir+"/old", rel))
	}
	syncFolder(root)
	return nil
}

// forget removes a document from the index. An index that went away is built
// anew, without it.
func (n *Notes) forget(ctx context.Context, tx store.Tx, path string) error {
	_, _, err := index.Remove(ctx, store.Held(n.o.Index.o.Store, tx), []string{path}, index.RemoveOptions{NoWait: true})
	if errors.Is(err, store.ErrNotFound) {
		err = n.o.Build(ctx, tx)
	}
	var gone *index.NoDocumentError
	if err != nil && !errors.As(err, &gone) {
		return err
	}
	return n.o.Index.Refresh(ctx)
}

// syncFolder makes renames in the folder last. Some systems cannot sync one;
// the renames have happened all the same.
func syncFolder(root *os.Root) {
	if d, err := root.Open("."); err == nil {
		_ = d.Sync()
		d.Close()
	}
}
