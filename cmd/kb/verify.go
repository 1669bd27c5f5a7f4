package main

import (
	"context"
	"fmt"

	"kb/pkg/answer"
	"kb/pkg/store"
	"kb/pkg/store/flat"
)

// checkIndex verifies an index, or repairs it.
func checkIndex(ctx context.Context, e *env, st store.Store, repair, wait bool) error {
	file, ok := st.(*flat.Store)
	switch {
	case !ok && repair:
		return withHint(usagef("%s: only an index in a file can be repaired", st.Name()),
			`"kb index --verify" says what is damaged; restore the database, or name a new place and run "kb build"`)
	case !ok:
		return verifyStore(ctx, e, st)
	case repair:
		return repairIndex(ctx, e, file, wait)
	}
	report, err := file.Verify(ctx)
	if err != nil {
		return err
	}
	for _, fault := range report.Faults {
		fmt.Fprintln(e.stdout, fault)
	}
	if n := len(report.Faults); n > 0 {
		return withHint(&codeError{exitDamaged, fmt.Errorf("%s: %s in %s", st.Name(), count(n, "fault"), count(report.Frames, "frame"))},
			`"kb index --repair" saves what is whole; "kb build" makes the rest anew`)
	}
	fmt.Fprintf(e.stdout, "%s: whole: %s, %s, %s\n", st.Name(),
		count(report.Frames, "frame"), count(report.Info.Documents, "document"), count(report.Info.Chunks, "chunk"))
	if report.Relaid {
		fmt.Fprintf(e.stdout, "another program compressed it: it is slow to open until \"kb index --repair\" writes it again\n")
	}
	return nil
}

// firstFault reads an index and returns the first damage that it finds.
func firstFault(ctx context.Context, file *flat.Store) error {
	report, err := file.Verify(ctx)
	if err != nil || len(report.Faults) == 0 {
		return err
	}
	return report.Faults[0]
}

const faultsShown = 20

// verifyStore verifies an index in a database.
func verifyStore(ctx context.Context, e *env, st store.Store) error {
	r, err := st.Open(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	report, err := store.Verify(ctx, r)
	if err != nil {
		return err
	}
	n := len(report.Faults)
	for _, fault := range report.Faults[:min(n, faultsShown)] {
		fmt.Fprintln(e.stdout, answer.Plain(fault.Error()))
	}
	if n > 0 {
		return withHint(&codeError{exitDamaged, fmt.Errorf("%s: %s", st.Name(), count(n, "fault"))},
			`something else than kb changed what it keeps there: restore the database, or name a new place and run "kb build"`)
	}
	fmt.Fprintf(e.stdout, "%s: whole: %s, %s, %s, %s; vector search finds %d of %s by their own vectors\n", st.Name(),
		count(report.Info.Documents, "document"), count(report.Info.Chunks, "chunk"), count(report.Info.Vectors, "vector"),
		count(report.Words, "word"), report.Found, count(report.Probes, "chunk"))
	return nil
}

func repairIndex(ctx context.Context, e *env, file *flat.Store, wait bool) error {
	r, err := file.Repair(ctx, wait)
	if err != nil {
		return err
	}
	if !r.Written {
		fmt.Fprintf(e.stdout, "%s: nothing to repair, %s\n", file.Name(), count(r.Kept, "document"))
		return nil
	}
	fmt.Fprintf(e.stdout, "%s: written again with %s\n", file.Name(), count(r.Kept, "document"))
	for _, l := range r.Lost {
		fmt.Fprintf(e.stdout, "lost: %s: %s\n", answer.Plain(l.Path), l.Reason)
	}
	switch {
	case r.Unnamed > 0:
		fmt.Fprintf(e.stdout, "lost: %s of which not even the path is left\n", count(r.Unnamed, "document"))
	case r.Unnamed < 0:
		fmt.Fprintln(e.stdout, "lost: perhaps more documents, of which nothing is left")
	}
	if len(r.Lost) > 0 || r.Unnamed != 0 {
		return withHint(&codeError{exitPartial, fmt.Errorf("%s: some documents were lost", file.Name())}, `"kb build" makes them anew`)
	}
	return nil
}
