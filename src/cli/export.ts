import { resolve } from "node:path"
import type { Command } from "./command.ts"

export const exportSite: Command = {
  name: "export",
  about: "Take a whole site out into one archive, which can make the same site elsewhere.",
  flags: {
    site: { value: "ID", about: "The site.", required: true },
    out: { value: "FILE", about: "Where the archive goes; nothing may be there yet.", required: true },
  },
  async run({ given, json, terminal, program, settings }) {
    // The instance may run in another folder.
    const path = resolve(given.out!)
    const input = { id: given.site!, path }
    const made = await program.withOperations(settings, terminal.progress, (call) => call("site.export", input))
    if (json) return terminal.json({ path, ...made })
    terminal.line(`${path}: ${made.visits} visits with ${made.events} events, ${(made.bytes / 1_048_576).toFixed(1)} MiB`)
  },
}
