import { SHIELD_KINDS, type Shield } from "../domain/shield.ts"
import { ExitFault } from "../services/runtime/exit.ts"
import type { Command, Flag } from "./command.ts"

/** Flag that selects the shields of one site instead of those of the instance. */
const SITE_FLAG: Flag = { value: "ID", about: "Only this site. Default: all sites." }
const FIELD_FLAGS: Readonly<Record<string, Flag>> = {
  value: { value: "TEXT", about: "IP address or range, country, page or host to match, with * as wildcard. For a rule: its name." },
  conditions: {
    value: "JSON",
    about: 'For a rule: up to 5 conditions that must all match, such as [{"dimension": "page", "operator": "contains", "values": ["/x"]}].',
  },
  note: { value: "TEXT", about: "Reason for the shield." },
}
const FIELDS = Object.keys(FIELD_FLAGS)

const listAll: Command = {
  name: "shield list",
  about: "List shields, the rules that drop events.",
  flags: { site: SITE_FLAG },
  async run({ given, json, terminal, program, settings }) {
    const shields = await program.withOperations(settings, terminal.progress, (call) => call("shield.list", { site: given.site }))
    if (json) return terminal.json(shields)
    terminal.table(["id", "kind", "value", "enabled", "note"], shields.map(row))
  },
}

const add: Command = {
  name: "shield add",
  about: "Drop future events by IP address, country, page, host, referrer or rule.",
  flags: { kind: { value: SHIELD_KINDS.join("|"), about: "What the shield matches.", required: true }, ...FIELD_FLAGS, site: SITE_FLAG },
  async run({ given, json, terminal, program, settings }) {
    const input = { site: given.site, shield: { kind: given.kind, ...fieldsIn(given) } }
    const shield = await program.withOperations(settings, terminal.progress, (call) => call("shield.add", input))
    if (json) terminal.json(shield)
    else terminal.line(`Shield ${shield.id}, ${shield.kind} ${shield.value}, is active.`)
  },
}

const set: Command = {
  name: "shield set",
  about: "Change, enable or disable a shield. Fields without a flag keep their value.",
  takes: ["id"],
  flags: { enabled: { value: "on|off", about: "Whether the shield is active." }, ...FIELD_FLAGS, site: SITE_FLAG },
  async run({ given, json, terminal, program, settings }) {
    const patch = { ...fieldsIn(given), ...(given.enabled !== undefined && { enabled: isOn(given.enabled) }) }
    if (Object.keys(patch).length === 0) throw new ExitFault("usage", "Add at least one field to change, such as --enabled off")
    const input = { site: given.site, id: given.id!, patch }
    const shield = await program.withOperations(settings, terminal.progress, (call) => call("shield.set", input))
    if (json) terminal.json(shield)
    else terminal.line(`Shield ${shield.id} was changed.`)
  },
}

const remove: Command = {
  name: "shield remove",
  about: "Remove a shield. Events it dropped cannot be recovered.",
  takes: ["id"],
  flags: { site: SITE_FLAG },
  async run({ given, json, terminal, program, settings }) {
    const input = { site: given.site, id: given.id! }
    await program.withOperations(settings, terminal.progress, (call) => call("shield.remove", input))
    if (json) terminal.json({ removed: given.id })
    else terminal.line(`Shield ${given.id} was removed.`)
  },
}

const row = ({ id, kind, value, enabled, note }: Shield) => [id, kind, value, enabled ? "on" : "off", note]

/** Returns the fields that have a flag on the command line. `conditions` is parsed as JSON. */
function fieldsIn(given: Readonly<Record<string, string>>): object {
  const named = FIELDS.filter((field) => given[field] !== undefined)
  return Object.fromEntries(named.map((field) => [field, field === "conditions" ? parseConditions(given[field]!) : given[field]]))
}

function parseConditions(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ExitFault("usage", "--conditions must be JSON")
  }
}

function isOn(text: string): boolean {
  if (text !== "on" && text !== "off") throw new ExitFault("usage", "--enabled must be on or off")
  return text === "on"
}

export const shieldCommands: readonly Command[] = [listAll, add, set, remove]
