import { dayNumber, type VisibleImport } from "../src/domain/imported.ts"
import type { Range } from "../src/domain/query.ts"
import type { EffectiveImport } from "../src/services/imports/visible-imports.ts"
import type { TestInstance } from "./kit.ts"
import { dayStart } from "./oracle/days.ts"

/** Returns an import that is visible on all days, as a reader of the event store gets it. */
export const visibleImport = (id: number): VisibleImport => ({
  id,
  run: 1,
  timezone: "UTC",
  days: [{ first: 0, last: 100_000 }],
  spans: [{ from: 0, to: 100_001 * 86_400_000 }],
})

/** Returns an import that is visible on ranges of days (`["2026-11-01", "2026-11-20"]`, inclusive) in a zone. */
export const importOn = (id: number, timezone: string, ...days: readonly (readonly [string, string])[]): VisibleImport => ({
  id,
  run: 1,
  timezone,
  days: days.map(([from, to]) => ({ first: dayNumber(from), last: dayNumber(to) })),
  spans: days.map(([from, to]): Range => ({ from: dayStart(from, timezone), to: dayStart(nextDay(to), timezone) })),
})

const nextDay = (day: string): string => Temporal.PlainDate.from(day).add({ days: 1 }).toString()

/** Makes imports of a site visible to all reports of an instance, and hides its others. Without days, on all days of 2000 to 2040. */
export async function showImports({ app }: TestInstance, imports: readonly ShownImport[], siteId = 1): Promise<void> {
  const { catalog, imports: visible } = app.instance
  const effective = imports.map(
    ({ id, run = 1, timezone = "Europe/Berlin", days = [["2000-01-01", "2040-12-31"]] }): EffectiveImport => ({
      id,
      run,
      timezone,
      days: days.map(([from, to]) => ({ from, to })),
    }),
  )
  await catalog.transaction(
    (statements) => visible.replace(statements, siteId, effective),
    (show) => show(),
  )
}

interface ShownImport {
  id: number
  run?: number
  timezone?: string
  days?: readonly (readonly [string, string])[]
}
