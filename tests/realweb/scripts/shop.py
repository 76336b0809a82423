"""Run by the venv's Python: `shop.py SHOP.json TRUTH.json`. Writes categories, products, prices and reviews."""

import json
import sys
from decimal import Decimal
from pathlib import Path

import django  # type: ignore[import-not-found]

django.setup()

from django.conf import settings  # type: ignore[import-not-found]  # noqa: E402
from django.db import transaction  # type: ignore[import-not-found]  # noqa: E402
from oscar.apps.catalogue.categories import (  # type: ignore[import-not-found]  # noqa: E402
    create_from_breadcrumbs,
)
from oscar.core.loading import get_model  # type: ignore[import-not-found]  # noqa: E402

Category = get_model("catalogue", "Category")
Product = get_model("catalogue", "Product")


def write(shop: dict) -> None:
    product_class = get_model("catalogue", "ProductClass").objects
    classes = {name: product_class.create(name=name) for name in shop["types"]}
    partner = get_model("partner", "Partner").objects.create(name="Warehouse")
    categories = {path: create_from_breadcrumbs(path) for path in shop["categories"]}
    for number, item in enumerate(shop["products"], 1):
        product = Product.objects.create(
            title=item["title"],
            upc=f"UPC{number:05}",
            description=item["description"],
            product_class=classes[item["type"]],
            is_public=item["public"],
        )
        product.categories.add(categories[item["category"]])
        get_model("partner", "StockRecord").objects.create(
            product=product,
            partner=partner,
            partner_sku=f"SKU{number:05}",
            price=Decimal(item["price"]),
            num_in_stock=item["stock"],
        )
        for review in item["reviews"]:
            get_model("reviews", "ProductReview").objects.create(
                product=product, score=review["score"], title=review["title"], body=review["body"],
                name=review["name"], email="reader@example.org", status=1,
            )  # fmt: skip
        product.update_rating()


def truth() -> list[str]:
    """Products on sale, and the pages of categories and of the whole catalogue."""
    products = Product.objects.browsable().filter(is_public=True)
    found = [product.get_absolute_url() for product in products]
    found += paged("/catalogue/", products.count())
    for category in Category.objects.all():
        below = category.get_descendants_and_self()
        count = products.filter(categories__in=below).distinct().count()
        found += paged(category.get_absolute_url(), count)
    return found


def paged(url: str, count: int) -> list[str]:
    pages = -(-count // settings.OSCAR_PRODUCTS_PER_PAGE)
    return [url, *(f"{url}?page={page}" for page in range(2, pages + 1))]


with transaction.atomic():
    write(json.loads(Path(sys.argv[1]).read_text()))
Path(sys.argv[2]).write_text(json.dumps(truth()))
