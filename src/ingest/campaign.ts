import { COLLECT } from "../domain/limits.ts"
import { tagValue } from "./text.ts"

/** What the query of a page says about how a visit came about. "" is missing. */
export interface Campaign {
  utm_source: string
  utm_medium: string
  utm_campaign: string
  utm_term: string
  utm_content: string
  click_id_type: string
  /** Parameters `source` and `ref`, which name a source where `utm_source` does not. */
  source: string
  ref: string
}

export const CLICK_IDS = ["gclid", "gbraid", "wbraid", "msclkid", "fbclid", "ttclid", "twclid", "li_fat_id"]

const WANTED: ReadonlySet<string> = new Set([
  ...["utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "source", "ref"],
  ...CLICK_IDS,
])
const ESCAPED = /[%+]/

const NONE: Campaign = {
  utm_source: "",
  utm_medium: "",
  utm_campaign: "",
  utm_term: "",
  utm_content: "",
  click_id_type: "",
  source: "",
  ref: "",
}

export function campaignOf(query: string): Campaign {
  const sent = wantedParameters(query)
  if (sent.size === 0) return NONE
  const value = (name: string) => tagValue(sent.get(name) ?? "", COLLECT.utmChars)
  return {
    utm_source: value("utm_source"),
    utm_medium: value("utm_medium"),
    utm_campaign: value("utm_campaign"),
    utm_term: value("utm_term"),
    utm_content: value("utm_content"),
    click_id_type: CLICK_IDS.find((name) => sent.get(name)) ?? "",
    source: value("source"),
    ref: value("ref"),
  }
}

/** The first value of each, as `URLSearchParams` reads them; that one keeps a text of every parameter, at ten times the cost. */
function wantedParameters(query: string): Map<string, string> {
  const found = new Map<string, string>()
  for (let at = query.startsWith("?") ? 1 : 0; at < query.length; ) {
    const and = query.indexOf("&", at)
    const end = and < 0 ? query.length : and
    const equals = query.indexOf("=", at)
    const nameEnd = equals < 0 || equals > end ? end : equals
    const name = decoded(query.slice(at, nameEnd))
    if (WANTED.has(name) && !found.has(name)) found.set(name, decoded(query.slice(nameEnd + 1, end)))
    at = end + 1
  }
  return found
}

/** A name or value of a query, mostly as it stands. */
const decoded = (text: string): string => (ESCAPED.test(text) ? (new URLSearchParams(`_=${text}`).get("_") ?? "") : text)
