package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pagehand/pagehand/recording"
	"github.com/pagehand/pagehand/report"
)

// runFiles are what a run leaves behind.
type runFiles struct {
	transcript *os.File // nil before the run begins
	report     string
	earlier    []recording.Event // of the run that is continued; nil: none
}

// earlierFiles opens the transcript of the run that is continued, if one is.
func earlierFiles(name string) (*runFiles, error) {
	if name == "" {
		return &runFiles{}, nil
	}
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("--resume: %w", err)
	}
	f := &runFiles{transcript: file, report: reportName(name)}
	if err := f.read(); err != nil {
		return nil, errors.Join(fmt.Errorf("--resume: %s: %w", name, err), file.Close())
	}
	return f, nil
}

// begin makes the transcript of a new run.
func (f *runFiles) begin(out string) error {
	if f.transcript != nil {
		return nil
	}
	folder, err := runFolder(out)
	if err != nil {
		return err
	}
	name := filepath.Join(folder, "run.jsonl")
	f.report = reportName(name)
	f.transcript, err = os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	return err
}

func reportName(transcript string) string {
	return strings.TrimSuffix(transcript, filepath.Ext(transcript)) + ".html"
}

// runFolder makes the folder for a run's files, by default one of its own that only its user can read.
func runFolder(out string) (string, error) {
	if out != "" {
		return out, os.MkdirAll(out, 0o700)
	}
	state := os.Getenv("XDG_STATE_HOME")
	if state == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("no folder for the transcript: %w; name one with --out", err)
		}
		state = filepath.Join(home, ".local", "state")
	}
	runs := filepath.Join(state, "pagehand", "runs")
	if err := os.MkdirAll(runs, 0o700); err != nil {
		return "", fmt.Errorf("no folder for the transcript: %w; name one with --out", err)
	}
	return os.MkdirTemp(runs, time.Now().Format("20060102-150405-"))
}

// read reads the events and makes the file ready for more: what a killed process left of its last line goes.
func (f *runFiles) read() error {
	data, err := io.ReadAll(f.transcript)
	if err != nil {
		return err
	}
	if f.earlier, err = readEvents(data); err != nil {
		return err
	}
	if !slices.ContainsFunc(f.earlier, func(e recording.Event) bool { return e.Type == recording.TypeMessage }) {
		return errors.New("it is not the transcript of a run") // and stays as it is
	}
	whole := int64(bytes.LastIndexByte(data, '\n') + 1)
	switch tail := data[whole:]; {
	case len(tail) == 0:
		return nil
	case json.Valid(tail):
		_, err = f.transcript.WriteString("\n")
		return err
	}
	if err := f.transcript.Truncate(whole); err != nil {
		return err
	}
	_, err = f.transcript.Seek(whole, io.SeekStart)
	return err
}

func readEvents(data []byte) ([]recording.Event, error) {
	events := []recording.Event{}
	for e, err := range recording.Read(bytes.NewReader(data)) {
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, nil
}

// paths are the names of the files. The report is written first.
func (f *runFiles) paths() [][2]string {
	list := [][2]string{{"transcript", f.transcript.Name()}}
	if err := f.writeReport(); err != nil {
		return append(list, [2]string{"no report", err.Error()})
	}
	return append(list, [2]string{"report", f.report})
}

// writeReport makes the report of the transcript.
func (f *runFiles) writeReport() error {
	data, err := os.ReadFile(f.transcript.Name())
	if err != nil {
		return err
	}
	events, err := readEvents(data)
	if err != nil {
		return err
	}
	run, err := report.FromRecording(events)
	if err != nil {
		return err
	}
	run.Environment = append(run.Environment, report.Fact{Name: "Pagehand", Value: versionNumber()})
	return saveReport(f.report, run)
}

func (f *runFiles) close() error {
	if f.transcript == nil {
		return nil
	}
	return f.transcript.Close()
}
