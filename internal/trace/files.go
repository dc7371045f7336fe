// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"container/list"
	"os"
	"sync"
)

// maxOpenFiles is how many files are held open at once. A run may have more
// ranks than a process may have files.
const maxOpenFiles = 200

// filePool opens files when they are read and closes those that were not read
// for longest.
type filePool struct {
	mu    sync.Mutex
	limit int
	open  map[string]*openFile
	used  list.List // of *openFile, most recently used first
}

type openFile struct {
	path    string
	file    *os.File
	readers int
	place   *list.Element
}

func newFilePool(limit int) *filePool {
	return &filePool{limit: limit, open: map[string]*openFile{}}
}

// reader is the file at path as an io.ReaderAt.
func (p *filePool) reader(path string) pooledFile { return pooledFile{p, path} }

type pooledFile struct {
	pool *filePool
	path string
}

func (f pooledFile) ReadAt(b []byte, off int64) (int, error) {
	o, err := f.pool.take(f.path)
	if err != nil {
		return 0, err
	}
	defer f.pool.release(o)
	return o.file.ReadAt(b, off)
}

func (p *filePool) take(path string) (*openFile, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o := p.open[path]; o != nil {
		o.readers++
		p.used.MoveToFront(o.place)
		return o, nil
	}
	p.shrink(p.limit - 1)
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	o := &openFile{path: path, file: f, readers: 1}
	o.place = p.used.PushFront(o)
	p.open[path] = o
	return o, nil
}

func (p *filePool) release(o *openFile) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o.readers--
}

// shrink closes files that nobody reads until at most n are open.
func (p *filePool) shrink(n int) {
	for e := p.used.Back(); e != nil && p.used.Len() > n; {
		o, before := e.Value.(*openFile), e.Prev()
		if o.readers == 0 {
			o.file.Close()
			p.used.Remove(e)
			delete(p.open, o.path)
		}
		e = before
	}
}

// close closes all files.
func (p *filePool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shrink(0)
}
