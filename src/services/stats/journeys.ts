import { type Fault, refuseFaults } from "../../domain/error.ts"
import { JourneyInput, type JourneyItem, type Journeys } from "../../domain/journey.ts"
import { THINGS } from "../../domain/limits.ts"
import type { PathAnchor, PathNode, PathsQuery } from "../../domain/query.ts"
import { fault, inspect } from "../../domain/shape.ts"
import type { Site } from "../../domain/site.ts"
import type { Engine } from "../../query/engine/engine.ts"
import { shownValue } from "../../query/show/result.ts"
import { percent } from "./funnel-report.ts"
import { visitImports } from "./import-facts.ts"
import { type OpenReportOptions, openReports, type ReportOptions, reportFacts, splitArguments, withAllFaults } from "./open-report.ts"

type Wanted = Omit<PathsQuery, "site" | "range" | "filter">

/** Returns the pages that visits took from a chosen page on, or up to one (metrics.md section 13). */
export async function journeysReport(
  options: OpenReportOptions & { engine: Pick<Engine, "paths" | "importFacts"> },
  site: Site,
  given: Record<string, unknown>,
  reportOptions: ReportOptions = {},
): Promise<Journeys> {
  const { own, ranged } = splitArguments(given, Object.keys(JourneyInput.properties))
  const opening = openReports(options)("visits", site, ranged, reportOptions)
  const [report, wanted] = await withAllFaults(reportOptions.form ?? "json", opening, () => readJourney(own))
  const { filter, range } = report.parsed
  const [found, imports] = await Promise.all([
    options.engine.paths({ site: report.facts, range: range.range, ...wanted, ...(filter && { filter }) }, report.caller),
    visitImports(options, report),
  ])
  const shown = (node: PathNode) => shownNode(node, wanted.mode)
  return {
    ...reportFacts(report, { otherCurrencies: [], ...imports }, false),
    mode: wanted.mode,
    anchor: { [wanted.anchor.kind]: wanted.anchor.value },
    columns: found.columns.map((nodes) =>
      nodes.map((node) => ({ ...shown(node), visits: node.visits, conversion_rate: percent(node.visits, found.visits) })),
    ),
    edges: found.edges.map(({ column, from, to, visits }) => ({
      column,
      from: shown(found.columns[column]![from]!).page,
      to: shown(found.columns[column + 1]![to]!).page,
      from_node: from,
      to_node: to,
      visits,
    })),
    dropped: found.ended,
    sample_visits: found.visits,
    ...(found.visits < THINGS.journeySample && { sparse: true }),
  }
}

/** Reads the arguments of a journey. Throws `validation_failed`. */
function readJourney(given: object): Wanted {
  const { fields, faults } = inspect(JourneyInput, given)
  const found: Fault[] = [...faults]
  const { start, end, events = false, pins = [], steps = THINGS.journeySteps.default, top = THINGS.journeyTop.default } = fields
  const isGiven = (name: "start" | "end") => Object.hasOwn(given, name)
  if (!isGiven("start") && !isGiven("end")) found.push(fault("/start", "required", "or end is required"))
  if (isGiven("start") && isGiven("end")) found.push(fault("/end", "unsupported_combination", "cannot be combined with start"))
  const named = [
    ...(start ? [{ item: start, pointer: "/start" }] : []),
    ...(end ? [{ item: end, pointer: "/end" }] : []),
    ...pins.map((item, i) => ({ item, pointer: `/pins/${i}` })),
  ]
  found.push(...named.flatMap(({ item, pointer }) => itemFaults(item, events, pointer)))
  found.push(...pins.flatMap(({ column }, i) => pinFaults(column, steps, pins.slice(0, i), `/pins/${i}/column`)))
  refuseFaults(found)
  return {
    mode: start ? "start" : "end",
    anchor: anchorOf((start ?? end)!), // either `start` or `end` is set, otherwise refused above
    steps,
    top,
    withEvents: events,
    group: fields.group ?? "page",
    collapseQuery: fields.collapse_query ?? false,
    pins: pins.map(({ column, ...item }) => ({ column, ...anchorOf(item) })),
  }
}

function itemFaults({ page, event }: JourneyItem, withEvents: boolean, pointer: string): Fault[] {
  if (page === undefined && event === undefined) return [fault(`${pointer}/page`, "required", "is required")]
  if (page !== undefined && event !== undefined)
    return [fault(`${pointer}/event`, "unsupported_combination", "cannot be combined with page")]
  return event !== undefined && !withEvents ? [fault(`${pointer}/event`, "unsupported_combination", "requires events=true")] : []
}

function pinFaults(column: number, steps: number, before: readonly { column: number }[], pointer: string): Fault[] {
  if (column >= steps) return [fault(pointer, "out_of_range", `must lie between 1 and ${steps - 1}`, { min: 1, max: steps - 1 })]
  return before.some((other) => other.column === column) ? [fault(pointer, "not_unique", "is already pinned")] : []
}

const anchorOf = ({ page, event }: JourneyItem): PathAnchor =>
  page === undefined ? { kind: "event", value: event! } : { kind: "page", value: page }

/** Names a node for display: a visit's exit, or its entry for a journey that leads to an end. */
function shownNode(
  { kind, value }: PathNode,
  mode: PathsQuery["mode"],
): { kind: Journeys["columns"][number][number]["kind"]; page: string } {
  if (kind === "other") return { kind, page: "(other)" }
  if (kind === "end") return mode === "start" ? { kind: "exit", page: "(exit)" } : { kind: "entry", page: "(entry)" }
  return { kind, page: shownValue("page", value || null).value }
}
