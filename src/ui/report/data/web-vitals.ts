import { NO_VALUE, numberText } from "../../text/format.ts"

/** Names of web vitals, and the values up to which they are good and above which they are poor, as web.dev defines them. */
export const WEB_VITALS = {
  lcp: { label: "Largest contentful paint", short: "LCP", good: 2_500, poor: 4_000 },
  inp: { label: "Interaction to next paint", short: "INP", good: 200, poor: 500 },
  cls: { label: "Cumulative layout shift", short: "CLS", good: 0.1, poor: 0.25 },
  fcp: { label: "First contentful paint", short: "FCP", good: 1_800, poor: 3_000 },
  ttfb: { label: "Time to first byte", short: "TTFB", good: 800, poor: 1_800 },
} as const
export type WebVital = keyof typeof WEB_VITALS
export const WEB_VITAL_NAMES = Object.keys(WEB_VITALS) as WebVital[] // the keys of a literal

export type Rating = "Good" | "Needs improvement" | "Poor"

/** Rates the 75th percentile of a web vital. */
export function ratingOf(name: WebVital, value: number): Rating {
  const { good, poor } = WEB_VITALS[name]
  return value <= good ? "Good" : value <= poor ? "Needs improvement" : "Poor"
}

/** Formats a web vital: 1.2 s, 180 ms, 0.05. Below 10 seconds the rating is visible in the digits. */
export function webVitalText(name: WebVital, value: number | undefined): string {
  if (value === undefined) return NO_VALUE
  if (name === "cls") return decimals(value, value > 0 && value < 0.01 ? 3 : 2)
  return value < 1_000 ? `${Math.round(value)} ms` : `${decimals(value / 1_000, value < 10_000 ? 2 : 1)} s`
}

const decimals = (value: number, digits: number): string =>
  numberText(value, { minimumFractionDigits: digits, maximumFractionDigits: digits })
