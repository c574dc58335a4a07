import { expect, test } from "bun:test"
import { copyFileSync, existsSync } from "node:fs"
import { join } from "node:path"
import type { RowType } from "../../../src/domain/export.ts"
import type { RowsQuery } from "../../../src/domain/query.ts"
import type { RowsCursor } from "../../../src/query/rows/cursor.ts"
import { exportRows } from "../../../src/query/rows/export-rows.ts"
import { type EventStore, openEventStore } from "../../../src/store/events/events.ts"
import type { EventReader } from "../../../src/store/events/part.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import { temporaryFolder } from "../../kit.ts"
import { type Random, seededRandom } from "../../oracle/random.ts"
import { bySize, SEED } from "../../size.ts"
import { event, NO_TRAITS } from "../../store/events/samples.ts"

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const START = Date.parse("2026-11-21T10:00:00Z")
const SITE = { id: 1, bounceEngagedSeconds: 0, revenueCurrency: "EUR", goals: [] }
const ALL = { from: 0, to: START * 2 }
const SITE_KEY = new Uint8Array(32).fill(7)

type Row = Record<string, unknown>

/** An event store whose clock moves, and a warehouse that is loaded from it step by step. */
class Life {
  readonly #folder = temporaryFolder()
  readonly #random: Random
  #now = START
  #path: string
  #store: EventStore
  #reader: EventReader
  #kills = 0
  #since = 0
  readonly warehouse: Readonly<Record<RowType, Map<string, Row>>> = { visits: new Map(), events: new Map() }

  constructor(random: Random) {
    this.#random = random
    this.#path = join(this.#folder.path, "events.db")
    this.#store = openEventStore(this.#path, { now: this.#now })
    this.#reader = openEventReader(this.#path, { cacheBytes: 1 << 22 })
  }

  wait(ms: number): void {
    this.#now += ms
  }

  /** Stores an event that was sent `late` milliseconds after it happened, in an open visit of the visitor or in a new one. */
  record(visitor: number, late: number): void {
    const at = this.#now - late
    const day = "2026-11-21"
    this.#store.write(this.#now, (writer) => {
      const ordinal = writer.visitor(1, day, { high: 0, low: visitor })
      const fits = ({ startedAt, activeAt }: { startedAt: number; activeAt: number }) =>
        at >= startedAt - 30 * MINUTE && at <= activeAt + 30 * MINUTE && Math.abs(at - startedAt) <= 24 * HOUR
      const open = writer.findOpenVisit(1, ordinal, undefined, fits)
      const traits = { ...NO_TRAITS, country: this.#random.pick(["DE", "FR", "US"]) }
      const id = open?.id ?? writer.openVisit(1, { rotating: ordinal, visitor: ordinal, visitorKind: "rotating", traits }, day)
      const isFirst = open !== undefined && at < open.startedAt
      writer.add(1, id, event({ at, page: `/${this.#random.whole(1, 40)}` }), day, isFirst ? traits : undefined)
      if (this.#random.chance(0.1)) {
        const person = writer.person(1, { high: 1, low: this.#random.whole(1, 5) }, "user")
        writer.identify(1, id, person, "user")
      }
    })
  }

  seal = (all: boolean) => this.#store.seal(this.#now, all)
  merge = () => this.#store.merge(this.#now)

  /** Removes old visits. The warehouse applies the same rule. */
  async retain(): Promise<void> {
    const cutoff = this.#now - 20 * HOUR
    await this.#store.retain(1, cutoff, this.#now)
    const { visits, events } = this.warehouse
    const old = new Set([...visits.values()].filter(({ started_at }) => Date.parse(`${started_at}`) < cutoff).map(({ visit }) => visit))
    for (const rows of [visits, events]) for (const [key, { visit }] of rows) if (old.has(visit)) rows.delete(key)
  }

