import { API } from "../domain/limits.ts"
import { ExitFault } from "../services/runtime/exit.ts"
import { instant, list, wholeNumber } from "./arguments.ts"
import type { Command } from "./command.ts"

const create: Command = {
  name: "key create",
  about: "Create an API key and print it once.",
  flags: {
    name: { value: "NAME", about: "What the key is for.", required: true },
    scopes: { value: "SCOPE,…", about: "Permissions, such as stats:read,events:write.", required: true },
    sites: { value: "all|ID,…", about: "Ids of the sites it can access. Default: all." },
    expires: { value: "DAYSd|never", about: "When it expires. Default: 365d." },
    "ip-allow": { value: "RANGE,…", about: "IP addresses and ranges it can be used from. Default: any." },
    "rate-limit": { value: "NUMBER", about: "Requests per minute. Default: the limit of the instance." },
    organization: { value: "ID|NAME", about: "Owner. Needed only if there are several organizations." },
  },
  async run({ given, json, terminal, program, settings }) {
    const input = {
      organization: given.organization,
      name: given.name!,
      scopes: list(given.scopes!),
      site_ids: siteIds(given.sites ?? "all"),
      expires_days: days(given.expires ?? "365d"),
      ip_allow: list(given["ip-allow"] ?? ""),
      rate_limit: given["rate-limit"] === undefined ? null : wholeNumber(given["rate-limit"], "--rate-limit", RATES),
    }
    const made = await program.withOperations(settings, terminal.progress, (call) => call("key.create", input))
    if (json) terminal.json(made)
    else terminal.line(`Key ${made.id}. It will not be shown again:\n\n  ${made.key}\n`)
  },
}

const listAll: Command = {
  name: "key list",
  about: "List the API keys, without their secrets.",
  flags: { organization: { value: "ID|NAME", about: "Only keys of this organization." } },
  async run({ given, json, terminal, program, settings }) {
    const keys = await program.withOperations(settings, terminal.progress, (call) => call("key.list", { organization: given.organization }))
    if (json) return terminal.json(keys)
    const rows = keys.map((key) => [
      key.id,
      key.name,
      key.prefix,
      key.scopes.join(","),
      key.site_ids === null ? "all" : key.site_ids.join(",") || "none",
      instant(key.expires_at) ?? "never",
      instant(key.revoked_at),
    ])
    terminal.table(["id", "name", "key", "scopes", "sites", "expires", "revoked"], rows)
  },
}

const rotate: Command = {
  name: "key rotate",
  about: "Replace the secret of an API key and print the new one once.",
  takes: ["id"],
  flags: { "grace-hours": { value: "HOURS", about: "Hours during which the old secret keeps working, 0 to 168. Default: 24." } },
  async run({ given, json, terminal, program, settings }) {
    const hours = given["grace-hours"]
    const grace_hours = hours === undefined ? undefined : wholeNumber(hours, "--grace-hours", API.keyGraceHours)
    const input = { id: given.id!, ...(grace_hours !== undefined && { grace_hours }) }
    const made = await program.withOperations(settings, terminal.progress, (call) => call("key.rotate", input))
    if (json) terminal.json(made)
    else terminal.line(`Key ${made.id} has a new secret. It will not be shown again:\n\n  ${made.key}\n`)
  },
}

const revoke: Command = {
  name: "key revoke",
  about: "Revoke an API key immediately.",
  takes: ["id"],
  async run({ given, json, terminal, program, settings }) {
    await program.withOperations(settings, terminal.progress, (call) => call("key.revoke", { id: given.id! }))
    if (json) terminal.json({ revoked: given.id })
    else terminal.line(`Key ${given.id} was revoked.`)
  },
}

export const keyCommands: readonly Command[] = [create, listAll, rotate, revoke]

const RATES = { min: API.keyRateLimit.minimum, max: API.keyRateLimit.maximum }

const siteIds = (text: string): number[] | null =>
  text === "all" ? null : list(text).map((id) => wholeNumber(id, "--sites", { min: 1, max: Number.MAX_SAFE_INTEGER }))

function days(text: string): number | null {
  if (text === "never") return null
  if (!/^\d+d$/.test(text)) throw new ExitFault("usage", "--expires must be a number of days such as 365d, or never")
  return wholeNumber(text.slice(0, -1), "--expires", { min: 1, max: 36_500 })
}
