import type { Command } from "./command.ts"
import { wholeNumber } from "./values.ts"

export const retentionRun: Command = {
  name: "retention run",
  about: "Remove visits that are over their time, of all sites or of one.",
  flags: {
    site: { value: "ID", about: "Of this site alone." },
    days: { value: "N", about: "Keep so many days instead of what was chosen." },
    "dry-run": { about: "Only count." },
  },
  async run({ given, json, terminal, program, settings }) {
    const input = {
      ...(given.site !== undefined && { site_id: wholeNumber(given.site, "--site", { min: 1, max: Number.MAX_SAFE_INTEGER }) }),
      ...(given.days !== undefined && { retention_days: wholeNumber(given.days, "--days", { min: 1, max: 3_650 }) }),
    }
    if (given["dry-run"] === undefined) {
      const done = await program.withOperations(settings, terminal.progress, (call) => call("retention.run", input))
      if (json) terminal.json(done)
      else terminal.line(`${done.visits} visits are removed.`)
      return
    }
    const found = await program.withOperations(settings, terminal.progress, (call) => call("retention.preview", input))
    if (json) return terminal.json(found)
    terminal.table(
      ["site", "before", "visits", "events", "days"],
      found.by.map(({ site_id, cutoff, rows, events, days }) => [site_id, cutoff, rows, events, days]),
    )
  },
}
