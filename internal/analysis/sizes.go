// SPDX-License-Identifier: Apache-2.0

package analysis

import "math/bits"

// sizeHistogram counts messages by class and power of two: bucket 0 is of no
// bytes, bucket k of 2^(k-1) up to, not including, 2^k bytes.
type sizeHistogram [numClasses][64]Count

func (h *sizeHistogram) add(class sizeClass, bytes int64, messages uint64) {
	if class >= numClasses || bytes < 0 || messages == 0 {
		return
	}
	c := &h[class][bits.Len64(uint64(bytes))]
	c.Count += messages
	c.Bytes += bytes * int64(messages)
}

func (h *sizeHistogram) merge(o *sizeHistogram) {
	for class := range h {
		for k := range h[class] {
			h[class][k].Count += o[class][k].Count
			h[class][k].Bytes += o[class][k].Bytes
		}
	}
}

// rows are the buckets from the smallest to the largest that is used; those in
// between are there even if they are empty.
func (h *sizeHistogram) rows() []Size {
	first, last := len(h[0]), -1
	for class := range h {
		for k, c := range h[class] {
			if c.Count > 0 {
				first, last = min(first, k), max(last, k)
			}
		}
	}
	rows := []Size{}
	for k := first; k <= last; k++ {
		row := Size{
			High:        1 << k,
			Sends:       h[classSend][k],
			Receives:    h[classReceive][k],
			Collectives: h[classCollective][k],
			OneSided:    h[classOneSided][k],
			IO:          h[classIO][k],
		}
		if k > 0 {
			row.Low = 1 << (k - 1)
		}
		if k == 63 {
			row.High = 1<<63 - 1
		}
		rows = append(rows, row)
	}
	return rows
}
