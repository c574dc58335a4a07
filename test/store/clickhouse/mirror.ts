import { TRAITS, VISITOR_KINDS } from "../../../src/domain/visit.ts"
import { orderedPart } from "../../../src/query/measure/ordered-part.ts"
import type { Clickhouse } from "../../../src/store/clickhouse/client.ts"
import { ROW_COLUMNS, RowWriter } from "../../../src/store/clickhouse/row-binary.ts"
import type { EventRow, VisitKey, VisitRow } from "../../../src/store/clickhouse/visit-row.ts"
import type { SegmentKind } from "../../../src/store/events/bytes/lanes.ts"
import { propertyDictionary } from "../../../src/store/events/dictionary/texts.ts"
import type { Part, Snapshot } from "../../../src/store/events/part.ts"
import { VITAL_NAMES } from "../../../src/store/events/tail/rows.ts"

/** Random numbers from 0 up to 1. */
export type Chance = () => number

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
    const now = new Map(rowsOf(snapshot, kind).map((row) => [row.visit, row]))
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
function rowsOf(snapshot: Snapshot, kind: SegmentKind): VisitRow[] {
  return snapshot.parts.flatMap((part) => partRows(snapshot, orderedPart(part), kind))
}

function partRows(snapshot: Snapshot, part: Part, kind: SegmentKind): VisitRow[] {
  const text = (name: Parameters<Snapshot["dictionary"]>[0], number: number) => snapshot.dictionary(name).text(number)
  const steps = stepsOf(snapshot, part)
  const [starts, sequences] = [part.starts(), part.sequences()]
  return Array.from({ length: part.visits }, (_, row): VisitRow => {
    const number = (column: Parameters<Part["visit"]>[0]) => part.visit(column)[row]!
    const visit = sequences[row]!
    // Some visits were opened by an event that is not their first one any more.
    const later = visit % 3 === 0 ? (visit % 7) * 1_000 : 0
    const visitor = BigInt(Bun.hash.xxHash64(`${snapshot.siteId} ${number("visitor")}`))
    return {
      ...{ siteId: snapshot.siteId, kind, openedAt: starts[row]! + later, visit, version: 0, importId: part.importId, run: 0 },
      ...{ opener: visitor - 1n, visitor, visitorKind: VISITOR_KINDS[number("visitor_kind")]!, startedAt: starts[row]!, sequence: visit },
      ...{ duration: number("duration"), pageviews: number("pageviews"), events: number("events"), interactive: number("interactive") },
      ...{ engaged: number("engaged"), arrival: number("arrival") },
      pages: [
        ...(["entry_page", "exit_page"] as const).map((column) => text("page", number(column))),
        ...(["entry_page_hostname", "exit_page_hostname"] as const).map((column) => text("hostname", number(column))),
      ],
      traits: TRAITS.map((trait) => text(trait, number(trait))),
      steps: steps[row]!,
    }
  })
}

/** Returns the events of each visit. */
function stepsOf(snapshot: Snapshot, part: Part): EventRow[][] {
  const text = (name: Parameters<Snapshot["dictionary"]>[0], number: number) => snapshot.dictionary(name).text(number)
  const events = Array.from({ length: part.events }, (_, row): EventRow & { props: [string, string][] } => {
    const number = (column: Parameters<Part["event"]>[0]) => part.event(column)[row]!
    return {
      ...{ offset: number("offset"), name: text("name", number("name")), page: text("page", number("page")) },
      ...{ hostname: text("hostname", number("hostname")), title: text("title", number("title")) },
      ...{ interactive: number("interactive") === 1, props: [] },
    }
  })
  const [props, revenue, engagement, vitals] = [part.props(), part.revenue(), part.engagement(), part.vitals()]
  props.row.forEach((row, at) => {
    const key = props.key[at]!
    events[row]!.props.push([text("property", key), text(propertyDictionary(key), props.value[at]!)])
  })
  revenue.row.forEach((row, at) => {
    events[row]!.revenue = { amount: revenue.amount[at]!, currency: text("currency", revenue.currency[at]!) }
  })
  engagement.row.forEach((row, at) => {
    events[row]!.engagement = { engaged: engagement.engaged[at]!, scroll: engagement.scroll[at]! }
  })
  vitals.row.forEach((row, at) => {
    events[row]!.vitals = VITAL_NAMES.map((name) => vitals[name][at]!)
  })
  const ofVisit: EventRow[][] = Array.from({ length: part.visits }, () => [])
  part.event("visit").forEach((visit, row) => void ofVisit[visit]!.push(events[row]!))
  return ofVisit
}
