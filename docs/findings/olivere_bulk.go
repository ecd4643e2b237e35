// Shows that a bulk of olivere/elastic that failed is sent again with what comes next, and that a busy worker keeps the
// batches of the others (docs/findings.md).
//
//	go mod init x && go get gopkg.in/olivere/elastic.v5 && go run olivere_bulk.go
package main

import (
	"bytes"
	"context"
	"fmt"
	"io/ioutil"
	"net/http"
	"strings"
	"sync"
	"time"

	elastic "gopkg.in/olivere/elastic.v5"
)

// transport plays Elasticsearch: it answers each bulk with this function of its text.
type transport func(body string) (status int)

func (t transport) RoundTrip(request *http.Request) (*http.Response, error) {
	body, _ := ioutil.ReadAll(request.Body)
	status, text := t(string(body)), `{"took":1,"items":[]}`
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: ioutil.NopCloser(bytes.NewBufferString(text))}, nil
}

func processor(t transport, workers int, after elastic.BulkAfterFunc) *elastic.BulkProcessor {
	web := &http.Client{Transport: t}
	client, _ := elastic.NewSimpleClient(elastic.SetURL("http://localhost"), elastic.SetHttpClient(web))
	service := client.BulkProcessor().Workers(workers).BulkActions(2).FlushInterval(100 * time.Millisecond)
	p, _ := service.Backoff(elastic.StopBackoff{}).After(after).Do(context.Background())
	return p
}

func add(p *elastic.BulkProcessor, ids ...string) {
	for _, id := range ids {
		p.Add(elastic.NewBulkIndexRequest().Index("i").Type("t").Id(id).Doc("x"))
	}
}

func main() {
	calls := 0
	p := processor(func(body string) int {
		calls++
		fmt.Printf("a bulk of %d, of at most 2\n", strings.Count(body, `"_id"`))
		if calls == 1 {
			return 400
		}
		return 200
	}, 1, func(_ int64, requests []elastic.BulkableRequest, _ *elastic.BulkResponse, err error) {
		fmt.Printf("  After: %d requests, error: %v\n", len(requests), err != nil)
	})
	add(p, "1", "2", "3", "4")
	p.Close()

	var lock sync.Mutex
	began, left := time.Now(), []string{}
	p = processor(func(body string) int {
		lock.Lock()
		left = append(left, fmt.Sprintf("after %v", time.Since(began).Round(50*time.Millisecond)))
		first := len(left) == 1
		lock.Unlock()
		if first {
			time.Sleep(1500 * time.Millisecond)
		}
		return 200
	}, 2, nil)
	time.Sleep(10 * time.Millisecond)
	began = time.Now()
	add(p, "1")
	time.Sleep(150 * time.Millisecond) // the first bulk has left, and its worker is busy
	add(p, "2")
	time.Sleep(2 * time.Second)
	fmt.Println("with two workers and an interval of 100 ms, bulks left", strings.Join(left, ", "))
	p.Close()
}
