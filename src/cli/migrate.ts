import type { Command } from "./command.ts"

export const migrate: Command = {
  name: "migrate",
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
