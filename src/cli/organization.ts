import type { Command } from "./command.ts"
import { instant } from "./values.ts"

const create: Command = {
  name: "organization create",
  about: "Make an organization, which owns sites, members and keys.",
  flags: {
    name: { value: "NAME", about: "As people know it.", required: true },
    owner: { value: "ADDRESS", about: "Of the user who owns it.", required: true },
  },
  async run({ given, json, terminal, program, settings }) {
    const input = { name: given.name!, owner: given.owner! }
    const made = await program.withOperations(settings, terminal.progress, (call) => call("organization.create", input))
    if (json) terminal.json(made)
    else terminal.line(`Organization ${made.id}, ${made.name}, belongs to ${input.owner}.`)
  },
}

const listAll: Command = {
  name: "organization list",
  about: "List the organizations.",
  async run({ json, terminal, program, settings }) {
    const organizations = await program.withOperations(settings, terminal.progress, (call) => call("organization.list", {}))
    if (json) return terminal.json(organizations)
    terminal.table(
      ["id", "name", "created"],
      organizations.map(({ id, name, created_at }) => [id, name, instant(created_at)]),
    )
  },
}

export const organizationCommands: readonly Command[] = [create, listAll]
