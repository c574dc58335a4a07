import { SHIELD_KINDS, type Shield } from "../domain/shield.ts"
import { ExitFault } from "../services/exit.ts"
import type { Command, Flag } from "./command.ts"

/** Shields of the instance, or with `--site` those of one site. */
const OF_SITE: Flag = { value: "ID", about: "Of this site alone; else of all sites." }
const SAID: Readonly<Record<string, Flag>> = {
  value: { value: "TEXT", about: "What is compared: an address or range, a country, a page or a host, * for any run; of a rule its name." },
  conditions: {
    value: "JSON",
    about: 'Of a rule: up to 5, all must hold, as [{"dimension": "page", "operator": "contains", "values": ["/x"]}].',
  },
  note: { value: "TEXT", about: "Why it is there." },
}
const FIELDS = Object.keys(SAID)

const listAll: Command = {
  name: "shield list",
  about: "List the rules by which events are dropped.",
  flags: { site: OF_SITE },
  async run({ given, json, terminal, program, settings }) {
    const shields = await program.withOperations(settings, terminal.progress, (call) => call("shield.list", { site: given.site }))
    if (json) return terminal.json(shields)
    terminal.table(["id", "kind", "value", "enabled", "note"], shields.map(row))
  },
}

const add: Command = {
  name: "shield add",
  about: "Drop events from now on: of an address, a country, a page, a host, a referrer, or by a rule.",
  flags: { kind: { value: SHIELD_KINDS.join("|"), about: "What it looks at.", required: true }, ...SAID, site: OF_SITE },
  async run({ given, json, terminal, program, settings }) {
    const input = { site: given.site, shield: { kind: given.kind, ...said(given) } }
    const shield = await program.withOperations(settings, terminal.progress, (call) => call("shield.add", input))
    if (json) terminal.json(shield)
    else terminal.line(`Shield ${shield.id}, ${shield.kind} ${shield.value}, holds from now on.`)
  },
}

const set: Command = {
  name: "shield set",
  about: "Change a shield, or switch it off and on. What is not named stays.",
  takes: ["id"],
  flags: { enabled: { value: "on|off", about: "Whether it holds." }, ...SAID, site: OF_SITE },
  async run({ given, json, terminal, program, settings }) {
    const patch = { ...said(given), ...(given.enabled !== undefined && { enabled: isOn(given.enabled) }) }
    if (Object.keys(patch).length === 0) throw new ExitFault("usage", "Name what to change, such as --enabled off")
    const input = { site: given.site, id: given.id!, patch }
    const shield = await program.withOperations(settings, terminal.progress, (call) => call("shield.set", input))
    if (json) terminal.json(shield)
    else terminal.line(`Shield ${shield.id} is changed.`)
  },
}

const remove: Command = {
  name: "shield remove",
  about: "Remove a shield. What it has dropped does not come back.",
  takes: ["id"],
  flags: { site: OF_SITE },
  async run({ given, json, terminal, program, settings }) {
    const input = { site: given.site, id: given.id! }
    await program.withOperations(settings, terminal.progress, (call) => call("shield.remove", input))
    if (json) terminal.json({ removed: given.id })
    else terminal.line(`Shield ${given.id} is removed.`)
  },
}

const row = ({ id, kind, value, enabled, note }: Shield) => [id, kind, value, enabled ? "on" : "off", note]

/** The fields that were named, of which the conditions are JSON. */
function said(given: Readonly<Record<string, string>>): object {
  const named = FIELDS.filter((field) => given[field] !== undefined)
  return Object.fromEntries(named.map((field) => [field, field === "conditions" ? parsed(given[field]!) : given[field]]))
}

function parsed(text: string): unknown {
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
