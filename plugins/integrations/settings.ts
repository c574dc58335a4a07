import { Type as t } from "@sinclair/typebox"

export const Settings = t.Object({
  telegram_api_base: t.Optional(
    t.String({
      pattern: "^https?://[^\\s/]+(/[^\\s]*)?$",
      "x-key": "telegram_api_base",
      "x-form": "an http or https URL",
      description: "Base URL of Telegram's Bot API, for a server of your own. Default: https://api.telegram.org.",
    }),
  ),
})
