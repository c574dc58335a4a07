import { locale, memoize } from "../../text/format.ts"

const namesOf = memoize((locale: string, type: "region" | "language") => new Intl.DisplayNames(locale, { type }))

/** Returns a country's name in the user's locale. Undefined if the text is not a country code. */
export const countryName = (code: string): string | undefined =>
  /^[A-Z]{2}$/.test(code) ? namesOf(locale(), "region").of(code) : undefined

const DEVICES: Readonly<Record<string, string>> = { desktop: "Desktop", mobile: "Phone", tablet: "Tablet" }

/** The server's name for a missing value in breakdowns, filters and URLs. */
export const MISSING = "(none)"
/** The server's name for the group of values beyond a limit. */
export const OTHER = "(other)"
export const UNKNOWN = "Unknown"
/** Returns whether a row stands for missing or grouped values and needs an explanation. */
export const isNoValue = (value: string): boolean => value === OTHER || value === MISSING

/** Dimensions that every visit has, so that a missing value means unknown. Other dimensions may be absent. */
const OF_EVERY_VISIT = /^(country|region|city|language|device|size|browser|os)/

/** Returns the readable text of a dimension's value. Codes are replaced by names; `label` is the server's name. */
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
