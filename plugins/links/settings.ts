import { Type as t } from "@sinclair/typebox"

export const Settings = t.Object({
  prefix: t.String({
    default: "l",
    pattern: "^/?[A-Za-z0-9][A-Za-z0-9-]{0,30}$",
    "x-key": "link_prefix",
    description: "First segment of the path of short links: `/l/spring`.",
  }),
  schemes: t.Array(t.String(), {
    default: [],
    "x-key": "link_schemes",
    description:
      "Additional URL schemes that short links may redirect to, such as mailto, tel or the scheme of an app. Only users who can change the site may use them.",
  }),
  allowed_hosts: t.Array(t.String(), {
    default: [],
    "x-key": "link_allowed_hosts",
    description: "Hosts that short links may redirect to. `*.example.com` includes all subdomains. Default: any host.",
  }),
  denied_hosts: t.Array(t.String(), {
    default: [],
    "x-key": "link_denied_hosts",
    description: "Hosts that short links may not redirect to. `*.example.com` includes all subdomains.",
  }),
  fetch_titles: t.Boolean({
    default: false,
    "x-key": "link_fetch_titles",
    description: "Fetch the title of the destination page for links without a title.",
  }),
  datacenters: t.Optional(
    t.String({
      minLength: 1,
      "x-key": "link_datacenters",
      "x-form": "a path",
      description: "File with IP address ranges of data centres, one per line. Clicks from them count as bots. Reloaded when it changes.",
    }),
  ),
})
