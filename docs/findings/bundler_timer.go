// Shows that a timer that has fired for one bundle may send the next one (docs/findings.md).
//
//	go mod init x && go get google.golang.org/api@v0.61.0 && go run bundler_timer.go
package main

import (
	"fmt"
	"time"

	"google.golang.org/api/support/bundler"
)

const delay = 5 * time.Millisecond

func main() {
	left := make(chan []int, 10)
	b := bundler.NewBundler(0, func(items interface{}) { left <- items.([]int) })
	b.BundleCountThreshold, b.DelayThreshold, b.HandlerLimit = 2, delay, 9
	early, tried, least := 0, 0, delay
	for began := time.Now(); time.Since(began) < 20*time.Second; {
		b.Add(1, 1)
		time.Sleep(delay) // the timer fires now, and Add(2) races with it for the lock
		b.Add(2, 1)
		b.Add(3, 1)
		added := time.Now()
		for handled := 0; handled < 3; {
			items := <-left
			handled += len(items)
			if len(items) == 1 && items[0] == 3 { // so 1 and 2 left together, and 3 began a bundle
				tried++
				if waited := time.Since(added); waited < delay/2 {
					early++
					least = waited
				}
			}
		}
	}
	fmt.Printf("of %d items that were alone, %d left early, after %v of %v\n", tried, early, least, delay)
}
