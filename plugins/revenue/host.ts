import { type Static, Type as t } from "@sinclair/typebox"
import type { Host } from "#plugin"

export const Settings = t.Object({
  ecb_url: t.Optional(
    t.String({
      minLength: 1,
      "x-key": "ecb_url",
      "x-form": "a URL",
      description:
        "URL of the daily file with the reference rates of the European Central Bank (`eurofxref-daily.xml`). Read every day. Default: no rates are fetched.",
    }),
  ),
})

export type RevenueHost = Host<Static<typeof Settings>>

export const LIMITS = {
  transactions: 5_000_000,
  /** Manual transactions in one request. */
  batch: 100,
  /** Rates in one request. */
  rates: 10_000,
  items: 100,
  lookbackDays: { min: 1, max: 365 },
  ignoredReferrers: 200,
} as const
