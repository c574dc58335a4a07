import { DESTINATIONS, type Destination } from "../services/moving/moving.ts"
import { ExitFault } from "../services/runtime/exit.ts"
import type { Command } from "./command.ts"

const move: Command = {
  name: "engine move",
  about: "Move all events to ClickHouse, or back into the data folder. The instance must be stopped.",
  flags: { to: { value: "ENGINE", about: `Where to: ${DESTINATIONS.join(" or ")}.` } },
  async run({ given, json, terminal, program, settings }) {
    const to = DESTINATIONS.find((name) => name === given.to)
    if (!to) throw new ExitFault("usage", `--to must be ${DESTINATIONS.join(" or ")}`)
    const moved = await program.moveEvents(settings, to, terminal.progress)
    if (json) return terminal.json(moved)
    const { sites, visits, events, queries, fetched, rows } = moved
    terminal.line(
      `${visits} visits and records with ${events} events of ${sites} sites are the same on both sides, and ${queries} answers.`,
    )
    if (rows > 0) terminal.line(`${rows} rows of plugins are on the server of FOOTFALL_ROWS_URL.`)
    if (fetched > 0) terminal.line(`${fetched} visits and records were fetched from ClickHouse.`)
    for (const line of NEXT[to]) terminal.line(line)
  },
}

/** What the operator does after a move. */
const NEXT: Readonly<Record<Destination, readonly string[]>> = {
  clickhouse: [
    "The events are on ClickHouse from now on. Start the instance with FOOTFALL_CLICKHOUSE_URL.",
    "The data folder keeps its copy until you run footfall engine release.",
  ],
  embedded: [
    "The events are in the data folder from now on. Start the instance without FOOTFALL_CLICKHOUSE_URL.",
    "ClickHouse keeps its copy until you run footfall engine release with FOOTFALL_CLICKHOUSE_URL.",
  ],
}

const release: Command = {
  name: "engine release",
  about: "Give up the copy of the events that the last move has kept. The instance must be stopped.",
  async run({ json, terminal, program, settings }) {
    const released = await program.releaseMoved(settings)
    if (json) return terminal.json(released)
    if (released.copy === "clickhouse") terminal.line("The events on ClickHouse were deleted.")
    else terminal.line("The data folder no longer keeps what was moved to ClickHouse.")
  },
}

const ship: Command = {
  name: "engine ship",
  about: "Send events to ClickHouse again, after it was restored from a backup. The instance must be stopped.",
  flags: { since: { value: "TIME", about: "Send what happened since this time, such as 2026-11-28 or 2026-11-28T10:00:00Z." } },
  async run({ given, json, terminal, program, settings }) {
    const since = Date.parse(given.since ?? "")
    if (Number.isNaN(since)) throw new ExitFault("usage", "--since must be a time such as 2026-11-28 or 2026-11-28T10:00:00Z")
    const shipped = await program.shipAgain(settings, since, terminal.progress)
    if (json) terminal.json(shipped)
    else terminal.line(`${shipped.visits} visits and records were sent.`)
  },
}

export const engineCommands: readonly Command[] = [move, release, ship]
