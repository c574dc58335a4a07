import { rangeArguments, type SiteAddress } from "../../../domain/site-address.ts"
import type { Filters } from "../../api/plugin-requests.ts"
import { asQuery } from "../../report/data/reports.ts"

/** Conditions on whole visits by their name in the URL: the values that can be chosen, "" for any. */
export const BOUNDS = {
  duration: [
    { value: "", label: "Any" },
    { value: "10", label: "10 seconds or longer" },
    { value: "60", label: "1 minute or longer" },
    { value: "300", label: "5 minutes or longer" },
    { value: "1800", label: "30 minutes or longer" },
  ],
  views: [
    { value: "", label: "Any" },
    { value: "2", label: "2 or more" },
    { value: "5", label: "5 or more" },
    { value: "10", label: "10 or more" },
  ],
  revenue: [{ value: "true", label: "With revenue only" }],
} as const

const PARAMETERS = { duration: "min_duration", views: "min_pageviews", revenue: "revenue" } as const

/** Returns the parameters of the list. Conditions of the URL that can't be chosen are ignored. */
export function visitArguments(address: SiteAddress, choiceOf: (name: string) => string | undefined): Filters {
  // Imported visits are not listed, so whether reports include imports does not matter.
  const { imports: _, ...range } = rangeArguments(address)
  const names = Object.keys(PARAMETERS) as (keyof typeof PARAMETERS)[] // the keys of a literal
  const bounds = names.flatMap((name) => {
    const chosen = BOUNDS[name].find(({ value }) => value !== "" && value === choiceOf(name))
    return chosen ? [[PARAMETERS[name], chosen.value] as const] : []
  })
  const hours = hoursOf(choiceOf)
  return {
    ...Object.fromEntries(new URLSearchParams(asQuery(range))),
    ...Object.fromEntries(bounds),
    ...(hours && { from_hour: String(hours.from), to_hour: String(hours.to) }),
  }
}

/** Returns the hours of the URL, both inclusive: of the first and of the last day of the range. */
export function hoursOf(choiceOf: (name: string) => string | undefined): { from: number; to: number } | undefined {
  const [, from, to] = /^([01]?\d|2[0-3])-([01]?\d|2[0-3])$/.exec(choiceOf("hours") ?? "") ?? []
  return from === undefined ? undefined : { from: Number(from), to: Number(to) }
}
