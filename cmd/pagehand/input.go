package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// maxInput bounds one JSON value of the input, in bytes.
const maxInput = 16 << 20

var errTooLong = fmt.Errorf("the input is longer than %d MiB", maxInput>>20)

// byteOrderMark is what some editors and shells put before UTF-8.
var byteOrderMark = []byte("\ufeff")

// value is one JSON value of the input, or what is wrong with it. An error other than errTooLong is the last.
type value struct {
	data []byte
	err  error
}

// values reads the input in the background, so that a signal can end the wait for it: the whole of it as one value, or each line
// that is not blank as one, without a byte order mark at its start. It closes the channel at the end of the input. A read that never returns lives as long as the process.
func values(ctx context.Context, in io.Reader, lines bool) <-chan value {
	out := make(chan value)
	read := wholeInput
	if lines {
		read = eachLine
	}
	go func() {
		defer close(out)
		read(in, func(v value) bool {
			select {
			case out <- v:
				return true
			case <-ctx.Done():
				return false
			}
		})
	}()
	return out
}

func wholeInput(in io.Reader, yield func(value) bool) {
	data, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if err == nil && len(data) > maxInput {
		data, err = nil, errTooLong
	}
	yield(value{bytes.TrimPrefix(data, byteOrderMark), err})
}

func eachLine(in io.Reader, yield func(value) bool) {
	buffered := bufio.NewReaderSize(in, 64<<10)
	mark := byteOrderMark // of the first line
	for {
		line, err := readLine(buffered)
		line, mark = bytes.TrimPrefix(line, mark), nil
		last := err != nil && !errors.Is(err, errTooLong)
		if errors.Is(err, io.EOF) {
			if len(line) == 0 {
				return
			}
			err = nil
		}
		blank := err == nil && len(bytes.TrimSpace(line)) == 0
		if !blank && !yield(value{line, err}) || last {
			return
		}
	}
}

// readLine reads up to the next newline, which it drops. Of a line that is too long it keeps nothing.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := in.ReadSlice('\n')
		complete := err == nil
		if complete {
			part = part[:len(part)-1]
		}
		if tooLong = tooLong || len(line)+len(part) > maxInput; tooLong {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case tooLong && (complete || errors.Is(err, io.EOF)):
			return nil, errTooLong // an end of the input comes again with the next read
		default:
			return line, err
		}
	}
}
