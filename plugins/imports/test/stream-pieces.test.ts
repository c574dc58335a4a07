import { expect, test } from "bun:test"
import { bySize } from "#plugin/test"
import type { ImportResponse } from "../responses.ts"
import { type ImportStage, startImports } from "./kit.ts"
import { body, log, MINUTE } from "./logs.ts"

const ROUNDS = bySize({ check: 1, full: 6, release: 60 })
const LINES = 240
const START = Date.parse("2026-11-20T22:00:00Z")

/** Returns a generator of numbers from 0 to below 1, the same for the same seed. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** Returns the lines of a log of 13 hours over two days of the site, nearly in order and some of them equal. */
function randomLines(random: () => number): string[] {
  const times = Array.from({ length: LINES }, () => START + Math.floor(random() ** 0.8 * 13 * 60) * MINUTE).sort((a, b) => a - b)
  return times.map((at) => {
    const late = random() < 0.1 ? 20_000 : 0
    return log([new Date(at - late).toISOString(), `203.0.113.${Math.floor(random() * 15)}`, `/${Math.floor(random() * 4)}`])
  })
}

interface Outcome {
  report: unknown
  one: Pick<ImportResponse, "days" | "totals">
}

/** Returns what reports and the history show once no visit waits any more. */
async function outcome(stage: ImportStage): Promise<Outcome> {
  stage.instance.clock.advance(31 * MINUTE)
  await stage.instance.runJobs()
  const path =
    "/api/public/v1/sites/1/stats/timeseries?period=all&interval=hour&metrics=visitors,visits,pageviews,bounce_rate,visit_duration"
  const { days, totals } = (await stage.get("/1")).body as ImportResponse
  return { report: (await stage.instance.api.get(path, stage.instance.statsKey)).body, one: { days, totals } }
}

test.each(Array.from({ length: ROUNDS }, (_, round) => round))(
  "a log in any overlapping pieces counts as the whole log, round %d",
  async (round) => {
    const random = numbers(round + 1)
    const lines = randomLines(random)
    await using whole = await startImports()
    await whole.run(body(lines.join("")))
    const expected = await outcome(whole)

    await using pieces = await startImports()
    for (let end = 0; end < lines.length; ) {
      const from = Math.max(0, end - Math.floor(random() * 30))
      end = Math.min(lines.length, end + 1 + Math.floor(random() * 60))
      const rotated = from + Math.floor(random() * (end - from))
      // A file that was rotated and one that still has its last lines.
      const files = [lines.slice(from, end), ...(random() < 0.3 ? [lines.slice(rotated, end)] : [])]
      const sent = body(files.map((file) => file.join("")))
      // A first run that is cancelled would end its import.
      if (from > 0 && random() < 0.3) {
        await pieces.post("", sent)
        await pieces.post("/1/cancel")
        await pieces.instance.runJobs()
      }
      await pieces.run(sent)
    }
    await pieces.run(body(lines.join("")))
    expect(await outcome(pieces)).toEqual(expected)
  },
)