  /** Continues with the files as they are, as the next start does after the process was killed. */
  kill(): void {
    const next = join(this.#folder.path, `events-${++this.#kills}.db`)
    for (const end of ["", "-wal"]) if (existsSync(this.#path + end)) copyFileSync(this.#path + end, next + end)
    this.close()
    this.#path = next
    this.#store = openEventStore(next, { now: this.#now })
    this.#reader = openEventReader(next, { cacheBytes: 1 << 22 })
  }

  /** Loads what is new. Fails if a row was loaded before. */
  load(): void {
    const arrived = { from: this.#since, to: this.#now - 30 * MINUTE - 1_000 }
    for (const of of ["visits", "events"] as const) {
      for (const row of this.#export(of, { arrived })) {
        const key = keyOf(row)
        expect(this.warehouse[of].get(key)).toBeUndefined()
        this.warehouse[of].set(key, row)
      }
    }
    this.#since = arrived.to
  }

  whole = (of: RowType): Row[] => this.#export(of, {})

  close(): void {
    this.#reader.close()
    this.#store.close()
  }

  end(): void {
    this.close()
    this.#folder[Symbol.dispose]()
  }

  #export(of: RowType, more: Partial<RowsQuery>): Row[] {
    const rows: Row[] = []
    let cursor: RowsCursor | undefined
    do {
      const query = { site: SITE, range: ALL, of, format: "ndjson", siteKey: SITE_KEY, ...more } as const
      const batch = exportRows(this.#reader.snapshot(1), query, cursor, () => {})
      const lines = new TextDecoder().decode(batch.rows).split("\n").filter(Boolean)
      rows.push(...lines.map((line) => JSON.parse(line) as Row))
      cursor = batch.next
    } while (cursor)
    return rows
  }
}

const keyOf = ({ visit, position }: Row): string => `${visit} ${position ?? ""}`
const inOrder = (rows: Iterable<Row>): Row[] => [...rows].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))

test("incremental exports contain each row once and together equal a full export", async () => {
  for (let run = 0; run < bySize({ check: 4, full: 20, release: 100 }); run++) {
    const random = seededRandom(SEED * 1_000 + run)
    const life = new Life(random)
    try {
      let stepsSinceLoad = 0
      for (let step = 0; step < 120; step++) {
        for (let n = random.whole(0, 8); n > 0; n--) life.record(random.whole(1, 30), random.chance(0.2) ? random.whole(0, 6 * HOUR) : 0)
        life.wait(random.chance(0.05) ? random.whole(0, 3 * HOUR) : random.whole(0, 12 * MINUTE))
        if (random.chance(0.2)) await life.seal(random.chance(0.7))
        if (random.chance(0.05)) await life.merge()
        if (random.chance(0.05)) life.kill()
        if (random.chance(0.05)) await life.retain()
        if (++stepsSinceLoad >= random.whole(1, 12)) {
          life.load()
          stepsSinceLoad = 0
        }
      }
      life.wait(31 * MINUTE)
      life.load()
      for (const of of ["visits", "events"] as const) {
        const whole = life.whole(of)
        expect(whole.length).toBeGreaterThan(100)
        expect(inOrder(life.warehouse[of].values())).toEqual(inOrder(whole))
      }
    } finally {
      life.end()
    }
  }
}, 120_000)

test("an open visit is exported once it has ended, with the events that arrived late", () => {
  const life = new Life(seededRandom(1))
  life.record(1, 0)
  life.wait(29 * MINUTE)
  life.record(1, 40 * MINUTE)
  life.load()
  life.wait(30 * MINUTE)
  life.load()
  expect(life.warehouse.visits.size).toBe(0)
  life.wait(2_000)
  life.load()
  expect([...life.warehouse.visits.values()]).toMatchObject([
    { started_at: "2026-11-21T09:49:00Z", last_at: "2026-11-21T10:00:00Z", events: 2 },
  ])
  expect([...life.warehouse.events.values()].map(({ at, position }) => [at, position])).toEqual([
    ["2026-11-21T09:49:00.000Z", 1],
    ["2026-11-21T10:00:00.000Z", 2],
  ])
  life.end()
})
