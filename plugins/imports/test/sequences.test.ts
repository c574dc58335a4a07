import { expect, test } from "bun:test"
import { bySize } from "#plugin/test"
import type { Overlap } from "../days.ts"
import type { ImportResponse, PreviewResponse } from "../responses.ts"
import { type ImportStage, simpleAnalytics, startImports } from "./kit.ts"
import { segmentsOf } from "./stores.ts"

const DAYS = Array.from({ length: 9 }, (_, at) => `2026-11-${String(13 + at).padStart(2, "0")}`)
const POLICIES: readonly Overlap[] = ["native_wins", "fill_gaps", "import_wins_over_imports", "allow"]
const STEPS = bySize({ check: 6, full: 25, release: 60 })
const SEEDS = bySize({ check: [7], full: [7, 11, 23, 42], release: Array.from({ length: 20 }, (_, at) => at + 1) })

/** An import of the model: its stored days with their visits, in the order of the completions. */
interface ModelImport {
  id: number
  overlap: Overlap
  visits: ReadonlyMap<string, number>
  enabled: boolean
  undone: boolean
}

/** A linear congruential generator: the same steps for a seed on every machine. */
function randomOf(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
}

/** Returns the visits of each day by the wording of the chapter: in the order of completion, day after day. */
function visitsOf(imports: readonly ModelImport[], native: ReadonlyMap<string, number>): Record<string, number> {
  const shown = imports.filter(({ enabled, undone }) => enabled && !undone)
  return Object.fromEntries(
    DAYS.map((day) => {
      let holder: ModelImport | undefined
      let doubled = 0
      for (const one of shown.filter(({ visits }) => visits.has(day))) {
        if (one.overlap === "allow") doubled += one.visits.get(day)!
        if (!holder || one.overlap === "import_wins_over_imports") holder = one
      }
      const held = holder && holder.overlap !== "allow" ? holder.visits.get(day)! : 0
      return [day, (native.get(day) ?? 0) + doubled + held]
    }),
  )
}

/** Returns the figures that a preview promises and a run stores. `stored` is the number of rows that are stored. */
const promiseOf = ({ date_start, date_end, totals, skip_reasons, rows }: ImportResponse | PreviewResponse, stored: number) => {
  const { read, rejected, skipped } = rows
  return { date_start, date_end, totals, skip_reasons, read, rejected, skipped, stored }
}

async function reportOf({ instance }: ImportStage): Promise<Record<string, number>> {
  const path = `/api/public/v1/sites/1/stats/timeseries?from=${DAYS[0]}&to=${DAYS.at(-1)}&interval=day&metrics=visits`
  const { body } = await instance.api.get(path, instance.statsKey)
  const { points } = body as { points: { time: string; visits: number }[] } // the response of the route
  return Object.fromEntries(points.map(({ time, visits }) => [time.slice(0, 10), visits]))
}

test.each(SEEDS)(
  "any sequence of runs, toggles and undos shows the visits of a plain model, and runs do what previews promised, seed %d",
  async (seed) => {
    const random = randomOf(seed)
    await using stage = await startImports({ now: "2026-11-17T12:00:00Z" })
    const { instance } = stage
    const native = new Map<string, number>()
    // Two native days with a gap in between.
    for (const day of ["2026-11-17", "2026-11-19"]) {
      instance.clock.advance(Date.parse(`${day}T12:00:00Z`) - instance.clock.now())
      await instance.collect({ n: "pageview", u: "https://shop.example/", d: instance.site.tracking_id })
      native.set(day, 1)
    }
    instance.clock.advance(Date.parse("2026-11-21T20:00:00Z") - instance.clock.now())
    stage.headers.cookie = await instance.signIn({ role: "admin" })
    await instance.app.instance.events.seal(instance.clock.now(), true)
    const before = segmentsOf(instance)
    const imports: ModelImport[] = []

    const run = async () => {
      const overlap = POLICIES[random(POLICIES.length)]!
      const wanted = DAYS.map((day) => [day, random(3)] as const).filter(([, count]) => count > 0)
      const isNative = (day: string) => (overlap === "fill_gaps" ? native.has(day) : overlap !== "allow" && day >= "2026-11-17")
      const stored = wanted.filter(([day]) => !isNative(day))
      if (stored.length === 0) return
      const rows = wanted.flatMap(([day, count]) =>
        Array.from({ length: count }, (_, at) => ({ at: `${day}T0${8 + at}:00:00Z`, path: `/${imports.length}`, session: `${day} ${at}` })),
      )
      const rejected = Array.from({ length: random(3) }, (_, at) => ({ at: "yesterday", path: `/${at}`, session: "rejected" }))
      const files = [{ name: "export.csv", content: simpleAnalytics([...rows, ...rejected]) }]
      const input = { source: "simple_analytics", files, options: { overlap, accept_rejects: true } }
      const preview = (await stage.post("/preview", input)).body as PreviewResponse // the response of the route
      const done = await stage.run({ ...input, force: true, preview_hash: preview.preview_hash })
      expect(done).toMatchObject({ state: "completed", days_effective: preview.overlap.days_effective })
      expect(promiseOf(done, done.rows.imported)).toEqual(promiseOf(preview, preview.rows.accepted))
      imports.push({ id: done.id, overlap, visits: new Map(stored), enabled: true, undone: false })
      instance.clock.advance(1_000)
    }
    const toggle = async () => {
      const one = imports.filter(({ undone }) => !undone)[random(Math.max(1, imports.length))]
      if (!one) return
      one.enabled = !one.enabled
      expect(await stage.send("PATCH", `/${one.id}`, { enabled: one.enabled })).toMatchObject({ status: 200 })
    }
    const undo = async () => {
      const one = imports.filter(({ undone }) => !undone)[random(Math.max(1, imports.length))]
      if (!one) return
      one.undone = true
      expect(await stage.post(`/${one.id}/undo`)).toMatchObject({ status: 202 })
      // Gone from answers before the rows are removed.
      expect(await reportOf(stage)).toEqual(visitsOf(imports, native))
      await instance.runJobs()
    }

    for (let step = 0; step < STEPS; step++) {
      await [run, run, toggle, undo][random(4)]!()
      expect(await reportOf(stage)).toEqual(visitsOf(imports, native))
    }
    for (const one of imports.filter(({ undone }) => !undone)) await stage.post(`/${one.id}/undo`)
    await instance.runJobs()
    // Nothing of any import is left, and native data is as it was, bit for bit.
    expect(segmentsOf(instance)).toEqual(before)
  },
  600_000,
)
