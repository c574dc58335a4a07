import type { Site } from "../domain/site.ts"
import type { Command } from "./command.ts"
import { siteSet } from "./site-set.ts"
import { list, wholeNumber } from "./values.ts"

const columns = ["id", "name", "hosts", "timezone", "retention_days", "revenue_currency", "tracking_id"]
const row = (site: Site) => [
  site.id,
  site.name,
  site.hosts.join(","),
  site.timezone,
  site.retention_days ?? "for ever",
  site.revenue_currency,
  site.tracking_id,
]

const create: Command = {
  name: "site create",
  about: "Make a site and print the line to put on its pages.",
  flags: {
    name: { value: "NAME", about: "Display name.", required: true },
    hosts: { value: "HOST,…", about: "Host names whose pages belong to the site.", required: true },
    timezone: { value: "ZONE", about: "Time zone of its days, such as Europe/Berlin." },
    "retention-days": { value: "N", about: "Days for which events are kept." },
    "revenue-currency": { value: "CODE", about: "Currency of its revenue, such as EUR." },
    organization: { value: "ID|NAME", about: "Owner; not needed while there is one at most." },
  },
  async run({ given, json, terminal, program, settings }) {
    const retention = given["retention-days"]
    const input = {
      organization: given.organization,
      site: {
        name: given.name!,
        hosts: list(given.hosts!),
        ...(given.timezone !== undefined && { timezone: given.timezone }),
        ...(retention !== undefined && { retention_days: wholeNumber(retention, "--retention-days", { min: 1, max: 3_650 }) }),
        ...(given["revenue-currency"] !== undefined && { revenue_currency: given["revenue-currency"] }),
      },
    }
    const { site, snippet } = await program.withOperations(settings, terminal.progress, (call) => call("site.create", input))
    if (json) return terminal.json({ ...site, snippet })
    terminal.line(`Site ${site.id}, ${site.name}. Put this line into the head of its pages:\n\n  ${snippet}\n`)
  },
}

const listAll: Command = {
  name: "site list",
  about: "List the sites.",
  flags: { organization: { value: "ID|NAME", about: "Only those of one owner." } },
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
  about: "Print one site and the line for its pages.",
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
  about: "Delete a site. Its pages stop counting at once.",
  takes: ["id"],
  async run({ given, json, terminal, program, settings }) {
    await program.withOperations(settings, terminal.progress, (call) => call("site.delete", { id: given.id! }))
    if (json) terminal.json({ deleted: given.id })
    else terminal.line(`Site ${given.id} is deleted.`)
  },
}

export const siteCommands: readonly Command[] = [create, listAll, show, siteSet, remove]
