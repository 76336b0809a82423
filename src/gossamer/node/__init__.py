"""One process of a crawl: wiring, doors, lifecycle. The stages of the ring are native and meet here.

    1 seed → 2 canonical → 3 seen → 4 frontier → 5 fetch → 6 parse → 7 store → 8 links → 9 exchange
                             ▲                                                             │
                             └────────── the node that owns the URL's host ◄───────────────┘

A URL is born as a **seed** or as a link of a page. **canonical** gives it its one spelling; nothing
else makes URLs. **seen** lets each spelling pass once. The **frontier** keeps it in the queue of its
host until that host, and the address behind it, may be visited again; then it hands out a *visit*,
which is a lease: the queue entry stays on disk until the visit is finished in the same atomic batch
that stores its page. **fetch** always answers, within a deadline and a size, with a response or an
*outcome*. **parse** finds the links of whatever came. **store** makes the page durable: WARC record,
log line, index row. Only then its **links** leave, absolute, canonical, in scope, once per page, and
**exchange** carries each to the node that owns its host, where it meets **seen** again.

Two rules follow from the order. *Store before links*: a crash can send a link twice but never lose
it. *A seed is a link without a parent*: there is one door into `seen`.

The stages are mechanism (`rust/core/src/`). What is judged stands in `gossamer.policy`.
"""
