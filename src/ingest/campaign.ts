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

const PARAMETERS: readonly Parameter[] = ["utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "source", "ref"]
const WANTED: ReadonlySet<string> = new Set([...PARAMETERS, ...CLICK_IDS])
const ESCAPED = /[%+]/
/** What a parameter is called whose value is one of a campaign's. */
type Parameter = Exclude<keyof Campaign, "click_id_type">

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
  if (!sent) return NONE
  const campaign = { ...NONE }
  for (const name of PARAMETERS) {
    const value = sent.get(name)
    if (value !== undefined) campaign[name] = tagValue(value, COLLECT.utmChars)
  }
  campaign.click_id_type = CLICK_IDS.find((name) => sent.get(name)) ?? ""
  return campaign
}

/** Undefined without any. The first value of each, as `URLSearchParams` reads them; that one keeps a text of every parameter, at ten times the cost. */
function wantedParameters(query: string): Map<string, string> | undefined {
  let found: Map<string, string> | undefined
  for (let at = query.startsWith("?") ? 1 : 0; at < query.length; ) {
    const and = query.indexOf("&", at)
    const end = and < 0 ? query.length : and
    const equals = query.indexOf("=", at)
    const nameEnd = equals < 0 || equals > end ? end : equals
    const name = decoded(query.slice(at, nameEnd))
    if (WANTED.has(name)) {
      found ??= new Map()
      if (!found.has(name)) found.set(name, decoded(query.slice(nameEnd + 1, end)))
    }
    at = end + 1
  }
  return found
}

/** A name or value of a query, mostly as it stands. */
const decoded = (text: string): string => (ESCAPED.test(text) ? (new URLSearchParams(`_=${text}`).get("_") ?? "") : text)
