import type { DictionaryName } from "../../../domain/dimension.ts"
import { TRAITS, VISITOR_KINDS } from "../../../domain/visit.ts"
import { firstAtLeast } from "../../events/bytes/ascending.ts"
import type { SegmentKind } from "../../events/bytes/lanes.ts"
import { propertyDictionary } from "../../events/dictionary/texts.ts"
import { ARRIVAL_UNIT_MS, type Part, VISIT_PAGES } from "../../events/part.ts"
import { sharedSequence } from "../../events/spool/sequences.ts"
import type { Opening } from "../../events/spool/spool.ts"
import { VITAL_NAMES } from "../../events/tail/rows.ts"
import type { EventRow, VisitRow } from "../visit-row.ts"

/** What the rows of a part need in addition to its columns. */
export interface RowContext {
  kind: SegmentKind
  /** Run of the import; 0 for native visits. */
  run: number
  /** Number of the node, 1 to 255. */
  node: number
  /** Returns the last record of the log that concerns a visit, given by row. */
  version(visit: number): number
  opened(visit: number): Opening
  text(name: DictionaryName, id: number): string
  /** Returns the value of a visitor by ordinal. */
  value(ordinal: number): bigint
}

/** Event rows of a part by visit: those of visit `v` are at the positions of `order` from `ends[v]` up to `ends[v + 1]`. */
interface EventsByVisit {
  /** Null when the rows are stored in that order. */
  order: Uint32Array | null
  ends: Uint32Array
}

/** Returns the events of a part whose rows are stored by visit, such as a segment. */
export function storedByVisit(part: Part): EventsByVisit {
  const ends = new Uint32Array(part.visits + 1)
  for (const visit of part.event("visit")) ends[visit + 1]!++
  for (let visit = 0; visit < part.visits; visit++) ends[visit + 1]! += ends[visit]!
  return { order: null, ends }
}

/** Creates the function that returns a visit of a part, given by row, in the form of the engine. */
export function rowsOf(part: Part, { order, ends }: EventsByVisit, siteId: number, context: RowContext): (visit: number) => VisitRow {
  const { node, text, value } = context
  const visit = (name: Parameters<Part["visit"]>[0]) => part.visit(name)
  const numbers = {
    ...{ duration: visit("duration"), pageviews: visit("pageviews"), events: visit("events"), interactive: visit("interactive") },
    ...{ engaged: visit("engaged"), arrival: visit("arrival"), visitor: visit("visitor"), kind: visit("visitor_kind") },
  }
  const [starts, sequences] = [part.starts(), part.sequences()]
  const pages = VISIT_PAGES.map((name) => ({ ids: visit(name), dictionary: name.endsWith("hostname") ? "hostname" : "page" }) as const)
  const traits = TRAITS.map((name) => visit(name))
  const step = eventsOf(part, text)
  return (row) => {
    const { opening, openedAt, rotating } = context.opened(row)
    const steps: EventRow[] = []
    for (let at = ends[row]!; at < ends[row + 1]!; at++) steps.push(step(order ? order[at]! : at))
    return {
      siteId,
      kind: context.kind,
      openedAt,
      visit: sharedSequence(opening, node),
      version: context.version(row),
      importId: part.importId,
      run: context.run,
      opener: value(rotating),
      visitor: value(numbers.visitor[row]!),
      visitorKind: VISITOR_KINDS[numbers.kind[row]!]!,
      startedAt: starts[row]!,
      sequence: sharedSequence(sequences[row]!, node),
      duration: numbers.duration[row]!,
      pageviews: numbers.pageviews[row]!,
      events: numbers.events[row]!,
      interactive: numbers.interactive[row]!,
      engaged: numbers.engaged[row]!,
      arrival: numbers.arrival[row]!,
      closed: !part.isOpen(row, starts[row]! + numbers.arrival[row]! * ARRIVAL_UNIT_MS),
      pages: pages.map(({ ids, dictionary }) => text(dictionary, ids[row]!)),
      traits: traits.map((ids, at) => text(TRAITS[at]!, ids[row]!)),
      steps,
    }
  }
}

/** Creates the function that returns an event of a part, given by row. */
function eventsOf(part: Part, text: RowContext["text"]): (row: number) => EventRow {
  const [offsets, names, interactive] = [part.event("offset"), part.event("name"), part.event("interactive")]
  const [pages, hostnames, titles] = [part.event("page"), part.event("hostname"), part.event("title")]
  const [props, revenue, engagement, vitals] = [part.props(), part.revenue(), part.engagement(), part.vitals()]
  return (row) => {
    const [sale, engaged, measured] = [find(revenue.row, row), find(engagement.row, row), find(vitals.row, row)]
    const pairs: [string, string][] = []
    for (let at = firstAtLeast(props.row, row); props.row[at] === row; at++) {
      const key = props.key[at]!
      pairs.push([text("property", key), text(propertyDictionary(key), props.value[at]!)])
    }
    return {
      offset: offsets[row]!,
      name: text("name", names[row]!),
      page: text("page", pages[row]!),
      hostname: text("hostname", hostnames[row]!),
      title: text("title", titles[row]!),
      interactive: interactive[row] === 1,
      props: pairs,
      ...(sale !== undefined && { revenue: { amount: revenue.amount[sale]!, currency: text("currency", revenue.currency[sale]!) } }),
      ...(engaged !== undefined && { engagement: { engaged: engagement.engaged[engaged]!, scroll: engagement.scroll[engaged]! } }),
      ...(measured !== undefined && { vitals: VITAL_NAMES.map((name) => vitals[name][measured]!) }),
    }
  }
}

/** Returns the position of a value in an ascending column, or undefined if it is not there. */
function find(column: Uint32Array, value: number): number | undefined {
  const at = firstAtLeast(column, value)
  return column[at] === value ? at : undefined
}
