import type { DictionaryName } from "../../../src/domain/dimension.ts"
import { TRAITS } from "../../../src/domain/visit.ts"
import { NO_SCROLL, NO_VITAL, type Part, type Snapshot } from "../../../src/store/events/part.ts"

export interface DumpedVisit {
  visitor: number
  kind: number
  start: number
  /** Sequence of the first event. */
  first: number
  duration: number
  pageviews: number
  events: number
  interactive: number
  engaged: number
  entry: string
  exit: string
  traits: string
  importId: number
  rows: unknown[]
}

/** Returns the whole content of a snapshot as plain objects for comparison, with visits sorted by start and then by content. */
export function dump(snapshot: Snapshot): DumpedVisit[] {
  const visits = snapshot.parts.flatMap((part) => dumpPart(snapshot, part))
  return visits.sort((a, b) => a.start - b.start || (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
}

function dumpPart(snapshot: Snapshot, part: Part): DumpedVisit[] {
  const text = (name: DictionaryName, id: number) => snapshot.dictionary(name).text(id)
  const starts = part.starts()
  const visits = Array.from(starts, (start, row): DumpedVisit => {
    const page = (column: "entry" | "exit") =>
      `${text("hostname", part.visit(`${column}_page_hostname`)[row]!)}${text("page", part.visit(`${column}_page`)[row]!)}`
    return {
      visitor: part.visit("visitor")[row]!,
      kind: part.visit("visitor_kind")[row]!,
      start,
      first: part.sequences()[row]!,
      duration: part.visit("duration")[row]!,
      pageviews: part.visit("pageviews")[row]!,
      events: part.visit("events")[row]!,
      interactive: part.visit("interactive")[row]!,
      engaged: part.visit("engaged")[row]!,
      entry: page("entry"),
      exit: page("exit"),
      traits: TRAITS.map((trait) => text(trait, part.visit(trait)[row]!)).join("|"),
      importId: part.importId,
      rows: [],
    }
  })
  for (const row of part.order() ?? Array(part.events).keys()) visits[part.event("visit")[row]!]!.rows.push(dumpEvent(snapshot, part, row))
  return visits
}

function dumpEvent(snapshot: Snapshot, part: Part, row: number) {
  const text = (name: DictionaryName, id: number) => snapshot.dictionary(name).text(id)
  const at = part.starts()[part.event("visit")[row]!]! + part.event("offset")[row]!
  const places = (rows: Uint32Array) => [...rows.keys()].filter((place) => rows[place] === row)
  const { row: propRows, key, value } = part.props()
  const revenue = part.revenue()
  const engagement = part.engagement()
  const vitals = part.vitals()
  return {
    at,
    name: text("name", part.event("name")[row]!),
    page: text("page", part.event("page")[row]!),
    hostname: text("hostname", part.event("hostname")[row]!),
    title: text("title", part.event("title")[row]!),
    interactive: part.event("interactive")[row] === 1,
    props: places(propRows).map((place) => [text("property", key[place]!), text(`property:${key[place]!}`, value[place]!)]),
    revenue: places(revenue.row).map((place) => `${revenue.amount[place]} ${text("currency", revenue.currency[place]!)}`),
    engagement: places(engagement.row).map((place) => [
      engagement.engaged[place],
      engagement.scroll[place] === NO_SCROLL ? undefined : engagement.scroll[place],
    ]),
    vitals: places(vitals.row).map((place) =>
      (["lcp", "inp", "fcp", "ttfb", "cls"] as const).map((name) => (vitals[name][place] === NO_VITAL ? undefined : vitals[name][place])),
    ),
  }
}
