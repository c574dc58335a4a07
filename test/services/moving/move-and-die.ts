/**
 * Moves the events of a stage, and kills its own process at a step. Arguments: the place of the stage as JSON, the destination and the step.
 */
import { type Destination, type MovingOptions, moveEvents } from "../../../src/services/moving/moving.ts"
import { type StagePlace, whileStopped } from "./stage.ts"

/** The steps of a move, in order. Those with visits that ClickHouse lacks, or that the data folder does, occur in one direction. */
export const STEPS = {
  clickhouse: ["begin", "begun", "insert", "inserted", "confirmed", "compare", "compared", "rename", "switch", "switched"],
  embedded: ["begin", "insert", "inserted", "confirmed", "fetch", "fetched", "compare", "compared", "rename", "switch", "switched"],
} as const satisfies Record<Destination, readonly string[]>
export type Step = (typeof STEPS)[Destination][number]

/** Returns the options of a move that ends at a step. */
function dyingAt(step: Step, options: MovingOptions): MovingOptions {
  const { events, clickhouse } = options
  const at = (reached: Step): void => {
    if (reached === step) process.kill(process.pid, "SIGKILL")
  }
  return {
    ...options,
    events: {
      ...events,
      beginShipping(...args) {
        at("begin")
        events.beginShipping(...args)
        at("begun")
      },
      confirmShipped(...args) {
        events.confirmShipped(...args)
        at("confirmed")
      },
      async adoption(...args) {
        const adopt = await events.adoption(...args)
        return async (...visits) => {
          at("fetch")
          await adopt(...visits)
          at("fetched")
        }
      },
      completeMove(work) {
        at("rename")
        events.completeMove((rows) => {
          work(rows)
          at("switch")
        })
        at("switched")
      },
      endShipping(work = () => {}) {
        at("rename")
        events.endShipping((...args) => {
          work(...args)
          at("switch")
        })
        at("switched")
      },
    },
    clickhouse: {
      ...clickhouse,
      async insert(...args) {
        at("insert")
        await clickhouse.insert(...args)
        at("inserted")
      },
    },
    report({ what, done, total }) {
      if (what === "comparing sites") at(done < total ? "compare" : "compared")
    },
  }
}

if (import.meta.main) {
  const [place, to, step] = process.argv.slice(2) as [string, Destination, Step] // given by the test
  await whileStopped(JSON.parse(place) as StagePlace, (options) => moveEvents(to, dyingAt(step, options)))
}
