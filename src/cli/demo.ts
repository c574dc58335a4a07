import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Command } from "./command.ts"
import { untilEnd } from "./serve.ts"
import { wholeNumber } from "./values.ts"

export const demo: Command = {
  name: "demo",
  about: "Serve a temporary folder full of invented traffic; it is removed at the end.",
  serves: true,
  flags: {
    days: { value: "N", about: "Days of traffic up to now (90)." },
    events: { value: "N", about: "How many events (50000)." },
    seed: { value: "N", about: "The same seed gives the same traffic (1)." },
  },
  async run({ given, json, terminal, program, settings }) {
    const folder = settings.data_dir ?? mkdtempSync(join(tmpdir(), "footfall-demo-"))
    const shape = {
      days: wholeNumber(given.days ?? "90", "--days", { min: 1, max: 3_650 }),
      events: wholeNumber(given.events ?? "50000", "--events", { min: 1, max: 100_000_000 }),
      seed: wholeNumber(given.seed ?? "1", "--seed", { min: 0, max: 2 ** 32 - 1 }),
    }
    try {
      const running = await program.serve({ ...settings, data_dir: folder }, { demo: shape, report: terminal.progress })
      const { address, demo: made } = running
      await untilEnd(program, running, () => {
        if (json) return terminal.json({ address, ...made })
        terminal.line(
          `A shop with ${shape.days} days of invented traffic answers at ${address}\nSign in as ${made?.user.email} with the password ${made?.user.password}\nOr ask: curl -H "Authorization: Bearer ${made?.key}" "${address}/api/public/v1/sites/${made?.site_id}/stats/summary?period=30d"`,
        )
      })
    } finally {
      if (settings.data_dir === undefined) rmSync(folder, { recursive: true, force: true })
    }
  },
}
