import { Type as t } from "@sinclair/typebox"

export const Settings = t.Object({
  max_bytes: t.Integer({
    default: 10_737_418_240,
    minimum: 1_048_576,
    maximum: 1_099_511_627_776,
    "x-key": "import_max_bytes",
    description: "Maximum size of an uploaded import file, in bytes. Default: 10 GiB.",
  }),
})
