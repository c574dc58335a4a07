import { resolve } from "node:path"
import { hostFromInput } from "../domain/host.ts"
import { SHIELD_KINDS, type ShieldKind } from "../domain/shield.ts"
import type { Site } from "../domain/site.ts"
import { ExitFault } from "../services/runtime/exit.ts"
import { list, wholeNumber } from "./arguments.ts"
import type { Command, Flag } from "./command.ts"

const columns = ["id", "name", "hosts", "timezone", "retention_days", "revenue_currency", "tracking_id"]
const row = (site: Site) => [
  site.id,
  site.name,
  site.hosts.join(","),
  site.timezone,
  site.retention_days ?? "forever",
  site.revenue_currency,
  site.tracking_id,
]

const create: Command = {
  name: "site create",
  about: "Create a site and print its snippet.",
  flags: {
    name: { value: "NAME", about: "Display name.", required: true },
    hosts: { value: "HOST,…", about: "Host names of the pages that belong to the site.", required: true },
    timezone: { value: "ZONE", about: "Time zone of reports, such as Europe/Berlin." },
    "retention-days": { value: "N", about: "Days to keep events. Default: forever." },
    "revenue-currency": { value: "CODE", about: "Currency in which revenue is shown, such as EUR." },
    organization: { value: "ID|NAME", about: "Owner. Needed only if there are several organizations." },
  },
  async run({ given, json, terminal, program, settings }) {
    const retention = given["retention-days"]
    const input = {
      organization: given.organization,
      site: {
        name: given.name!,
        hosts: list(given.hosts!).map(hostFromInput),
        ...(given.timezone !== undefined && { timezone: given.timezone }),
        ...(retention !== undefined && { retention_days: wholeNumber(retention, "--retention-days", { min: 1, max: 3_650 }) }),
        ...(given["revenue-currency"] !== undefined && { revenue_currency: given["revenue-currency"] }),
      },
    }
    const { site, snippet } = await program.withOperations(settings, terminal.progress, (call) => call("site.create", input))
    if (json) return terminal.json({ ...site, snippet })
    terminal.line(`Site ${site.id}, ${site.name}. Paste this line into the <head> of every page:\n\n  ${snippet}\n`)
  },
}

const listAll: Command = {
  name: "site list",
  about: "List the sites.",
  flags: { organization: { value: "ID|NAME", about: "Only sites of this organization." } },
  async run({ given, json, terminal, program, settings }) {
    const sites = await program.withOperations(settings, terminal.progress, (call) =>
      call("site.list", { organization: given.organization }),
    )
    if (json) terminal.json(sites)
    else terminal.table(columns, sites.map(row))
  },
}

const show: Command = {
  name: "site show",
  about: "Print a site and its snippet.",
  takes: ["id"],
  async run({ given, json, terminal, program, settings }) {
    const { site, snippet } = await program.withOperations(settings, terminal.progress, (call) => call("site.show", { id: given.id! }))
    if (json) return terminal.json({ ...site, snippet })
    terminal.table(columns, [row(site)])
    terminal.line(`\n  ${snippet}`)
  },
}

const remove: Command = {
  name: "site delete",
  about: "Delete a site. Tracking stops immediately.",
  takes: ["id"],
  async run({ given, json, terminal, program, settings }) {
    await program.withOperations(settings, terminal.progress, (call) => call("site.delete", { id: given.id! }))
    if (json) terminal.json({ deleted: given.id })
    else terminal.line(`Site ${given.id} was deleted.`)
  },
}

/** Flag that sets one setting of a site. `patch` returns the part of a merge patch for the given text. */
type SettingFlag = Flag & { patch(text: string, flag: string): object }

const text = (about: string, value: string, key: string): SettingFlag => ({ value, about, patch: (given) => ({ [key]: given }) })
const toggle = (about: string, key: string): SettingFlag => ({
  value: "on|off",
  about,
  patch(given, flag) {
    if (given !== "on" && given !== "off") throw new ExitFault("usage", `${flag} must be on or off`)
    return { [key]: given === "on" }
  },
})
const number = (about: string, key: string): SettingFlag => ({
  value: "N",
  about,
  patch: (given, flag) => ({ [key]: wholeNumber(given, flag, { min: 0, max: 100_000 }) }),
})
const compat = (product: string): SettingFlag => ({
  value: "ID,…",
  about: `Ids of the site in ${product}, whose tracker can keep sending events.`,
  patch: (given) => ({ compat_ids: { [product.toLowerCase()]: list(given) } }),
})

/** Kinds of shields that a single value defines. */
const PLAIN_KINDS = SHIELD_KINDS.filter((kind) => kind !== "rule")

