"""A minimal CrawlSpider, run by the Python of the harness's own venv: `spider.py THREADS URL...`."""

import sys
from urllib.parse import urlsplit

from scrapy.crawler import CrawlerProcess  # type: ignore[import-not-found]
from scrapy.linkextractors import LinkExtractor  # type: ignore[import-not-found]
from scrapy.spiders import CrawlSpider, Rule  # type: ignore[import-not-found]


class Spider(CrawlSpider):  # type: ignore[misc]
    name = "realweb"
    start_urls = sys.argv[2:]
    allowed_domains = tuple(urlsplit(url).hostname for url in sys.argv[2:])
    rules = (Rule(LinkExtractor(), follow=True),)


process = CrawlerProcess(
    {
        "ROBOTSTXT_OBEY": True,
        "CONCURRENT_REQUESTS_PER_DOMAIN": int(sys.argv[1]),
        "DOWNLOAD_DELAY": 0,
        "LOG_LEVEL": "WARNING",
    }
)
process.crawl(Spider)
process.start()
