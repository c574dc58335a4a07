import { Type as t } from "@sinclair/typebox"

/** Describes the base URL of a service, which the operator can replace. */
const base = (key: string, description: string) =>
  t.Optional(t.String({ pattern: "^https?://[^\\s/]+(/[^\\s]*)?$", "x-key": key, "x-form": "an http or https URL", description }))

export const Settings = t.Object({
  telegram_api_base: base(
    "telegram_api_base",
    "Base URL of Telegram's Bot API, for a server of your own. Default: https://api.telegram.org.",
  ),
  gsc_api_base: base("gsc_api_base", "Base URL of Google's Search Console API. Default: https://www.googleapis.com."),
  ga4_admin_api_base: base(
    "ga4_admin_api_base",
    "Base URL of the Google Analytics Admin API, which lists properties. Default: https://analyticsadmin.googleapis.com.",
  ),
  bing_api_base: base("bing_api_base", "Base URL of Bing's Webmaster API. Default: https://ssl.bing.com."),
})
