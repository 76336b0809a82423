"""The Django project around django-oscar: what its documentation says to write, on SQLite and Whoosh."""

SETTINGS = """\
from oscar.defaults import *

BASE = "{folder}"
DEBUG = False
SECRET_KEY = "not a secret"
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "store.urls"
LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
SITE_ID = 1
OSCAR_SHOP_NAME = "Database shop"
OSCAR_DEFAULT_CURRENCY = "EUR"
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
STATIC_URL = "/static/"
STATIC_ROOT = BASE + "/static"
MEDIA_URL = "/media/"
MEDIA_ROOT = BASE + "/media"
DATABASES = {{
    "default": {{
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": BASE + "/shop.sqlite3",
        "OPTIONS": {{"timeout": 60}},
    }}
}}
HAYSTACK_CONNECTIONS = {{
    "default": {{
        "ENGINE": "haystack.backends.whoosh_backend.WhooshEngine",
        "PATH": BASE + "/index",
        "INCLUDE_SPELLING": False,
    }}
}}
INSTALLED_APPS = [
    *("django.contrib." + name for name in (
        "admin", "auth", "contenttypes", "sessions", "messages", "staticfiles", "sites", "flatpages",
    )),
    "oscar.config.Shop",
    *("oscar.apps." + name for name in (
        "analytics.apps.AnalyticsConfig", "checkout.apps.CheckoutConfig", "address.apps.AddressConfig",
        "shipping.apps.ShippingConfig", "catalogue.apps.CatalogueConfig",
        "catalogue.reviews.apps.CatalogueReviewsConfig", "communication.apps.CommunicationConfig",
        "partner.apps.PartnerConfig", "basket.apps.BasketConfig", "payment.apps.PaymentConfig",
        "offer.apps.OfferConfig", "order.apps.OrderConfig", "customer.apps.CustomerConfig",
        "search.apps.SearchConfig", "voucher.apps.VoucherConfig", "wishlists.apps.WishlistsConfig",
        "dashboard.apps.DashboardConfig", "dashboard.reports.apps.ReportsDashboardConfig",
        "dashboard.users.apps.UsersDashboardConfig", "dashboard.orders.apps.OrdersDashboardConfig",
        "dashboard.catalogue.apps.CatalogueDashboardConfig", "dashboard.offers.apps.OffersDashboardConfig",
        "dashboard.partners.apps.PartnersDashboardConfig", "dashboard.pages.apps.PagesDashboardConfig",
        "dashboard.ranges.apps.RangesDashboardConfig", "dashboard.reviews.apps.ReviewsDashboardConfig",
        "dashboard.vouchers.apps.VouchersDashboardConfig",
        "dashboard.communications.apps.CommunicationsDashboardConfig",
        "dashboard.shipping.apps.ShippingDashboardConfig",
    )),
    "widget_tweaks", "haystack", "treebeard", "sorl.thumbnail", "django_tables2",
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "oscar.apps.basket.middleware.BasketMiddleware",
    "django.contrib.flatpages.middleware.FlatpageFallbackMiddleware",
]
TEMPLATES = [{{
    "BACKEND": "django.template.backends.django.DjangoTemplates",
    "APP_DIRS": True,
    "OPTIONS": {{"context_processors": [
        *("django.template.context_processors." + name for name in (
            "debug", "request", "i18n", "media", "static",
        )),
        "django.contrib.auth.context_processors.auth",
        "django.contrib.messages.context_processors.messages",
        "oscar.apps.search.context_processors.search_form",
        "oscar.apps.checkout.context_processors.checkout",
        "oscar.apps.communication.notifications.context_processors.notifications",
        "oscar.core.context_processors.metadata",
    ]}},
}}]
AUTHENTICATION_BACKENDS = ["oscar.apps.customer.auth_backends.EmailBackend"]
"""
URLS = """\
from django.apps import apps
from django.urls import include, path

urlpatterns = [
    path("i18n/", include("django.conf.urls.i18n")),
    path("", include(apps.get_app_config("oscar").urls[0])),
]
"""
WSGI = """\
from django.core.wsgi import get_wsgi_application

application = get_wsgi_application()
"""
