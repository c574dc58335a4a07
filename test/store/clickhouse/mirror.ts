import { orderedPart } from "../../../src/query/measure/ordered-part.ts"
import type { Clickhouse } from "../../../src/store/clickhouse/client.ts"
import { ROW_COLUMNS, RowWriter } from "../../../src/store/clickhouse/row-binary.ts"
import { rowsOf, storedByVisit } from "../../../src/store/clickhouse/ship/visit-rows.ts"
import type { VisitKey, VisitRow } from "../../../src/store/clickhouse/visit-row.ts"
import type { SegmentKind } from "../../../src/store/events/bytes/lanes.ts"
import type { Part, Snapshot } from "../../../src/store/events/part.ts"

/** Random numbers from 0 up to 1. */
type Chance = () => number

/**
 * Writes what a snapshot of the embedded store contains into ClickHouse as production leaves it: with versions of visits that were not
 * complete yet, repeated rows, in any order, in several inserts, and with tombstones of visits that are gone.
 */
export class Mirror {
  /** By site and kind: the rows that were written last, by the sequence of their visit. */
  readonly #written = new Map<string, Map<number, VisitRow>>()
  #version = 0

  constructor(
    readonly clickhouse: Clickhouse,
    readonly chance: Chance,
  ) {}

  /** Makes ClickHouse have the visits of a snapshot, hidden imports included. */
  async follow(snapshot: Snapshot, kind: SegmentKind = "visits"): Promise<void> {
    const place = `${snapshot.siteId} ${kind}`
    const before = this.#written.get(place) ?? new Map<number, VisitRow>()
    const now = new Map(snapshotRows(snapshot, kind).map((row) => [row.visit, row]))
    this.#version += 10
    const version = this.#version
    const inserts = [new RowWriter(), new RowWriter(), new RowWriter()]
    const some = () => inserts[Math.floor(this.chance() * inserts.length)]!
    const added: (() => void)[] = []
    for (const [visit, row] of now) {
      const former = before.get(visit)
      if (former && Bun.deepEquals({ ...former, version: 0 }, { ...row, version: 0 })) {
        now.set(visit, former)
        if (this.chance() < 0.1) added.push(() => some().add(former))
        continue
      }
      const written = { ...row, version }
      now.set(visit, written)
      added.push(() => some().add(written))
      if (this.chance() < 0.3) added.push(() => some().add(written))
      if (this.chance() < 0.5) added.push(() => some().add(incomplete(written)))
    }
    for (const [visit, former] of before) {
      if (now.has(visit)) continue
      const key: VisitKey = { ...former, version }
      added.push(() => some().addTombstone(key))
      if (this.chance() < 0.5) added.push(() => some().add(former))
    }
    for (const add of shuffled(added, this.chance)) add()
    for (const writer of inserts) if (writer.count > 0) await this.clickhouse.insert("visits", ROW_COLUMNS, writer.finish())
    this.#written.set(place, now)
  }
}

/** Returns the value of a visitor that the embedded store has given an ordinal. */
export const visitorValue = (siteId: number, ordinal: number): bigint => Bun.hash.xxHash64(`${siteId} ${ordinal}`) >> 11n

/** Returns an earlier version of a visit, before its last events arrived and its traits were replaced. */
const incomplete = (row: VisitRow): VisitRow => ({
  ...row,
  version: row.version - 5,
  visitor: row.opener + 1n,
  startedAt: row.openedAt,
  duration: 0,
  pageviews: 1,
  events: 1,
  interactive: 0,
  engaged: 0,
  pages: row.pages.map(() => "/before"),
  traits: row.traits.map(() => "before"),
  steps: row.steps.slice(0, 1),
})

function shuffled<Item>(items: readonly Item[], chance: Chance): Item[] {
  return items
    .map((item) => ({ item, place: chance() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item)
}

/** Returns the visits of a snapshot as rows. */
function snapshotRows(snapshot: Snapshot, kind: SegmentKind): VisitRow[] {
  return snapshot.parts.flatMap((part) => partRows(snapshot, orderedPart(part), kind))
}

function partRows(snapshot: Snapshot, part: Part, kind: SegmentKind): VisitRow[] {
  const [starts, sequences] = [part.starts(), part.sequences()]
  const rowOf = rowsOf(part, storedByVisit(part), snapshot.siteId, {
    ...{ kind, run: 0, node: 1, version: () => 0 },
    opened(row) {
      const opening = sequences[row]!
      // Some visits were opened by an event that is not their first one any more.
      const later = opening % 3 === 0 ? (opening % 7) * 1_000 : 0
      return { opening, openedAt: starts[row]! + later, rotating: part.visit("visitor")[row]! }
    },
    text: (name, id) => snapshot.dictionary(name).text(id),
    value: (ordinal) => visitorValue(snapshot.siteId, ordinal),
  })
  // The sequences are those of the embedded store, so that answers can be compared.
  return Array.from({ length: part.visits }, (_, row) => ({ ...rowOf(row), sequence: sequences[row]! }))
}
