import { Type as t } from "@sinclair/typebox"

export const Settings = t.Object({
  prefix: t.String({
    default: "p",
    pattern: "^/?[A-Za-z0-9][A-Za-z0-9-]{0,30}$",
    "x-key": "pixel_prefix",
    description: "First segment of the path of tracking pixels: `/p/spring.gif`.",
  }),
  relays: t.Optional(
    t.String({
      minLength: 1,
      "x-key": "pixel_relays",
      "x-form": "a path",
      description:
        "File with IP address ranges from which mail services prefetch images, one per line. Opens from them count as prefetched. Reloaded when it changes.",
    }),
  ),
})
