/** Labels of dimensions and operators. */
import type { Dimension } from "../../domain/dimension.ts"
import type { Operator } from "../../domain/filter.ts"

const DIMENSION_LABELS: Readonly<Record<string, string>> = {
  page: "Page",
  title: "Title",
  entry_page: "Entry page",
  exit_page: "Exit page",
  hostname: "Hostname",
  source: "Source",
  referrer: "Referrer",
  channel: "Channel",
  utm_source: "Campaign source",
  utm_medium: "Campaign medium",
  utm_campaign: "Campaign",
  utm_term: "Campaign term",
  utm_content: "Campaign content",
  country: "Country",
  region: "Region",
  city: "City",
  device: "Device",
  size: "Screen size",
  browser: "Browser",
  browser_version: "Browser version",
  os: "System",
  os_version: "System version",
  language: "Language",
  event: "Event",
  goal: "Goal",
  property: "Property",
}

export const dimensionLabel = (dimension: Dimension, property?: string): string =>
  property === undefined ? (DIMENSION_LABELS[dimension] ?? dimension) : `Property ${property}`

const OPERATOR_LABELS: Readonly<Record<Operator, string>> = {
  is: "is",
  is_not: "is not",
  contains: "contains",
  contains_not: "does not contain",
  starts_with: "starts with",
  matches_wildcard: "matches",
  matches_wildcard_not: "does not match",
}

export const operatorText = (operator: Operator): string => OPERATOR_LABELS[operator]
