import { locale } from "../format.ts"
import { kept } from "../kept.ts"

const namesOf = kept((locale: string, type: "region" | "language") => new Intl.DisplayNames(locale, { type }))

/** A country by its code, in the reader's language; what is no code stays as it is. */
export const countryName = (code: string): string | undefined =>
  /^[A-Z]{2}$/.test(code) ? namesOf(locale(), "region").of(code) : undefined

const DEVICES: Readonly<Record<string, string>> = { desktop: "Desktop", mobile: "Phone", tablet: "Tablet" }

/** What a missing value is called in breakdowns and filters, by the server and in addresses. */
export const MISSING = "(none)"
/** What the values beyond a limit are counted as together, by the server. */
export const OTHER = "(other)"
export const UNKNOWN = "Unknown"
/** Whether a row is none of a value, and so needs a word about what it is. */
export const isNoValue = (value: string): boolean => value === OTHER || value === MISSING

/** What every visit has: where it is missing it could not be told. Of other dimensions a visit may have none. */
const OF_EVERY_VISIT = /^(country|region|city|language|device|size|browser|os)/

/** How a value of a dimension reads: codes get their names, `label` is that of the server. */
export function valueText(dimension: string, value: string, label?: string): string {
  if ((value === "" || value === MISSING) && OF_EVERY_VISIT.test(dimension)) return UNKNOWN
  if (dimension === "country") {
    const name = countryName(value)
    return name && name !== value ? `${value} ${name}` : (label ?? value)
  }
  if (dimension === "language" && /^[a-z]{2,3}(-[A-Za-z0-9]+)*$/.test(value)) {
    const name = namesOf(locale(), "language").of(value)
    return name && name !== value ? `${value} ${name}` : value
  }
  if (dimension === "device") return DEVICES[value.toLowerCase()] ?? value
  return label ?? value
}
