/** Visits as rows of numbers with a separate list of texts, as the SQL contenders store them. */
import { ENGAGEMENT, FIXED_NAMES, PAGEVIEW, VITALS } from "../../../src/domain/dimension.ts"
import { TRAITS } from "../../../src/domain/visit.ts"
import type { BenchVisit } from "./data.ts"

/** A row of numbers: `at_ms`, `start` and `visit_start` in epoch milliseconds, `duration` and `engaged` in milliseconds. */
export const VISIT_COLUMNS = [
  ...["id", "site_id", "start", "visitor", "duration", "pageviews", "events", "interactive", "engaged"],
  ...["entry_page", "exit_page", "hostname"],
  ...TRAITS,
] as const
export const EVENT_COLUMNS = [
  ...["site_id", "at_ms", "visit", "visit_start", "visitor", "name", "page", "hostname", "title", "interactive"],
  ...["engaged", "scroll", "amount", "currency", "property", "value"],
] as const

export interface Rows {
  visits: number[][]
  events: number[][]
}

/** Numbers the texts of each dictionary; 0 is the missing value. */
export class Texts {
  private readonly dictionaries = new Map<string, Map<string, number>>([["name", new Map(FIXED_NAMES.map((name, id) => [name, id]))]])

  number(dictionary: string, text: string): number {
    let known = this.dictionaries.get(dictionary)
    if (!known) {
      known = new Map([["", 0]])
      this.dictionaries.set(dictionary, known)
    }
    const id = known.get(text) ?? known.size
    if (id === known.size) known.set(text, id)
    return id
  }

  *all(): Generator<[dictionary: string, id: number, text: string]> {
    for (const [dictionary, known] of this.dictionaries) for (const [text, id] of known) yield [dictionary, id, text]
  }
}

/** Converts visits to rows, numbering the visits from 1 in order. */
export class RowMaker {
  readonly texts = new Texts()
  private count = 0

  rows(visits: readonly BenchVisit[]): Rows {
    const rows: Rows = { visits: [], events: [] }
    for (const visit of visits) {
      const id = ++this.count
      for (const row of this.eventRows(id, visit)) rows.events.push(row)
      rows.visits.push(this.visitRow(id, visit))
    }
    return rows
  }

  private eventRows(id: number, { siteId, visitor, events }: BenchVisit): number[][] {
    const start = events[0]!.at
    return events.map((event) => {
      const [property, value] = event.props[0] ?? ["", ""] // the generator creates at most one
      return [
        ...[siteId, event.at, id, start, visitor],
        this.texts.number("name", event.name),
        this.texts.number("page", event.page),
        this.texts.number("hostname", event.hostname),
        this.texts.number("title", event.title),
        Number(event.interactive),
        event.engagement?.engagedMs ?? 0,
        event.engagement?.scrollDepth ?? 255,
        event.revenue?.amount ?? 0,
        this.texts.number("currency", event.revenue?.currency ?? ""),
        this.texts.number("property", property),
        this.texts.number(`property:${property}`, value),
      ]
    })
  }

  private visitRow(id: number, { siteId, visitor, traits, events }: BenchVisit): number[] {
    const names = events.map(({ name }) => this.texts.number("name", name))
    const counted = events.filter((_, index) => names[index] !== ENGAGEMENT && names[index] !== VITALS)
    const pageviews = events.filter((_, index) => names[index] === PAGEVIEW)
    const interactive = counted.filter(({ name, interactive }) => name !== "pageview" && interactive).length
    const engaged = events.reduce((sum, { engagement }) => sum + (engagement?.engagedMs ?? 0), 0)
    return [
      ...[id, siteId, events[0]!.at, visitor, counted.at(-1)!.at - events[0]!.at],
      ...[pageviews.length, counted.length, interactive, engaged],
      this.texts.number("page", pageviews[0]?.page ?? ""),
      this.texts.number("page", pageviews.at(-1)?.page ?? ""),
      this.texts.number("hostname", events[0]!.hostname),
      ...TRAITS.map((trait) => this.texts.number(trait, traits[trait])),
    ]
  }
}
