import { SHIELD_KINDS, type ShieldKind } from "../domain/shield.ts"
import { ExitFault } from "../services/exit.ts"
import type { Command, Flag } from "./command.ts"
import { list, wholeNumber } from "./values.ts"

/** A flag with what it says of the site: the part of a merge patch. */
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
  about: `Its ids in ${product}, whose tracker may go on counting.`,
  patch: (given) => ({ compat_ids: { [product.toLowerCase()]: list(given) } }),
})

/** Those that are said in one value. */
const PLAIN_KINDS = SHIELD_KINDS.filter((kind) => kind !== "rule")

const FLAGS: Readonly<Record<string, SettingFlag>> = {
  name: text("Display name.", "NAME", "name"),
  hosts: { value: "HOST,…", about: "Host names whose pages belong to the site.", patch: (given) => ({ hosts: list(given) }) },
  timezone: text("Time zone of its days; of its visitors' ids when the running day, week or month ends.", "ZONE", "timezone"),
  "retention-days": {
    value: "N|forever",
    about: "Days for which events are kept.",
    patch: (given, flag) => ({ retention_days: given === "forever" ? null : wholeNumber(given, flag, { min: 1, max: 3_650 }) }),
  },
  "revenue-currency": text("Currency of its revenue, such as EUR.", "CODE", "revenue_currency"),
  "identity-mode": text("For how long a visitor is known: daily, weekly, monthly, identified, persistent.", "MODE", "identity_mode"),
  "persistent-days": number("How long a visitor who agreed is known in the mode persistent.", "persistent_days"),
  "respect-gpc": toggle("Drop events of browsers that object to being counted.", "respect_gpc"),
  "strict-origin": toggle("Take events only from pages of its hosts.", "strict_origin"),
  "accept-any-host": toggle("Take events of any host.", "accept_any_host"),
  "drop-bots": toggle("Drop events of bots.", "drop_bots"),
  "drop-spam": toggle("Drop events with referrers that are known for spam.", "drop_spam"),
  "drop-probes": toggle("Drop events of scans for weak spots.", "drop_probes"),
  "bounce-engaged-seconds": number("A visit with so many engaged seconds is no bounce; 0 for none.", "bounce_engaged_seconds"),
  "allowed-query-params": {
    value: "NAME,…",
    about: "Parts of the query that belong to a page.",
    patch: (given) => ({ allowed_query_params: list(given) }),
  },
  "hash-routing": toggle("What follows # belongs to a page.", "hash_routing"),
  "compat-plausible": compat("Plausible"),
  "compat-umami": compat("Umami"),
  "compat-goatcounter": compat("GoatCounter"),
  shields: {
    value: "KIND=VALUE,…",
    about: `All its shields at once, by ${PLAIN_KINDS.join(", ")}; none when empty. One by one, and rules: footfall shield.`,
    patch: (given) => ({ shields: list(given).map(shield) }),
  },
}

/** Changes a site; what is not named stays as it is. */
export const siteSet: Command = {
  name: "site set",
  about: "Change a site and its settings. What is not named stays.",
  takes: ["id"],
  flags: FLAGS,
  async run({ given, json, terminal, program, settings }) {
    const named = Object.entries(FLAGS).flatMap(([flag, { patch }]) => (given[flag] === undefined ? [] : [patch(given[flag], `--${flag}`)]))
    if (named.length === 0) throw new ExitFault("usage", "Name what to change, such as --retention-days 400")
    const patch = named.reduce(merged, {})
    const { site } = await program.withOperations(settings, terminal.progress, (call) => call("site.set", { id: given.id!, patch }))
    if (json) terminal.json(site)
    else terminal.line(`Site ${site.id}, ${site.name}, is changed.`)
  },
}

/** Each flag names one thing; only the ids of other products meet in one place. */
function merged(patch: { compat_ids?: object }, part: { compat_ids?: object }): object {
  return { ...patch, ...part, ...(part.compat_ids && { compat_ids: { ...patch.compat_ids, ...part.compat_ids } }) }
}

function shield(entry: string): { kind: ShieldKind; value: string } {
  const at = entry.indexOf("=")
  const kind = PLAIN_KINDS.find((known) => known === entry.slice(0, Math.max(0, at)))
  if (!kind) throw new ExitFault("usage", `--shields takes KIND=VALUE with a kind of ${PLAIN_KINDS.join(", ")}`)
  return { kind, value: entry.slice(at + 1) }
}
