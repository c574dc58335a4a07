import type { Command } from "./command.ts"

const up: Command = {
  name: "migrate up",
  about: "Bring both stores to this version, after a backup. Serving does the same at its start.",
  flags: { "no-backup": { about: "Leave the backup out." } },
  async run({ given, json, terminal, program, settings }) {
    const result = await program.migrate(settings, { backUp: given["no-backup"] === undefined, report: terminal.progress })
    if (json) return terminal.json(result)
    terminal.line(
      result.migrations.length === 0 ? "Nothing to do: both stores are of this version." : `Done: ${result.migrations.join(", ")}.`,
    )
    if (result.backup) terminal.line(`What was there before is the backup ${result.backup}.`)
  },
}

const status: Command = {
  name: "migrate status",
  about: "Tell what migrating would do; changes nothing.",
  async run({ json, terminal, program, settings }) {
    const found = await program.migrationStatus(settings)
    if (json) return terminal.json(found)
    if (found.is_new) terminal.line("The stores are not made yet.")
    else terminal.line(found.pending.length === 0 ? "Both stores are of this version." : `To be done: ${found.pending.join(", ")}.`)
  },
}

/** `migrate` alone means `migrate up`. */
export const migrateCommands: readonly Command[] = [up, status, { ...up, name: "migrate" }]
