import { TRAITS, VISITOR_KINDS } from "../../domain/visit.ts"
import { ByteWriter } from "../events/bytes/bytes.ts"
import { SEGMENT_KINDS } from "../events/bytes/lanes.ts"
import { VISIT_PAGES } from "../events/part.ts"
import { VITAL_NAMES } from "../events/tail/rows.ts"
import type { EventRow, VisitKey, VisitRow } from "./visit-row.ts"

/** The columns of an inserted row, in the order in which `RowWriter` writes them. */
export const ROW_COLUMNS: readonly string[] = [
  ...["site_id", "kind", "opened_at", "visit", "opener", "version", "gone", "import_id", "run", "identified", "visitor_kind"],
  ...["started_at", "sequence", "duration", "length", "pageviews", "events", "interactive", "engaged", "arrival", "closed"],
  ...VISIT_PAGES,
  ...TRAITS,
  ...["e.offset", "e.name", "e.page", "e.hostname", "e.title", "e.interactive"],
  ...["p.event", "p.key", "p.value", "r.event", "r.amount", "r.currency", "g.event", "g.engaged", "g.scroll"],
  ...["v.event", ...VITAL_NAMES.map((name) => `v.${name}`)],
]

/** Collects rows for one insert. */
export class RowWriter {
  readonly #out = new ByteWriter()
  /** Number of rows. */
  count = 0

  /** Size of the rows in bytes. */
  get length(): number {
    return this.#out.length
  }

  add(row: VisitRow): void {
    const out = this.#out
    this.#key(row, 0)
    out.uint32(row.importId)
    out.uint32(row.run)
    out.uint64(row.visitor === row.opener ? 0n : row.visitor)
    out.byte(VISITOR_KINDS.indexOf(row.visitorKind))
    out.uint64(row.startedAt)
    out.uint64(row.sequence)
    out.uint32(row.duration)
    out.uint32(row.steps.at(-1)?.offset ?? 0)
    out.uint16(row.pageviews)
    out.uint16(row.events)
    out.uint16(row.interactive)
    out.uint32(row.engaged)
    out.uint32(row.arrival)
    out.byte(row.closed ? 1 : 0)
    for (const page of row.pages) out.text(page)
    for (const trait of row.traits) out.text(trait)
    this.#events(row.steps)
  }

  /** Adds a row that removes a visit. It has the key and no other value. */
  addTombstone(key: VisitKey): void {
    this.#key(key, 1)
    for (let left = EMPTY_BYTES; left > 0; left--) this.#out.byte(0)
  }

  /** Returns the rows. Nothing may be added afterwards. */
  finish(): Uint8Array<ArrayBuffer> {
    return this.#out.content()
  }

  #key({ siteId, kind, openedAt, visit, opener, version }: VisitKey, gone: 0 | 1): void {
    const out = this.#out
    out.uint32(siteId)
    out.byte(SEGMENT_KINDS.indexOf(kind))
    out.uint64(openedAt)
    out.uint64(visit)
    out.uint64(opener)
    out.uint64(version)
    out.byte(gone)
    this.count++
  }

  #events(steps: readonly EventRow[]): void {
    const out = this.#out
    const list = <Item>(items: readonly Item[], write: (item: Item) => void) => {
      out.uint(items.length)
      for (const item of items) write(item)
    }
    list(steps, ({ offset }) => out.uint32(offset))
    list(steps, ({ name }) => out.text(name))
    list(steps, ({ page }) => out.text(page))
    list(steps, ({ hostname }) => out.text(hostname))
    list(steps, ({ title }) => out.text(title))
    list(steps, ({ interactive }) => out.byte(interactive ? 1 : 0))
    const props = steps.flatMap(({ props }, event) => props.map(([key, value]) => ({ event, key, value })))
    list(props, ({ event }) => out.uint16(event))
    list(props, ({ key }) => out.text(key))
    list(props, ({ value }) => out.text(value))
    const sales = steps.flatMap(({ revenue }, event) => (revenue ? [{ event, ...revenue }] : []))
    list(sales, ({ event }) => out.uint16(event))
    list(sales, ({ amount }) => out.uint64(amount))
    list(sales, ({ currency }) => out.text(currency))
    const engagements = steps.flatMap(({ engagement }, event) => (engagement ? [{ event, ...engagement }] : []))
    list(engagements, ({ event }) => out.uint16(event))
    list(engagements, ({ engaged }) => out.uint32(engaged))
    list(engagements, ({ scroll }) => out.byte(scroll))
    const vitals = steps.flatMap(({ vitals }, event) => (vitals ? [{ event, vitals }] : []))
    list(vitals, ({ event }) => out.uint16(event))
    for (let index = 0; index < VITAL_NAMES.length; index++) list(vitals, ({ vitals }) => out.uint32(vitals[index]!))
  }
}

/** Bytes of the columns after `gone` when all of them are 0 or empty. */
const EMPTY_BYTES =
  4 + 4 + 8 + 1 + 8 + 8 + 4 + 4 + 2 * 3 + 4 + 4 + 1 + VISIT_PAGES.length + TRAITS.length + 6 + 3 * 3 + 1 + VITAL_NAMES.length
