"""The control node: see everything, change anything, from one place. Never on the data's path.

`service.Service` is what a crawl can tell and do; `api` puts it on the network and knows nothing
else; `schemas` are the things that pass between the two, and so the API's contract. A standalone
crawl and a cluster each have their own service.
"""
