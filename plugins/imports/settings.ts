import { Type as t } from "@sinclair/typebox"

export const Settings = t.Object({
  ga4_api_base: t.Optional(
    t.String({
      pattern: "^https?://[^\\s/]+(/[^\\s]*)?$",
      "x-key": "ga4_api_base",
      "x-form": "an http or https URL",
      description: "Base URL of the Google Analytics Data API. Default: https://analyticsdata.googleapis.com.",
    }),
  ),
  max_bytes: t.Integer({
    default: 10_737_418_240,
    minimum: 1_048_576,
    maximum: 1_099_511_627_776,
    "x-key": "import_max_bytes",
    description: "Maximum size of an uploaded import file, in bytes. Default: 10 GiB.",
  }),
})
