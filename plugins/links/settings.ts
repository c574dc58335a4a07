import { Type as t } from "@sinclair/typebox"

export const Settings = t.Object({
  prefix: t.String({
    default: "l",
    pattern: "^/?[A-Za-z0-9][A-Za-z0-9-]{0,30}$",
    "x-key": "link_prefix",
    description: "First word of the path of short links: /l/spring.",
  }),
  schemes: t.Array(t.String(), {
    default: [],
    "x-key": "link_schemes",
    description: "Schemes besides http and https that short links may lead to, for whoever may change the site: mailto, tel, an app's own.",
  }),
  allowed_hosts: t.Array(t.String(), {
    default: [],
    "x-key": "link_allowed_hosts",
    description: "Hosts that short links may lead to, *.example.com for all below; empty: any.",
  }),
  denied_hosts: t.Array(t.String(), {
    default: [],
    "x-key": "link_denied_hosts",
    description: "Hosts that short links may not lead to, *.example.com for all below.",
  }),
  fetch_titles: t.Boolean({
    default: false,
    "x-key": "link_fetch_titles",
    description: "Whether the title of a destination is fetched for a link that has none.",
  }),
  datacenters: t.Optional(
    t.String({
      minLength: 1,
      "x-key": "link_datacenters",
      "x-form": "a path",
      description: "File with address ranges of data centres, one a line: clicks from there are no person's. Read again when it changes.",
    }),
  ),
})
