/** Query of the journeys page, stored in the URL (`cards=start:%2Fpricing,steps:5`). */
import type { JourneyInput, JourneyItem, Journeys } from "../../../domain/journey.ts"
import { THINGS } from "../../../domain/limits.ts"
import type { PageChoices } from "../../browser/hooks.ts"
import { type DraftStep, newStep } from "../funnels/funnel-draft.ts"

export const STEPS = THINGS.journeySteps

interface Pin extends JourneyItem {
  column: number
}

export interface JourneyQuery {
  mode: "start" | "end"
  anchor: JourneyItem
  steps: number
  collapse: boolean
  directories: boolean
  events: boolean
  pins: readonly Pin[]
}

/** Formats an item as one text: a page as it is, an event after a colon. */
const textOf = ({ page, event }: JourneyItem): string => (event === undefined ? (page ?? "") : `:${event}`)
const itemOf = (text: string): JourneyItem => (text.startsWith(":") ? { event: text.slice(1) } : { page: text })

const COLUMNS = Array.from({ length: STEPS.max - 1 }, (_, index) => index + 1)

/** Reads the query from the URL. Malformed parts are ignored; the default start is the home page. */
export function readJourneyQuery({ of }: Pick<PageChoices, "of">): JourneyQuery {
  const end = of("end")
  const given = Number(of("steps"))
  const steps = Number.isInteger(given) && given >= STEPS.min && given <= STEPS.max ? given : STEPS.default
  const pins = COLUMNS.flatMap((column) => {
    const text = column < steps ? of(`pin${column}`) : undefined
    return text ? [{ column, ...itemOf(text) }] : []
  })
  const anchor = itemOf((end ?? of("start")) || "/")
  const isEvent = anchor.event !== undefined || pins.some(({ event }) => event !== undefined)
  return {
    mode: end === undefined ? "start" : "end",
    anchor,
    steps,
    collapse: of("collapse") === "yes",
    directories: of("group") === "directory",
    events: isEvent || of("events") === "yes",
    pins,
  }
}

/** Returns the query as URL parts, without defaults. */
export function writeJourneyQuery({
  mode,
  anchor,
  steps,
  collapse,
  directories,
  events,
  pins,
}: JourneyQuery): Record<string, string | undefined> {
  const text = textOf(anchor)
  return {
    start: mode === "start" && text !== "/" ? text : undefined,
    end: mode === "end" ? text : undefined,
    steps: steps === STEPS.default ? undefined : String(steps),
    collapse: collapse ? "yes" : undefined,
    group: directories ? "directory" : undefined,
    events: events ? "yes" : undefined,
    ...Object.fromEntries(
      COLUMNS.map((column) => {
        const pin = pins.find((one) => one.column === column)
        return [`pin${column}`, pin && column < steps ? textOf(pin) : undefined]
      }),
    ),
  }
}

export const inputOf = ({ mode, anchor, steps, collapse, directories, events, pins }: JourneyQuery): JourneyInput => ({
  [mode]: anchor,
  steps,
  ...(collapse && { collapse_query: true }),
  ...(directories && { group: "directory" as const }),
  ...(events && { events: true }),
  ...(pins.length > 0 && { pins: [...pins] }),
})

export type JourneyNode = Journeys["columns"][number][number]

/** Returns the page or event of a node, or undefined if it is neither. */
export const itemOfNode = ({ kind, page }: JourneyNode): JourneyItem | undefined =>
  kind === "page" ? { page } : kind === "event" ? { event: page } : undefined

export const itemText = ({ page, event }: JourneyItem): string => page ?? event ?? ""

/** Adds the pin, or removes it if it was there. */
export function withPin(query: JourneyQuery, pin: Pin): JourneyQuery {
  const others = query.pins.filter(({ column }) => column !== pin.column)
  const same = query.pins.find(({ column }) => column === pin.column)
  const isThere = same !== undefined && textOf(same) === textOf(pin)
  return { ...query, pins: isThere ? others : [...others, pin].sort((a, b) => a.column - b.column) }
}

/** Returns anchor and pins in the order of time as funnel steps. A directory such as `/blog/*` becomes a wildcard. */
export function funnelSteps({ mode, anchor, pins }: JourneyQuery): DraftStep[] {
  const path: JourneyItem[] = [anchor, ...pins]
  return (mode === "start" ? path : path.reverse()).map(({ page, event }) => {
    const value = page ?? event ?? ""
    return newStep({ type: event === undefined ? "page" : "event", value, match: page?.endsWith("/*") ? "wildcard" : "exact" })
  })
}