const FLAGS: Readonly<Record<string, SettingFlag>> = {
  name: text("Display name.", "NAME", "name"),
  hosts: {
    value: "HOST,…",
    about: "Host names of the pages that belong to the site.",
    patch: (given) => ({ hosts: list(given).map(hostFromInput) }),
  },
  timezone: text("Time zone of reports. Visitor ids follow it from the next day, week or month.", "ZONE", "timezone"),
  "retention-days": {
    value: "N|forever",
    about: "Days to keep events. Default: forever.",
    patch: (given, flag) => ({ retention_days: given === "forever" ? null : wholeNumber(given, flag, { min: 1, max: 3_650 }) }),
  },
  "revenue-currency": text("Currency in which revenue is shown, such as EUR.", "CODE", "revenue_currency"),
  "order-property": text("Event property that contains the order id of a sale. Default: order_id.", "NAME", "order_property"),
  "read-role": text("Lowest role that sees revenue: viewer, editor or admin.", "ROLE", "read_role"),
  "identity-mode": text("How long a visitor is recognized: daily, weekly, monthly, identified or persistent.", "MODE", "identity_mode"),
  "persistent-days": number("Days for which a visitor who consented is recognized in persistent mode.", "persistent_days"),
  "respect-gpc": toggle("Drop events of visitors who send Do Not Track or GPC.", "respect_gpc"),
  "strict-origin": toggle("Only accept events from the site's own pages.", "strict_origin"),
  "accept-any-host": toggle("Accept events from any host.", "accept_any_host"),
  "drop-bots": toggle("Drop events of bots.", "drop_bots"),
  "drop-spam": toggle("Drop events with known spam referrers.", "drop_spam"),
  "drop-probes": toggle("Drop events of vulnerability scans.", "drop_probes"),
  "bounce-engaged-seconds": number("Engaged seconds after which a visit is not a bounce. 0 disables the rule.", "bounce_engaged_seconds"),
  "allowed-query-params": {
    value: "NAME,…",
    about: "Query parameters kept as part of the page.",
    patch: (given) => ({ allowed_query_params: list(given) }),
  },
  "hash-routing": toggle("Count hash routes as pages.", "hash_routing"),
  "compat-plausible": compat("Plausible"),
  "compat-umami": compat("Umami"),
  "compat-goatcounter": compat("GoatCounter"),
  shields: {
    value: "KIND=VALUE,…",
    about: `Replace all shields of the site (${PLAIN_KINDS.join(", ")}). An empty value removes them. Use footfall shield for single shields and for rules.`,
    patch: (given) => ({ shields: list(given).map(parseShield) }),
  },
}

export const siteSet: Command = {
  name: "site set",
  about: "Change a site and its settings. Settings without a flag keep their value.",
  takes: ["id"],
  flags: FLAGS,
  async run({ given, json, terminal, program, settings }) {
    const named = Object.entries(FLAGS).flatMap(([flag, { patch }]) => (given[flag] === undefined ? [] : [patch(given[flag], `--${flag}`)]))
    if (named.length === 0) throw new ExitFault("usage", "Add at least one setting to change, such as --retention-days 400")
    const patch = named.reduce(mergePatches, {})
    const { site } = await program.withOperations(settings, terminal.progress, (call) => call("site.set", { id: given.id!, patch }))
    if (json) terminal.json(site)
    else terminal.line(`Site ${site.id}, ${site.name}, was changed.`)
  },
}

/** Merges two parts of a patch. The flags for other products all write to `compat_ids`. */
function mergePatches(patch: { compat_ids?: object }, part: { compat_ids?: object }): object {
  return { ...patch, ...part, ...(part.compat_ids && { compat_ids: { ...patch.compat_ids, ...part.compat_ids } }) }
}

function parseShield(entry: string): { kind: ShieldKind; value: string } {
  const at = entry.indexOf("=")
  const kind = PLAIN_KINDS.find((known) => known === entry.slice(0, Math.max(0, at)))
  if (!kind) throw new ExitFault("usage", `--shields must be a list of KIND=VALUE, where KIND is one of ${PLAIN_KINDS.join(", ")}`)
  return { kind, value: entry.slice(at + 1) }
}

export const exportSite: Command = {
  name: "export",
  about: "Export a whole site into one archive that another instance can import.",
  flags: {
    site: { value: "ID", about: "Id of the site.", required: true },
    out: { value: "FILE", about: "Path of the archive. The file must not exist yet.", required: true },
  },
  async run({ given, json, terminal, program, settings }) {
    // The running instance may have another working directory.
    const path = resolve(given.out!)
    const input = { id: given.site!, path }
    const made = await program.withOperations(settings, terminal.progress, (call) => call("site.export", input))
    if (json) return terminal.json({ path, ...made })
    terminal.line(`${path}: ${made.visits} visits with ${made.events} events, ${(made.bytes / 1_048_576).toFixed(1)} MiB`)
  },
}
export const siteCommands: readonly Command[] = [create, listAll, show, siteSet, remove]
