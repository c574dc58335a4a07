import { TRAITS, VISITOR_KINDS } from "../../../src/domain/visit.ts"
import type { Clickhouse } from "../../../src/store/clickhouse/client.ts"
import type { SegmentKind } from "../../../src/store/events/bytes/lanes.ts"
import { NO_SCROLL, NO_VITAL } from "../../../src/store/events/part.ts"
import { VITAL_NAMES } from "../../../src/store/events/tail/rows.ts"
import type { DumpedVisit } from "../events/dump.ts"

const KINDS: readonly string[] = VISITOR_KINDS

type Row = Record<string, string | number | (string | number)[]>

/** A visit as `dump` returns it of a store, with the value of its visitor instead of the ordinal. */
type DumpedRow = Omit<DumpedVisit, "visitor"> & { value: string; opener: string }

/** Returns the visits of a site on ClickHouse, in the form and order of `dump`. Sequences are without the number of the node. */
export async function dumpRows(clickhouse: Clickhouse, siteId: number, kind: SegmentKind = "visits"): Promise<DumpedRow[]> {
  const sql = "select *, visitor from visits final where site_id = {site:UInt32} and kind = {kind:String}"
  const rows = await clickhouse.rows<Row>(sql, { parameters: { site: siteId, kind } })
  return rows.map(dumpRow)
}

function dumpRow(row: Row): DumpedRow {
  const number = (name: string) => Number(row[name])
  const list = (name: string) => row[name] as (string | number)[]
  const start = number("started_at")
  const events = list("e.offset").map((offset, at) => {
    const places = (name: string) => list(name).flatMap((event, place) => (event === at ? [place] : []))
    const known = (value: string | number | undefined, missing: number) => (value === missing ? undefined : value)
    return {
      at: start + Number(offset),
      ...{ name: list("e.name")[at], page: list("e.page")[at], hostname: list("e.hostname")[at], title: list("e.title")[at] },
      interactive: list("e.interactive")[at] === 1,
      props: places("p.event").map((place) => [list("p.key")[place], list("p.value")[place]]),
      revenue: places("r.event").map((place) => `${list("r.amount")[place]} ${list("r.currency")[place]}`),
      engagement: places("g.event").map((place) => [list("g.engaged")[place], known(list("g.scroll")[place], NO_SCROLL)]),
      vitals: places("v.event").map((place) => VITAL_NAMES.map((name) => known(list(`v.${name}`)[place], NO_VITAL))),
    }
  })
  return {
    ...{ value: String(row.visitor), opener: String(row.opener) },
    kind: KINDS.indexOf(String(row.visitor_kind)),
    start,
    first: Math.floor(number("sequence") / 256),
    ...{ duration: number("duration"), pageviews: number("pageviews"), events: number("events"), interactive: number("interactive") },
    engaged: number("engaged"),
    entry: `${row.entry_page_hostname}${row.entry_page}`,
    exit: `${row.exit_page_hostname}${row.exit_page}`,
    traits: TRAITS.map((trait) => row[trait]).join("|"),
    importId: number("import_id"),
    rows: events,
  }
}
