"""Who owns a partition, and how one machine's part in a crawl begins, goes on and ends.

A crawl's partitions are given to nodes by the **assignment** (the key `map`), one value in the engine that is
changed by compare-and-set only. A node says that it lives by renewing its **lease**; it may visit hosts only
until three quarters of a lease after the renewal that was acknowledged last, so it has stopped
before the control node gives its partitions to others. Links to partitions of others go through the
**exchange**; addresses that hosts of several nodes share are lent by **grants**. What a partition
holds is kept elsewhere too, as **snapshots**: with the last one and the links since then any node
can go on with the partition. **member** is a crawl node's life, where these meet.

`messages` has everything that nodes and the control node say to each other, `requests` how a question is
asked and how a failure is answered, `crawl_state` what the engine says about the crawl.
"""
